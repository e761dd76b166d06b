package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTrie compares the tokens that a text begins with with a search in all tokens.
func TestTrie(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		letters := 1 + r.IntN(40) // more than manyChildren, or fewer
		text := func(most int) string {
			b := make([]byte, r.IntN(most))
			for i := range b {
				b[i] = byte(256 - letters + r.IntN(letters))
			}
			return string(b)
		}
		tokens := make([]string, r.IntN(200))
		for i := range tokens {
			tokens[i] = text(5) // also equal and empty ones
		}
		tr := newTrie(tokens)
		for range 50 {
			s := text(8)
			node, alive := int32(0), true
			for i := range len(s) {
				got := int32(-1)
				if alive {
					node = tr.child(node, s[i])
					alive = node != 0
				}
				if alive {
					got = tr.nodes[node].id
				}
				want := int32(-1)
				for id, token := range tokens {
					if token == s[:i+1] {
						want = int32(id)
					}
				}
				if got != want {
					t.Fatalf("of %q, %q is token %d, want %d", tokens, s[:i+1], got, want)
				}
			}
		}
	}
}

// best returns the highest sum of scores of the tokens of a piece, by a search in all ways to cut it.
func best(v *Vocab, scores []float64, unk float64, piece string) float64 {
	if piece == "" {
		return 0
	}
	sum := math.Inf(-1)
	for end := 1; end <= len(piece); end++ {
		if id, ok := v.ID(piece[:end]); ok {
			sum = max(sum, scores[id]+best(v, scores, unk, piece[end:]))
		}
	}
	_, n := utf8.DecodeRuneInString(piece)
	if _, ok := v.ID(piece[:n]); !ok {
		sum = max(sum, unk+best(v, scores, unk, piece[n:]))
	}
	return sum
}

// TestViterbi compares the score of the tokens of random pieces with the highest one.
func TestViterbi(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 500 {
		tokens, scores := []string{"<unk>"}, []float64{0}
		for range r.IntN(12) {
			tokens = append(tokens, strings.Repeat("a", r.IntN(3))+strings.Repeat("é", r.IntN(2))+strings.Repeat("b", r.IntN(3)))
			scores = append(scores, -8*r.Float64())
		}
		v := NewVocab(tokens)
		m, err := NewUnigram(v, scores, UnigramOptions{})
		if err != nil {
			t.Fatal(err)
		}
		unk := slices.Min(scores) - unkPenalty
		piece := strings.Join([]string{"a", "é", "b", "\xff"}[:1+r.IntN(4)], "")
		piece = strings.Repeat(piece, 1+r.IntN(3))
		var got float64
		end := int32(0)
		for _, token := range m.Append(nil, piece) {
			if token.Start != end {
				t.Fatalf("%q has a gap before %v", piece, token)
			}
			if end = token.End; token.ID != 0 {
				got += scores[token.ID]
			} else {
				got += unk * float64(utf8.RuneCountInString(piece[token.Start:token.End]))
			}
		}
		if want := best(v, scores, unk, piece); int(end) != len(piece) || math.Abs(got-want) > 1e-9 {
			t.Errorf("%q %v: the tokens of %q have the score %v, want %v", tokens, scores, piece, got, want)
		}
	}
}

// TestLongPiece encodes a long piece, which must take linear time.
func TestLongPiece(t *testing.T) {
	m, err := NewUnigram(NewVocab([]string{"<unk>", "a", "aa", "aaaa"}), []float64{0, -3, -4, -5}, UnigramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 400_000
	if got := m.Append(nil, strings.Repeat("a", 4*n+3)); len(got) != n+2 {
		t.Errorf("%d tokens, want %d", len(got), n+2)
	}
}

// TestByteFallback encodes unknown characters, some of whose bytes have tokens. The results are those of the tokenizers package.
func TestByteFallback(t *testing.T) {
	m, err := Parse([]byte(`{"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0], ["a", -1.5e0], ["<0xC3>", -5], ["<0xA9>", -5]]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"aéa": "[{1 0 1} {2 1 3} {3 1 3} {1 3 4}]", "aöa": "[{1 0 1} {0 1 3} {1 3 4}]", "éö": "[{0 0 4}]", "éé": "[{2 0 4} {3 0 4} {2 0 4} {3 0 4}]",
	} {
		if got := fmt.Sprint(m.Append(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestScores reads lists that are tokens with scores, and others.
func TestScores(t *testing.T) {
	m, err := Parse([]byte("{\"type\": \"Unigram\", \"unk_id\": 1, \"vocab\": [ [ \"a,\\\"\\u00e9\" ,\n-2.5 ], [\"]\",0]]}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := m.Vocab().ID("a,\"é"); id != 0 || !ok {
		t.Errorf("the token is %d, %v", id, ok)
	}
	for _, entry := range []string{`[]`, `["a"]`, `["a", 1, 2]`, `[1, "a"]`, `["a", "b,c"]`, `["a", [1, 2]]`, `{"a": 1, "b": 2}`, `"a,b"`, `["a", 1e999]`, `[, 1]`} {
		if _, err := Parse([]byte(`{"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], `+entry+`]}`), Options{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}
