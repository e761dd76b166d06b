package grammar

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// A Vocabulary contains the bytes of each token of a tokenizer. It is safe for concurrent use.
type Vocabulary struct {
	bytes []string // of each token; "" for one that is never allowed, such as a special token
	ends  []int32
	other tree // of tokens that are not plain
	texts tree // of plain tokens: those that have only characters that may occur in every string
	sizes []sizes
	plain []uint32 // mask of the plain tokens
}

// sizes divides the plain tokens by their number of characters.
type sizes struct {
	characters int32
	short      []uint32 // mask of those with at most as many
	long       tree     // of the others
}

// maxPlain is the largest number of characters of a plain token.
const maxPlain = 32

// NewVocabulary returns the vocabulary of a tokenizer. The tokens that end a text are those in ends.
func NewVocabulary(t *tokenizer.Tokenizer, ends []int32) *Vocabulary {
	list := make([]string, t.Size())
	for i := range list {
		if id := int32(i); !t.IsSpecial(id) && !slices.Contains(ends, id) {
			list[i] = t.TokenText(id)
		}
	}
	return newVocabulary(list, ends)
}

// newVocabulary returns the vocabulary of tokens.
func newVocabulary(list []string, ends []int32) *Vocabulary {
	v := &Vocabulary{bytes: list, ends: slices.Clone(ends), plain: make([]uint32, (len(list)+31)/32)}
	var texts, other []int32
	for i, s := range list {
		switch {
		case s == "":
			continue
		case isPlain(s):
			v.plain[i/32] |= 1 << (i % 32)
			texts = append(texts, int32(i))
		default:
			other = append(other, int32(i))
		}
	}
	v.texts, v.other = newTree(list, texts), newTree(list, other)
	for n := int32(4); n <= maxPlain; n *= 2 {
		v.sizes = append(v.sizes, v.divide(texts, n))
	}
	return v
}

// divide divides plain tokens by a number of characters.
func (v *Vocabulary) divide(texts []int32, n int32) sizes {
	d := sizes{characters: n, short: make([]uint32, len(v.plain))}
	var long []int32
	for _, id := range texts {
		if int32(utf8.RuneCountInString(v.bytes[id])) <= n {
			d.short[id/32] |= 1 << (id % 32)
		} else {
			long = append(long, id)
		}
	}
	d.long = newTree(v.bytes, long)
	return d
}

// isPlain reports whether a token has only characters that a JSON string has as they are.
func isPlain(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxPlain && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
}

// Words returns the number of elements of a mask.
func (v *Vocabulary) Words() int { return len(v.plain) }

// tree is a prefix tree, in depth-first order.
type tree []vertex

// vertex is a prefix of tokens.
type vertex struct {
	byte  byte
	depth uint16
	size  int32 // of the tree below, with the vertex
	token int32 // with these bytes, or -1. Further ones follow as vertices of the same depth with size 0
}

// again marks a vertex that has a further token of the one before it.
const again = 0

// maxToken is the largest number of bytes of a token that can be allowed.
const maxToken = 1 << 12

// newTree returns the tree of tokens.
func newTree(list []string, ids []int32) tree {
	slices.SortFunc(ids, func(a, b int32) int { return strings.Compare(list[a], list[b]) })
	var t tree
	var path []int // vertices of the last token
	last := ""
	for _, id := range ids {
		s := list[id]
		if len(s) > maxToken {
			continue
		}
		if s == last {
			t = append(t, vertex{size: again, token: id})
			continue
		}
		n := 0
		for n < min(len(s), len(last)) && s[n] == last[n] {
			n++
		}
		t.leave(path[n:])
		path = path[:n]
		for ; n < len(s); n++ {
			path = append(path, len(t))
			t = append(t, vertex{byte: s[n], depth: uint16(n), token: -1})
		}
		t[len(t)-1].token = id
		last = s
	}
	t.leave(path)
	return t
}

// leave sets the sizes of trees that are complete.
func (t tree) leave(path []int) {
	for _, at := range path {
		t[at].size = int32(len(t) - at)
	}
}

// allow sets the bits of all tokens.
func (t tree) allow(words []uint32) {
	for i := range t {
		if id := t[i].token; id >= 0 {
			words[id/32] |= 1 << (id % 32)
		}
	}
}

// exclude clears the bits of all tokens.
func (t tree) exclude(words []uint32) {
	for i := range t {
		if id := t[i].token; id >= 0 {
			words[id/32] &^= 1 << (id % 32)
		}
	}
}
