package normalize

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// Charsmap is a table of replacements that SentencePiece compiled: a double
// array trie of strings, whose values are offsets into replacements that end
// with a zero byte.
type Charsmap struct {
	units []uint32
	pool  []byte
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
	return &Charsmap{units: units, pool: blob[size:]}, nil
}

// maxGrapheme is the length in bytes up to which a grapheme is looked up as a
// whole, as the tokenizers package does.
const maxGrapheme = 5

// Normalize implements Normalizer.
func (c *Charsmap) Normalize(t aligned.Text) aligned.Text {
	edits := make([]aligned.Edit, 0, len(t.S))
	changed := false
	replace := func(part string) bool {
		to, ok := c.lookup(part)
		if ok {
			edits, changed = appendReplaced(edits, part, to), true
		}
		return ok
	}
	for clusters := graphemes.FromString(t.S); clusters.Next(); {
		grapheme := clusters.Value()
		if len(grapheme) <= maxGrapheme && replace(grapheme) {
			continue
		}
		for i := 0; i < len(grapheme); {
			_, n := utf8.DecodeRuneInString(grapheme[i:])
			part := grapheme[i : i+n]
			i += n
			if replace(part) {
				continue
			}
			for r := range aligned.Runes(part) {
				edits = append(edits, aligned.Edit{Rune: r})
			}
		}
	}
	if !changed {
		return t
	}
	return t.Rewrite(edits, 0)
}

// lookup returns the replacement of the shortest prefix of s that has one.
func (c *Charsmap) lookup(s string) (string, bool) {
	if len(c.units) == 0 {
		return "", false
	}
	at := offset(c.units[0])
	for i := range len(s) {
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
	s, _, ok := bytes.Cut(c.pool[at:], []byte{0})
	return string(s), ok
}

// offset returns the distance from a unit of the trie to its children.
func offset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }
