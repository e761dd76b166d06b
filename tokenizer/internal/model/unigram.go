package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// unigram chooses the tokens of a piece whose scores, which are logarithms of
// probabilities, have the highest sum (Kudo, 2018), by Viterbi's algorithm.
type unigram struct {
	vocab    *Vocab
	scores   []float64
	trie     *trie
	unk      int32
	unkScore float64
	byteIDs  [256]int32
	fallback bool // an unknown character becomes the tokens of its bytes

	memory sync.Pool // of *[]step
}

// step is the end of the best path to an offset of the piece.
type step struct {
	score float64
	id    int32
	start int32 // of the last token; -1 if no path leads here
}

// unkPenalty is the distance of the unknown token's score from the lowest score
// of the vocabulary, as in SentencePiece.
const unkPenalty = 10

func parseUnigram(o object) (Model, error) {
	var entries []scoredToken
	if err := json.Unmarshal(o.Vocab, &entries); err != nil {
		return nil, fmt.Errorf("%w: vocab: %w", ErrFormat, err)
	}
	tokens := make([]string, len(entries))
	scores := make([]float64, len(entries))
	for i, e := range entries {
		tokens[i], scores[i] = e.token, e.score
	}
	if o.UnkID == nil {
		return nil, fmt.Errorf("%w: a Unigram model needs unk_id", ErrFormat)
	}
	return NewUnigram(NewVocab(tokens), scores, UnigramOptions{Unk: *o.UnkID, ByteFallback: o.ByteFallback})
}

// scoredToken is a JSON list of a token and its score.
type scoredToken struct {
	token string
	score float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *scoredToken) UnmarshalJSON(raw []byte) error {
	// A vocabulary has hundreds of thousands of these lists, and raw is valid JSON, so the last comma ends the token of a list of two.
	comma := bytes.LastIndexByte(raw, ',')
	if comma < 0 || raw[0] != '[' {
		return fmt.Errorf("%w: %.80q is not a token with a score", ErrFormat, raw)
	}
	token, score := bytes.TrimSpace(raw[1:comma]), bytes.TrimSpace(raw[comma+1:len(raw)-1])
	if err := json.Unmarshal(token, &t.token); err != nil {
		return fmt.Errorf("%w: %.80q is not a token with a score: %w", ErrFormat, raw, err)
	}
	if err := json.Unmarshal(score, &t.score); err != nil {
		return fmt.Errorf("%w: %.80q is not a token with a score: %w", ErrFormat, raw, err)
	}
	return nil
}

// UnigramOptions are the properties of a Unigram model.
type UnigramOptions struct {
	Unk          int32 // the token of unknown characters
	ByteFallback bool  // unknown characters become tokens like <0x0A>
}

// NewUnigram returns the model with a score for each token.
func NewUnigram(v *Vocab, scores []float64, o UnigramOptions) (Model, error) {
	if _, ok := v.Token(o.Unk); !ok {
		return nil, fmt.Errorf("%w: the unknown token is %d of %d tokens", ErrFormat, o.Unk, len(v.tokens))
	}
	m := &unigram{vocab: v, scores: scores, trie: newTrie(v.tokens), unk: o.Unk, fallback: o.ByteFallback}
	m.unkScore = slices.MinFunc(scores, cmp.Compare[float64]) - unkPenalty
	if math.IsNaN(m.unkScore) {
		return nil, fmt.Errorf("%w: a score is not a number", ErrFormat)
	}
	m.byteIDs, _ = v.byteTokens()
	m.memory.New = func() any { return new([]step) }
	return newCached(m), nil
}

// Vocab implements Model.
func (m *unigram) Vocab() *Vocab { return m.vocab }

// Append implements Model.
func (m *unigram) Append(dst []Token, piece string) []Token {
	mem := m.memory.Get().(*[]step)
	defer m.memory.Put(mem)
	best := append((*mem)[:0], step{})
	for range len(piece) {
		best = append(best, step{start: -1})
	}
	*mem = best
	for i := 0; i < len(piece); {
		_, n := utf8.DecodeRuneInString(piece[i:])
		m.extend(best, piece, i, n)
		i += n
	}
	first := len(dst)
	for end := int32(len(piece)); end > 0; end = best[end].start {
		s := best[end]
		if last := len(dst) - 1; s.id == m.unk && last >= first && dst[last].ID == m.unk {
			dst[last].Start = s.start // adjacent unknown characters are one token
		} else {
			dst = append(dst, Token{s.id, s.start, end})
		}
	}
	slices.Reverse(dst[first:])
	if m.fallback {
		dst = m.unkToBytes(dst, first, piece)
	}
	return dst
}

// extend enters the paths that continue at offset i, where a character of n
// bytes starts.
func (m *unigram) extend(best []step, piece string, i, n int) {
	offer := func(end int, id int32, score float64) {
		s := &best[end]
		if score += best[i].score; s.start < 0 || score > s.score {
			*s = step{score, id, int32(i)}
		}
	}
	node, single := int32(0), false
	for k := i; k < len(piece); k++ {
		if node = m.trie.child(node, piece[k]); node == 0 {
			break
		}
		if id := m.trie.nodes[node].id; id >= 0 {
			offer(k+1, id, m.scores[id])
			single = single || k+1 == i+n
		}
	}
	if !single {
		offer(i+n, m.unk, m.unkScore)
	}
}

// unkToBytes replaces the unknown tokens from index first on by the tokens of
// their bytes, unless the vocabulary lacks one of these.
func (m *unigram) unkToBytes(dst []Token, first int, piece string) []Token {
	if !slices.ContainsFunc(dst[first:], func(t Token) bool { return t.ID == m.unk }) {
		return dst
	}
	tokens := slices.Clone(dst[first:])
	dst = dst[:first]
	for _, t := range tokens {
		lacks := func(b byte) bool { return m.byteIDs[b] < 0 }
		if t.ID != m.unk || slices.ContainsFunc([]byte(piece[t.Start:t.End]), lacks) {
			dst = append(dst, t)
			continue
		}
		for _, b := range []byte(piece[t.Start:t.End]) {
			dst = append(dst, Token{m.byteIDs[b], t.Start, t.End})
		}
	}
	return dst
}

// rankScores returns the rank of each score: 0 for the highest, and the same
// rank for equal ones.
func rankScores(scores []float32) []int32 {
	order := make([]int32, len(scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	ranks := make([]int32, len(scores))
	for i, id := range order {
		ranks[id] = int32(i)
		if i > 0 && scores[order[i-1]] == scores[id] {
			ranks[id] = ranks[order[i-1]]
		}
	}
	return ranks
}
