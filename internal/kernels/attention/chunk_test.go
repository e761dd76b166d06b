package attention_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefilltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestCachePrefill stores sequences, and compares their last queries with those of Attend.
func TestCachePrefill(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			prefilled[dtype.BF16](t, open)
			if name != "interp" || sweep.Whole() { // it is slow
				prefilled[float32](t, open)
			}
		})
	}
}

func prefilled[T attention.Element](t *testing.T, open kerneltest.Opener) {
	t.Helper()
	s := kerneltest.Stream(t, open)
	const heads, maxPages = 4, 3
	shape := attention.CacheShape{Pages: 6, KeyHeads: 2, Dim: 64, MaxPages: maxPages}
	r := rand.New(rand.NewPCG(1, 2))
	c := attention.Cache[T]{CacheShape: shape, Keys: kerneltest.Upload(t, s, prefilltest.Numbers[T](r, shape.Elements())), Values: kerneltest.Upload(t, s, prefilltest.Numbers[T](r, shape.Elements())), Table: kerneltest.Upload(t, s, []int32{4, 1, 5, 2, 0, 3})}
	var all, last []attention.Token
	spans := []prefill.Span{{Row: 0, Count: 70, First: 60, Keys: 0}, {Row: 70, Count: 65, First: 0, Keys: 1}}
	for _, span := range spans {
		for i := range span.First + span.Count {
			at := attention.Token{Sequence: span.Keys, Position: i}
			if all = append(all, at); i >= span.First {
				last = append(last, at)
			}
		}
	}
	n := len(all) * shape.KeyHeads * shape.Dim
	stored := attention.New[T]{K: kerneltest.Upload(t, s, prefilltest.Numbers[T](r, n)), V: kerneltest.Upload(t, s, prefilltest.Numbers[T](r, n)), Tokens: kerneltest.Upload(t, s, all)}
	q, tokens := kerneltest.Upload(t, s, prefilltest.Numbers[T](r, len(last)*heads*shape.Dim)), kerneltest.Upload(t, s, last)
	one, other := kerneltest.Upload(t, s, make([]T, q.Len())), kerneltest.Upload(t, s, make([]T, q.Len()))
	chunk := attention.Chunk[T]{Heads: heads, Q: q, O: one, Tokens: tokens, Spans: kerneltest.Upload(t, s, spans)}
	if err := errors.Join(c.Store(s, stored), c.Prefill(s, chunk), c.Attend(s, attention.Queries[T]{Heads: heads, Q: q, O: other, Tokens: tokens})); err != nil {
		t.Fatal(err)
	}
	got, want := kerneltest.Download(t, s, one), kerneltest.Download(t, s, other)
	for i := range got {
		g, w := row.Float64(got[i]), row.Float64(want[i])
		if limit := 4 * prefill.Tolerance[T](); !(math.Abs(g-w) <= limit) || w == 0 {
			t.Fatalf("%T, element %d is %v, want %v", got[i], i, g, w)
		}
	}
	chunk.O = one.Slice(0, one.Len()-1)
	if err := c.Prefill(s, chunk); !errors.Is(err, attention.ErrShape) {
		t.Errorf("short O: %v, want ErrShape", err)
	}
}
