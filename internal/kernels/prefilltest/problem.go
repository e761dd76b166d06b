package prefilltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// sequences have a number of tokens, of which the last ones have queries.
var sequences = []struct{ tokens, queries int }{{1, 1}, {63, 63}, {64, 64}, {5, 0}, {65, 65}, {129, 129}, {200, 1}, {130, 65}, {129, 64}, {127, 63}}

// Problem is the operands of a test.
type Problem[T row.Number] struct {
	prefill.Tensors[T]
	spans        []prefill.Span
	results      []T // NaN
	want, limits []float64
	logs         []float64 // of the sums of exponentials, for each query of one of its heads in turn
}

// New returns random operands. Around the rows of sequences, keys and values are NaN.
func New[T row.Number](shape prefill.Shape) *Problem[T] {
	r := rand.New(rand.NewPCG(uint64(shape.Dim), 1))
	p := &Problem[T]{Tensors: prefill.Tensors[T]{Shape: shape}}
	rows, keys := 0, 0
	for _, of := range sequences {
		p.spans = append(p.spans, prefill.Span{Row: int32(rows), Count: int32(of.queries), First: int32(of.tokens - of.queries), Keys: int32(keys + 1)})
		rows, keys = rows+of.queries, keys+of.tokens+1
	}
	p.Q, p.results = Numbers[T](r, (rows+1)*shape.Heads*shape.Dim), nans[T]((rows+1)*shape.Heads*shape.Dim)
	width := shape.KeyHeads * shape.Dim
	p.K, p.V = nans[T](keys*width), nans[T](keys*width)
	for i, span := range p.spans {
		from, n := int(span.Keys)*width, sequences[i].tokens*width
		copy(p.K[from:], Numbers[T](r, n))
		copy(p.V[from:], Numbers[T](r, n))
	}
	for _, span := range p.spans {
		for i := range int(span.Count) {
			for head := range shape.Heads {
				want, size := p.Query(span, i, head)
				p.want, p.limits = append(p.want, want...), append(p.limits, size...)
			}
			p.logs = append(p.logs, p.LogSum(span, i, len(p.logs)%shape.Heads))
		}
	}
	return p
}

// Numbers returns n random numbers.
func Numbers[T row.Number](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](2 * r.NormFloat64())
	}
	return x
}

func nans[T row.Number](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](math.NaN())
	}
	return x
}

// Test has a function attend to keys in rows, with states, and in pages, without states, and compares results with those in float64.
func (p *Problem[T]) Test(t *testing.T, s *device.Stream, attend func(prefill.Shape, prefill.Operands[T]) error) {
	t.Helper()
	p.TestRows(t, s, attend)
	p.TestPages(t, s, attend)
}

// TestRows has a function attend to keys in rows, with states.
func (p *Problem[T]) TestRows(t *testing.T, s *device.Stream, attend func(prefill.Shape, prefill.Operands[T]) error) {
	t.Helper()
	x := prefill.Operands[T]{Q: kerneltest.Upload(t, s, p.Q), K: kerneltest.Upload(t, s, p.K), V: kerneltest.Upload(t, s, p.V), O: kerneltest.Upload(t, s, p.results), Spans: kerneltest.Upload(t, s, p.spans)}
	x.States = kerneltest.Upload(t, s, make([]prefill.State, len(p.Q)/p.Dim))
	if err := attend(p.Shape, x); err != nil {
		t.Fatal(err)
	}
	p.check(t, kerneltest.Download(t, s, x.O))
	states := kerneltest.Download(t, s, x.States)
	for i, want := range p.logs {
		if got := states[i*p.Heads+i%p.Heads].LogSum(); !(math.Abs(got-want) <= 2e-5*(1+math.Abs(want))) {
			t.Fatalf("%T, %+v, row %d, head %d: the logarithm of the sum is %v, want %v", p.Q, p.Shape, i, i%p.Heads, got, want)
		}
	}
}

// TestPages has a function attend to keys in pages, without states.
func (p *Problem[T]) TestPages(t *testing.T, s *device.Stream, attend func(prefill.Shape, prefill.Operands[T]) error) {
	t.Helper()
	pages, k, v, spans := p.paged()
	shape := p.Shape
	shape.Pages, shape.MaxPages = len(pages), len(pages)/len(spans)
	x := prefill.Operands[T]{Q: kerneltest.Upload(t, s, p.Q), K: kerneltest.Upload(t, s, k), V: kerneltest.Upload(t, s, v), O: kerneltest.Upload(t, s, p.results), Spans: kerneltest.Upload(t, s, spans), Table: kerneltest.Upload(t, s, pages)}
	if err := attend(shape, x); err != nil {
		t.Fatal(err)
	}
	p.check(t, kerneltest.Download(t, s, x.O))
}

// paged returns the keys and values in pages in random order, in which other places are NaN.
func (p *Problem[T]) paged() (table []int32, k, v []T, spans []prefill.Span) {
	const maxPages = 4
	for _, page := range rand.New(rand.NewPCG(3, 4)).Perm(len(p.spans) * maxPages) {
		table = append(table, int32(page))
	}
	n := len(table) * p.KeyHeads * prefill.PageTokens * p.Dim
	k, v = nans[T](n), nans[T](n)
	for i, span := range p.spans {
		for j := range sequences[i].tokens {
			for head := range p.KeyHeads {
				from := ((int(span.Keys)+j)*p.KeyHeads + head) * p.Dim
				to := ((int(table[i*maxPages+j/prefill.PageTokens])*p.KeyHeads+head)*prefill.PageTokens + j%prefill.PageTokens) * p.Dim
				copy(k[to:], p.K[from:from+p.Dim])
				copy(v[to:], p.V[from:from+p.Dim])
			}
		}
		span.Keys = int32(i)
		spans = append(spans, span)
	}
	return table, k, v, spans
}

// check compares all results. The row of no span must be NaN still.
func (p *Problem[T]) check(t *testing.T, got []T) {
	t.Helper()
	for i, x := range got {
		g, end := row.Float64(x), i >= len(p.want)
		if end != (g != g) || !end && !(math.Abs(g-p.want[i]) <= p.limits[i]*prefill.Tolerance[T]()) {
			t.Fatalf("%T, %+v, row %d, head %d, element %d is %v, want %v within %v", x, p.Shape, i/p.Dim/p.Heads, i/p.Dim%p.Heads, i%p.Dim, g, p.want[i], p.limits[i]*prefill.Tolerance[T]())
		}
	}
}
