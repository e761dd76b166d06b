package normalize

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// Charsmap is a table of replacements that SentencePiece compiled: a double
// array trie of strings, whose values are offsets into replacements that end
// with a zero byte.
type Charsmap struct {
	units []uint32
	pool  string
	ascii [utf8.RuneSelf]bool // the characters that have no replacement, except those that begin a grapheme of two
}

// maxReplacement limits the length of a replacement in bytes, so that a hostile
// table cannot inflate text. The longest one in Unicode has 33.
const maxReplacement = 255

// NewCharsmap reads a table: the size of the trie in bytes as a little-endian
// uint32, the trie, and the replacements.
func NewCharsmap(blob []byte) (*Charsmap, error) {
	if len(blob) < 4 {
		return nil, fmt.Errorf("%w: precompiled_charsmap has %d bytes", ErrFormat, len(blob))
	}
	size := binary.LittleEndian.Uint32(blob)
	blob = blob[4:]
	if uint64(size) > uint64(len(blob)) || size%4 != 0 {
		return nil, fmt.Errorf("%w: precompiled_charsmap has a trie of %d bytes, and %d bytes follow", ErrFormat, size, len(blob))
	}
	for s := range bytes.SplitSeq(blob[size:], []byte{0}) {
		if len(s) > maxReplacement {
			return nil, fmt.Errorf("%w: precompiled_charsmap has a replacement of %d bytes", ErrFormat, len(s))
		}
	}
	units := make([]uint32, size/4)
	for i := range units {
		units[i] = binary.LittleEndian.Uint32(blob[4*i:])
	}
	c := &Charsmap{units: units, pool: string(blob[size:])}
	for b := range c.ascii {
		_, replaced := c.lookup(string(rune(b)))
		c.ascii[b] = !replaced && b != '\r'
	}
	return c, nil
}

// maxGrapheme is the length in bytes up to which a grapheme is looked up as a
// whole, as the tokenizers package does.
const maxGrapheme = 5

// Normalize implements Normalizer.
func (c *Charsmap) Normalize(t aligned.Text) aligned.Text {
	if !t.Tracked() {
		return t.Replace(c.text(t.S))
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	last := 0
	keep := func(end int) {
		for r := range aligned.Runes(t.S[last:end]) {
			edits = append(edits, aligned.Edit{Rune: r})
		}
	}
	for at, to := range c.replacements(t.S) {
		keep(at.Start)
		edits, last = appendReplaced(edits, t.S[at.Start:at.End], to), at.End
	}
	if last == 0 {
		return t
	}
	keep(len(t.S))
	return t.Rewrite(edits, 0)
}

// text returns the normal form of a text.
func (c *Charsmap) text(s string) string {
	var b strings.Builder
	last := 0
	for at, to := range c.replacements(s) {
		if last == 0 {
			b.Grow(len(s))
		}
		b.WriteString(s[last:at.Start])
		b.WriteString(to)
		last = at.End
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// replacements returns the ranges of a text that have a replacement, in order.
func (c *Charsmap) replacements(s string) iter.Seq2[aligned.Span, string] {
	return func(yield func(aligned.Span, string) bool) {
		for start := 0; start < len(s); {
			end := c.plain(s, start)
			if start == end {
				end = ordinary(s, start)
				if !c.graphemes(s, aligned.Span{Start: start, End: end}, yield) {
					return
				}
			}
			start = end
		}
	}
}

// plain returns the end of the characters from an offset on that are ASCII,
// have no replacement, and are graphemes of their own.
func (c *Charsmap) plain(s string, start int) int {
	i := start
	for i < len(s) && s[i] < utf8.RuneSelf && c.ascii[s[i]] {
		i++
	}
	if i < len(s) && s[i] >= utf8.RuneSelf && i > start {
		i-- // the next character may belong to its grapheme
	}
	return i
}

// ordinary returns the next offset after start between two ASCII characters,
// where a grapheme ends, or the length of the text.
func ordinary(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		if s[i] < utf8.RuneSelf && s[i-1] < utf8.RuneSelf && s[i] != '\n' {
			return i
		}
	}
	return len(s)
}

// graphemes calls yield with the ranges within a range of whole graphemes that
// have a replacement until it returns false, and reports whether it never did.
func (c *Charsmap) graphemes(s string, in aligned.Span, yield func(aligned.Span, string) bool) bool {
	at := in.Start
	for clusters := graphemes.FromString(s[in.Start:in.End]); clusters.Next(); {
		grapheme := clusters.Value()
		if len(grapheme) <= maxGrapheme {
			if to, ok := c.lookup(grapheme); ok {
				if !yield(aligned.Span{Start: at, End: at + len(grapheme)}, to) {
					return false
				}
				at += len(grapheme)
				continue
			}
		}
		for end := at + len(grapheme); at < end; {
			_, n := utf8.DecodeRuneInString(s[at:end])
			to, ok := c.lookup(s[at : at+n])
			if ok && !yield(aligned.Span{Start: at, End: at + n}, to) {
				return false
			}
			at += n
		}
	}
	return true
}

// lookup returns the replacement of the shortest prefix of s that has one.
func (c *Charsmap) lookup(s string) (string, bool) {
	if len(c.units) == 0 {
		return "", false
	}
	at := offset(c.units[0])
	for i := range len(s) {
		if s[i] == 0 {
			return "", false // a unit with this label is the value of the string before it
		}
		at ^= uint32(s[i])
		if uint64(at) >= uint64(len(c.units)) || c.units[at]&(1<<31|0xff) != uint32(s[i]) {
			return "", false
		}
		u := c.units[at]
		at ^= offset(u)
		if u>>8&1 == 1 && uint64(at) < uint64(len(c.units)) {
			return c.replacement(c.units[at] &^ (1 << 31))
		}
	}
	return "", false
}

// replacement returns the string at an offset of the pool.
func (c *Charsmap) replacement(at uint32) (string, bool) {
	if uint64(at) >= uint64(len(c.pool)) {
		return "", false
	}
	s, _, ok := strings.Cut(c.pool[at:], "\x00")
	return s, ok
}

// offset returns the distance from a unit of the trie to its children.
func offset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }
