package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// problem is sequences in packed rows, of which the last tokens have queries.
type problem struct {
	prefill.Shape
	sequences []sequence
	paged     bool // keys and values are in pages
}

// sequence is a number of tokens, of which the last ones have queries.
type sequence struct{ tokens, queries int }

// same returns n sequences of a number of tokens.
func same(n, tokens int) []sequence {
	list := make([]sequence, n)
	for i := range list {
		list[i] = sequence{tokens, tokens}
	}
	return list
}

// uneven returns n sequences of random lengths with a mean of about the given number of tokens.
func uneven(n, tokens int) []sequence {
	r := rand.New(rand.NewPCG(6, 7))
	list := make([]sequence, n)
	for i := range list {
		k := 1 + r.IntN(2*tokens)
		list[i] = sequence{k, k}
	}
	return list
}

func problems() []problem {
	causal := func(heads, keyHeads, dim int) prefill.Shape {
		return prefill.Shape{Heads: heads, KeyHeads: keyHeads, Dim: dim, Causal: true}
	}
	full := causal(32, 8, 128)
	full.Causal = false
	chunk := []sequence{{8192, 1024}}
	return []problem{
		{causal(32, 8, 128), same(4, 2048), false},
		{causal(32, 8, 128), same(1, 8192), false},
		{full, same(1, 8192), false},
		{causal(32, 8, 128), uneven(16, 1024), false},
		{causal(32, 8, 128), uneven(16, 1024), true},
		{causal(32, 8, 128), chunk, true},
		{causal(32, 8, 64), same(4, 2048), false},
		{causal(32, 8, 64), same(1, 8192), false},
		{causal(32, 8, 64), uneven(16, 1024), true},
		{causal(32, 8, 64), chunk, true},
		{causal(32, 8, 96), same(1, 8192), false},
		{causal(32, 8, 80), same(1, 8192), false},
		{causal(32, 8, 32), same(1, 8192), false},
	}
}

// operations returns the floating-point operations of both products for the keys that queries see.
func (p problem) operations() float64 {
	pairs := 0.0
	for _, s := range p.sequences {
		n, m := float64(s.tokens), float64(s.queries)
		if p.Causal {
			pairs += m*(n-m) + m*(m+1)/2
		} else {
			pairs += m * n
		}
	}
	return 4 * float64(p.Heads*p.Dim) * pairs
}

// runPacked measures package prefill for bfloat16, and writes a table.
func runPacked(w io.Writer, s *device.Stream) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "dim\theads\tcausal\tpaged\tsequences\tqueries\tkeys\t\tTFLOP/s\twarp products\t")
	for _, p := range problems() {
		queries, keys := 0, 0
		for _, s := range p.sequences {
			queries, keys = queries+s.queries, keys+s.tokens
		}
		took, err := p.measure(s, queries, keys)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%d/%d\t%t\t%t\t%d\t%d\t%d\t%v\t%.0f\t%.0f\t\n", p.Dim, p.Heads, p.KeyHeads, p.Causal, p.paged, len(p.sequences), queries, keys, took[0], p.operations()/took[0].Seconds()/1e12, p.operations()/took[1].Seconds()/1e12)
	}
	return table.Flush()
}

