package model

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// scored is SentencePiece's byte-pair encoding, which has no list of merges:
// the adjacent pair whose concatenation is the token of the highest score
// merges. Characters without a token become the tokens of their bytes.
type scored struct {
	vocab   *Vocab
	scores  []float32
	byteIDs [256]int32
	unk     int32
	memory  sync.Pool // of *scoredMemory
}

// scoredMemory is what one call needs, kept for the next one. It is the ranker
// of one piece.
type scoredMemory struct {
	bpeMemory
	m     *scored
	piece string
	order []int32
}

// NewScored returns the encoding with a score for each token and the ID of the
// unknown token.
func NewScored(v *Vocab, scores []float32, unk int32) (Model, error) {
	if len(scores) != len(v.tokens) {
		return nil, fmt.Errorf("%w: %d scores for %d tokens", ErrFormat, len(scores), len(v.tokens))
	}
	if _, ok := v.Token(unk); !ok {
		return nil, fmt.Errorf("%w: the unknown token is %d of %d tokens", ErrFormat, unk, len(v.tokens))
	}
	m := &scored{vocab: v, scores: scores, unk: unk}
	m.byteIDs, _ = v.byteTokens()
	ranks := rankScores(scores)
	m.memory.New = func() any { return &scoredMemory{m: m, order: ranks} }
	return newCached(m), nil
}

// Vocab implements Model.
func (m *scored) Vocab() *Vocab { return m.vocab }

// Append implements Model.
func (m *scored) Append(dst []Token, piece string) []Token {
	mem := m.memory.Get().(*scoredMemory)
	defer m.memory.Put(mem)
	mem.piece = piece
	mem.symbols = mem.symbols[:0]
	for i := 0; i < len(piece); {
		_, n := utf8.DecodeRuneInString(piece[i:])
		id, ok := m.vocab.ID(piece[i : i+n])
		if !ok {
			id = -1
		}
		mem.symbols = append(mem.symbols, symbol{id: id, start: int32(i), end: int32(i + n)})
		i += n
	}
	mem.heap = mergeAll(mem.symbols, mem, mem.heap)
	for _, s := range mem.symbols {
		switch {
		case s.start == s.end:
		case s.id >= 0:
			dst = append(dst, Token{s.id, s.start, s.end})
		default:
			dst = m.bytes(dst, piece, s)
		}
	}
	mem.piece = ""
	return dst
}

// rank implements ranker.
func (mem *scoredMemory) rank(a, b *symbol) merge {
	id, ok := mem.m.vocab.ID(mem.piece[a.start:b.end])
	if !ok {
		return merge{rank: -1}
	}
	return merge{mem.order[id], id}
}

// bytes appends the tokens of a symbol's bytes.
func (m *scored) bytes(dst []Token, piece string, s symbol) []Token {
	for i := s.start; i < s.end; i++ {
		id := m.byteIDs[piece[i]]
		if id < 0 {
			return append(dst, Token{m.unk, i, s.end})
		}
		dst = append(dst, Token{id, i, i + 1})
	}
	return dst
}
