package tokenizer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
)

// DecodeOptions are the options of DecodeWith and NewDecoder.
type DecodeOptions struct {
	// SkipSpecial omits special tokens, except the tokens in Keep.
	SkipSpecial bool
	Keep        []int32
}

// Decode returns the text of all IDs, including special tokens. It ignores IDs that no token has.
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

// A Decoder decodes a text while its tokens arrive. It holds back bytes that depend on the next token, such as the start of an incomplete character.
// A Decoder is not safe for concurrent use.
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

// Write adds a token and returns the text that is complete after it. This text never ends in the
// middle of a UTF-8 sequence.
func (d *Decoder) Write(id int32) string {
	d.put(id)
	s := d.take()
	n := len(s) - incomplete(s)
	d.held = s[n:]
	return s[:n]
}

// Flush ends the text and returns the bytes that were held back. These bytes are not valid UTF-8 if
// the tokens end within a character.
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

// TokenText returns the bytes that the token with the given ID contributes if it is not the first token
// of a text. As the first token, it may contribute other bytes. The bytes are not always valid UTF-8.
// If no token has the ID, the result is empty.
func (t *Tokenizer) TokenText(id int32) string {
	d := t.NewDecoder(DecodeOptions{})
	d.sink.Write("a")
	before := d.text.Len()
	d.put(id)
	return d.text.String()[before:]
}
