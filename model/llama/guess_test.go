package llama_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestGuesses guesses next tokens of two sequences, one of which crosses the end of a page, and compares the tokens that a step chooses after
// the guesses with a float64 reference. Some guesses are wrong, so that they are removed, and the sequences continue.
func TestGuesses(t *testing.T) {
	for i, path := range []string{llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"}), llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})} {
		r := newReference(t, path)
		for name, open := range kerneltest.Some() {
			if name == "native" || name == "scalar" || name == "interp" && !sweep.Every(2, i) {
				continue // they are slow
			}
			t.Run(name, func(t *testing.T) {
				x := decoding{T: t, r: r, text: map[int][]int32{2: prompt(61, 1), 0: prompt(5, 2)}, rows: 8}.start(open, path)
				x.begin(2, 0)
				x.guess(guesses{2: {7, 300, 9, 11}, 0: {8}}, 2, 0)
				x.guess(guesses{2: {1}, 0: {12, 300}}, 0, 2)
				x.step(0, 2)
			})
		}
	}
}

// guesses are the guessed next tokens of sequences.
type guesses map[int][]int32

// guess computes a step of sequences and of guesses, checks the tokens that are chosen after each, and removes the guesses.
func (x decoding) guess(g guesses, sequences ...int) {
	x.Helper()
	var rows, extra, known []int32
	all := append([]int(nil), sequences...)
	for _, q := range sequences {
		known = append(known, int32(x.c.Len(q)+1))
		rows = append(rows, x.text[q][len(x.text[q])-1])
	}
	for _, q := range sequences {
		for _, id := range g[q] {
			all, extra = append(all, q), append(extra, id%llamatest.Vocabulary)
		}
	}
	check(x.T, x.d.Put(0, rows))
	check(x.T, x.d.Put(len(rows), extra))
	check(x.T, x.d.Step(all...))
	got := x.tokens()
	for i, q := range all {
		if i >= len(sequences) {
			x.text[q] = append(x.text[q], extra[i-len(sequences)])
		}
		x.near(q, got[i])
	}
	for i, q := range sequences {
		x.text[q] = append(x.text[q][:known[i]:known[i]], got[i])
		x.c.Truncate(q, int(known[i]))
	}
	check(x.T, x.d.Put(0, []int32{got[0], got[1]}))
}
