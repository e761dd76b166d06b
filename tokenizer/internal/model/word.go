package model

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// wordPiece takes the longest token that starts a word, and then the longest
// that continues it, until the word ends (Wu et al., 2016). If there is none,
// the word is unknown.
type wordPiece struct {
	vocab    *Vocab
	inside   map[string]int32 // tokens that continue a word, without the prefix
	longest  int              // length in bytes of the longest token
	unk      int32
	maxChars int
}

func parseWordPiece(o object) (Model, error) {
	v, err := parseVocab(o.Vocab)
	if err != nil {
		return nil, err
	}
	opts := WordPieceOptions{Unk: "[UNK]", Prefix: "##", MaxChars: 100}
	if o.UnkToken != nil {
		opts.Unk = *o.UnkToken
	}
	if o.Prefix != nil {
		opts.Prefix = *o.Prefix
	}
	if o.MaxChars != nil {
		opts.MaxChars = *o.MaxChars
	}
	return NewWordPiece(v, opts)
}

// WordPieceOptions are the properties of a WordPiece model.
type WordPieceOptions struct {
	Unk      string // the token of unknown words
	Prefix   string // of tokens that continue a word
	MaxChars int    // longer words are unknown
}

// NewWordPiece returns a WordPiece model.
func NewWordPiece(v *Vocab, o WordPieceOptions) (Model, error) {
	unk, err := v.require(o.Unk, "unknown token")
	if err != nil {
		return nil, err
	}
	m := &wordPiece{vocab: v, inside: map[string]int32{}, unk: unk, maxChars: o.MaxChars}
	for t, id := range v.ids {
		m.longest = max(m.longest, len(t))
		if rest, ok := strings.CutPrefix(t, o.Prefix); ok {
			m.inside[rest] = id
		}
	}
	return newCached(m), nil
}

// Vocab implements Model.
func (m *wordPiece) Vocab() *Vocab { return m.vocab }

// Append implements Model.
func (m *wordPiece) Append(dst []Token, piece string) []Token {
	if len(piece) > m.maxChars && utf8.RuneCountInString(piece) > m.maxChars {
		return append(dst, Token{m.unk, 0, int32(len(piece))})
	}
	first := len(dst)
	tokens := m.vocab.ids
	for start := 0; start < len(piece); {
		id, end := m.match(tokens, piece, start)
		if end == start {
			return append(dst[:first], Token{m.unk, 0, int32(len(piece))})
		}
		dst = append(dst, Token{id, int32(start), int32(end)})
		start, tokens = end, m.inside
	}
	return dst
}

// match returns the longest of the tokens that piece continues with at start.
func (m *wordPiece) match(tokens map[string]int32, piece string, start int) (id int32, end int) {
	end = min(len(piece), start+m.longest)
	for end < len(piece) && end > start && !utf8.RuneStart(piece[end]) {
		end--
	}
	for end > start {
		if id, ok := tokens[piece[start:end]]; ok {
			return id, end
		}
		_, n := utf8.DecodeLastRuneInString(piece[start:end])
		end -= n
	}
	return 0, start
}

// wordLevel has a token for each piece, or the unknown token.
type wordLevel struct {
	vocab *Vocab
	unk   int32
}

func parseWordLevel(o object) (Model, error) {
	v, err := parseVocab(o.Vocab)
	if err != nil {
		return nil, err
	}
	if o.UnkToken == nil {
		return nil, fmt.Errorf("%w: a WordLevel model needs unk_token", ErrFormat)
	}
	unk, err := v.require(*o.UnkToken, "unknown token")
	return &wordLevel{v, unk}, err
}

// Vocab implements Model.
func (m *wordLevel) Vocab() *Vocab { return m.vocab }

// Append implements Model.
func (m *wordLevel) Append(dst []Token, piece string) []Token {
	id, ok := m.vocab.ID(piece)
	if !ok {
		id = m.unk
	}
	return append(dst, Token{id, 0, int32(len(piece))})
}
