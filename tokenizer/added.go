package tokenizer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
)

// addedToken is a token that is found in the text before the model sees it.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only between characters that are not part of a word
	LStrip     bool   `json:"lstrip"`      // takes the white space before it
	RStrip     bool   `json:"rstrip"`      // takes the white space after it
	Normalized bool   `json:"normalized"`  // is looked for in the normalized text
	Special    bool   `json:"special"`

	spelled string // as it is looked for and decoded: the content, or its normal form
}

// added holds the added tokens.
type added struct {
	tokens     map[int32]*addedToken
	ids        map[string]int32
	extra      int   // tokens that the model does not have
	raw        *trie // of the tokens in the text as it is
	normalized *trie // of the tokens in the normalized text
}

// setAdded sets t.added, after all else is set.
func (t *Tokenizer) setAdded(tokens []addedToken) error {
	a := added{tokens: map[int32]*addedToken{}, ids: map[string]int32{}, raw: newTrie(), normalized: newTrie()}
	for i := range tokens {
		tok := &tokens[i]
		if tok.Content == "" {
			continue
		}
		if id, ok := t.vocab.ID(tok.Content); ok {
			tok.ID = id
		} else if id, ok := a.ids[tok.Content]; ok {
			tok.ID = id
		} else {
			a.extra++
		}
		if other, ok := a.tokens[tok.ID]; ok && other.Content != tok.Content || tok.ID < 0 {
			return fmt.Errorf("%w: the added token %q has the ID %d of another", ErrFormat, tok.Content, tok.ID)
		}
		a.tokens[tok.ID], a.ids[tok.Content] = tok, tok.ID
	}
	for _, id := range slices.SortedFunc(maps.Keys(a.tokens), cmp.Compare[int32]) {
		tok := a.tokens[id]
		tok.spelled = tok.Content
		if !tok.Normalized {
			a.raw.put(tok)
			continue
		}
		tok.spelled = normalized(t.normalizer, aligned.New(tok.Content, false)).S
		a.normalized.put(tok)
	}
	t.added = a
	return nil
}

// segment is an added token, or text between added tokens.
type segment struct {
	aligned.Text
	token *addedToken // nil for text
}

// split appends the segments of a text to dst. If plain is set, special tokens
// are text.
func (tr *trie) split(dst []segment, t aligned.Text, plain bool) []segment {
	last := 0
	for i := 0; ; {
		start, end, tok := tr.find(t.S, i)
		if tok == nil {
			break
		}
		i = end
		if plain && tok.Special || tok.SingleWord && !isolated(t.S, start, end) {
			continue
		}
		if tok.LStrip {
			start = max(last, len(strings.TrimRightFunc(t.S[:start], unicode.IsSpace)))
		}
		if tok.RStrip {
			end = len(t.S) - len(strings.TrimLeftFunc(t.S[end:], unicode.IsSpace))
			i = end
		}
		if last < start {
			dst = append(dst, segment{t.Slice(last, start), nil})
		}
		dst = append(dst, segment{t.Slice(start, end), tok})
		last = end
	}
	if last < len(t.S) {
		dst = append(dst, segment{t.Slice(last, len(t.S)), nil})
	}
	return dst
}

// isolated reports whether the characters before and after a range of s are not
// part of a word.
func isolated(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !isWord(before) && !isWord(after)
}

// isWord reports whether r can be part of a word.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// normalized returns the text of a segment in its normal form.
func normalized(n normalize.Normalizer, s aligned.Text) aligned.Text {
	if n == nil {
		return s
	}
	return n.Normalize(s)
}