// measure returns the median times of launches of attention.Prefill and of its form for all GPUs, after checking their results.
func (p problem) measure(s *device.Stream, queries, keys int) (took [2]time.Duration, err error) {
	list := p.spans()
	x := prefill.Tensors[dtype.BF16]{
		Shape: p.Shape, Q: random(queries*p.Heads*p.Dim, 1), K: random(keys*p.KeyHeads*p.Dim, 2), V: random(keys*p.KeyHeads*p.Dim, 3),
	}
	o := operands{k: x.K, v: x.V, spans: list}
	if p.paged {
		o = p.inPages(x, list)
	}
	out := nans(len(x.Q))
	var all [4]*device.Buffer[dtype.BF16]
	for i, host := range [][]dtype.BF16{x.Q, o.k, o.v, out} {
		if all[i], err = device.Upload(s, host); err != nil {
			return took, err
		}
		defer all[i].Close()
	}
	spans, err := device.Upload(s, o.spans)
	if err != nil {
		return took, err
	}
	defer spans.Close()
	table, err := device.Upload(s, append(o.table, 0))
	if err != nil {
		return took, err
	}
	defer table.Close()
	on := prefill.Operands[dtype.BF16]{Q: all[0].All(), K: all[1].All(), V: all[2].All(), O: all[3].All(), Spans: spans.All()}
	shape := p.Shape
	if p.paged {
		shape.Pages, shape.MaxPages, on.Table = len(o.table), len(o.table)/len(list), table.Slice(0, len(o.table))
	}
	for i, launch := range []func() error{
		func() error { return attention.Prefill(s, shape, on) },
		func() error { return prefill.AttendIn(s, prefill.Tiled, shape, on) },
	} {
		if err := errors.Join(device.UploadTo(s, on.O, nans(len(out))), launch(), device.Download(s, out, on.O), s.Synchronize(context.Background())); err != nil {
			return took, err
		}
		if err := checkPacked(x, list, out); err != nil {
			return took, err
		}
		if took[i], err = median(s, launch); err != nil {
			return took, err
		}
	}
	return took, nil
}

// operands are keys and values in rows or in pages, and where they are.
type operands struct {
	k, v  []dtype.BF16
	spans []prefill.Span
	table []int32
}

// inPages returns the keys and values of spans in pages, in random order.
func (p problem) inPages(x prefill.Tensors[dtype.BF16], spans []prefill.Span) (o operands) {
	most := 0
	for _, s := range p.sequences {
		most = max(most, (s.tokens+prefill.PageTokens-1)/prefill.PageTokens)
	}
	for _, page := range rand.New(rand.NewPCG(8, 9)).Perm(len(spans) * most) {
		o.table = append(o.table, int32(page))
	}
	n := len(o.table) * p.KeyHeads * prefill.PageTokens * p.Dim
	o.k, o.v = make([]dtype.BF16, n), make([]dtype.BF16, n)
	for i, span := range spans {
		for j := range p.sequences[i].tokens {
			for head := range p.KeyHeads {
				from := ((int(span.Keys)+j)*p.KeyHeads + head) * p.Dim
				to := ((int(o.table[i*most+j/prefill.PageTokens])*p.KeyHeads+head)*prefill.PageTokens + j%prefill.PageTokens) * p.Dim
				copy(o.k[to:], x.K[from:from+p.Dim])
				copy(o.v[to:], x.V[from:from+p.Dim])
			}
		}
		span.Keys = int32(i)
		o.spans = append(o.spans, span)
	}
	return o
}

// spans returns the spans of all sequences.
func (p problem) spans() []prefill.Span {
	var list []prefill.Span
	rows, keys := 0, 0
	for _, s := range p.sequences {
		list = append(list, prefill.Span{Row: int32(rows), Count: int32(s.queries), First: int32(s.tokens - s.queries), Keys: int32(keys)})
		rows, keys = rows+s.queries, keys+s.tokens
	}
	return list
}

// checkPacked compares a sample of results with those in float64.
func checkPacked(x prefill.Tensors[dtype.BF16], spans []prefill.Span, out []dtype.BF16) error {
	r := rand.New(rand.NewPCG(4, 5))
	for range rows {
		span, head := spans[r.IntN(len(spans))], r.IntN(x.Heads)
		i := r.IntN(int(span.Count))
		want, size := x.Query(span, i, head)
		for d, w := range want {
			got := out[((int(span.Row)+i)*x.Heads+head)*x.Dim+d].Float64()
			if !(math.Abs(got-w) <= size[d]*prefill.Tolerance[dtype.BF16]()) {
				return fmt.Errorf("span %+v, query %d, head %d, element %d is %v, want %v", span, i, head, d, got, w)
			}
		}
	}
	return nil
}
