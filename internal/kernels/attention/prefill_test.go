package attention_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefilltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestPrefill compares results of packed and paged sequences with float64. The interpreter has the paged ones of one shape and the packed ones of
// another.
func TestPrefill(t *testing.T) {
	for i, shape := range []prefill.Shape{{Heads: 3, KeyHeads: 1, Dim: 128, Causal: true}, {Heads: 2, KeyHeads: 2, Dim: 128}, {Heads: 1, KeyHeads: 1, Dim: 32}} {
		p := prefilltest.New[dtype.BF16](shape)
		for name, open := range kerneltest.Executions() {
			if name == "native" || name == "interp" && !sweep.Every(2, i) {
				continue // slow
			}
			t.Run(fmt.Sprintf("%s/%+v", name, shape), func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				all := name != "interp"
				attend := func(shape prefill.Shape, x prefill.Operands[dtype.BF16]) error { return attention.Prefill(s, shape, x) }
				if all || sweep.Every(4, i) {
					p.TestPages(t, s, attend)
				}
				if all || sweep.Every(4, i+2) {
					p.TestRows(t, s, attend)
				}
			})
		}
	}
}

// TestMissingKeys passes spans with keys outside K, outside the table, and in pages that do not exist.
func TestMissingKeys(t *testing.T) {
	shape := prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 128, Causal: true}
	r := rand.New(rand.NewPCG(1, 2))
	q, k := prefilltest.Numbers[dtype.BF16](r, 30*shape.Dim), prefilltest.Numbers[dtype.BF16](r, 2*prefill.PageTokens*shape.Dim)
	spans := []prefill.Span{
		{Row: 0, Count: 2, First: 60}, {Row: 2, Count: 2, First: 63}, {Row: 4, Count: 2, First: 62, Keys: 1}, {Row: 6, Count: 2, First: 127, Keys: 2}, {Row: 8, Count: 2, Keys: 128},
		{Row: 10, Count: 2, First: math.MaxInt32 - 1}, {Row: 12, Count: 3, First: -1}, {Row: 16, Count: -1}, {Row: 29, Count: 90, Keys: 2},
	}
	rowsMissing := []bool{false, false, false, true, true, true}
	pagesMissing := []bool{false, true, false, true, true, true}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			keys := kerneltest.Upload(t, s, k)
			x := prefill.Operands[dtype.BF16]{Q: kerneltest.Upload(t, s, q), K: keys, V: keys, Spans: kerneltest.Upload(t, s, spans), Table: kerneltest.Upload(t, s, []int32{1, -1, 0, 2, 1, 0})}
			for pages, missing := range map[int][]bool{0: rowsMissing, 2: pagesMissing} {
				shape.Pages, shape.MaxPages = pages, pages
				x.O = kerneltest.Upload(t, s, make([]dtype.BF16, len(q)))
				if err := attention.Prefill(s, shape, x); err != nil {
					t.Fatal(err)
				}
				for i, got := range kerneltest.Download(t, s, x.O) {
					row := i / shape.Dim
					span := row / 2
					switch bad := span < len(missing) && missing[span]; {
					case bad && row%2 == 0: // may be NaN
					case bad != math.IsNaN(got.Float64()), row >= 12 && row < 29 && got != 0, (row < 12 || row == 29) && got == 0:
						t.Fatalf("%d pages: row %d has %v", pages, row, got)
					}
				}
			}
		})
	}
}
