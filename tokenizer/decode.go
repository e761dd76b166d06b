package tokenizer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
)

// DecodeOptions change how IDs are decoded.
type DecodeOptions struct {
	// SkipSpecial leaves out special tokens, except those of Keep.
	SkipSpecial bool
	Keep        []int32
}

// Decode returns the text of all IDs, special tokens included. IDs of no token
// stand for nothing.
func (t *Tokenizer) Decode(ids []int32) string {
	return t.DecodeWith(ids, DecodeOptions{})
}

// DecodeWith returns the text of the IDs.
func (t *Tokenizer) DecodeWith(ids []int32, o DecodeOptions) string {
	d := t.NewDecoder(o)
	for _, id := range ids {
		d.put(id)
	}
	d.sink.End()
	return d.text.String()
}

// Decoder decodes a text while its tokens arrive. What it has returned is final:
// it holds back what depends on the next token, in particular the start of a
// character whose last bytes are missing. It is not safe for concurrent use.
type Decoder struct {
	t    *Tokenizer
	o    DecodeOptions
	text strings.Builder
	sink decode.Sink
	held string // the start of a character
}

// NewDecoder returns a decoder at the start of a text.
func (t *Tokenizer) NewDecoder(o DecodeOptions) *Decoder {
	d := &Decoder{t: t, o: o}
	d.sink = t.decoder.Start(&d.text)
	return d
}

// Write adds a token and returns the text that is certain now. It never ends in
// the middle of a UTF-8 sequence.
func (d *Decoder) Write(id int32) string {
	d.put(id)
	s := d.take()
	n := len(s) - incomplete(s)
	d.held = s[n:]
	return s[:n]
}

// Flush ends the text and returns what was held back, which is not valid UTF-8
// if the tokens stop within a character.
func (d *Decoder) Flush() string {
	d.sink.End()
	s := d.take()
	d.held = ""
	d.sink = d.t.decoder.Start(&d.text)
	return s
}

// put passes a token on.
func (d *Decoder) put(id int32) {
	if d.o.SkipSpecial && d.t.IsSpecial(id) && !slices.Contains(d.o.Keep, id) {
		return
	}
	if a, ok := d.t.added.tokens[id]; ok {
		d.sink.Write(a.spelled)
	} else if s, ok := d.t.vocab.Token(id); ok {
		d.sink.Write(s)
	}
}

// take returns the text so far, with what was held back before it.
func (d *Decoder) take() string {
	s := d.held + d.text.String()
	d.text.Reset()
	return s
}

// incomplete returns the length of the start of a UTF-8 sequence at the end of
// s that more bytes may complete.
func incomplete(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		tail := s[len(s)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// TokenText returns what a token adds to a text after another token: bytes that
// are not always valid UTF-8. It is empty if no token has the ID.
func (t *Tokenizer) TokenText(id int32) string {
	d := t.NewDecoder(DecodeOptions{})
	d.sink.Write("a")
	before := d.text.Len()
	d.put(id)
	return d.text.String()[before:]
}
