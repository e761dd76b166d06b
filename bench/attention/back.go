package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attentionback"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
)

// backProblems returns what PyTorch's scaled_dot_product_attention takes too: sequences of the same length, without pages.
func backProblems() (list []problem) {
	for _, dim := range []int{128, 64} {
		for _, causal := range []bool{false, true} {
			for _, tokens := range []int{2048, 8192} {
				shape := prefill.Shape{Heads: 16, KeyHeads: 16, Dim: dim, Causal: causal}
				list = append(list, problem{shape, same(8192/tokens, tokens), false})
			}
		}
	}
	return append(list, problem{prefill.Shape{Heads: 32, KeyHeads: 8, Dim: 128, Causal: true}, same(1, 8192), false},
		problem{prefill.Shape{Heads: 32, KeyHeads: 8, Dim: 128, Causal: true}, uneven(16, 1024), false})
}

// runBack measures derivatives for bfloat16, and writes a table. Five products count, as in other programs.
func runBack(w io.Writer, s *device.Stream) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "backward of dim\theads\tcausal\tsequences\ttokens\t\tTFLOP/s\t")
	for _, p := range backProblems() {
		tokens := 0
		for _, s := range p.sequences {
			tokens += s.tokens
		}
		took, err := p.measureBack(s, tokens)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%d/%d\t%t\t%d\t%d\t%v\t%.0f\t\n", p.Dim, p.Heads, p.KeyHeads, p.Causal, len(p.sequences), tokens, took, 2.5*p.operations()/took.Seconds()/1e12)
	}
	return table.Flush()
}

// measureBack returns the median time of a launch, after checking the results.
func (p problem) measureBack(s *device.Stream, tokens int) (time.Duration, error) {
	q, k := tokens*p.Heads*p.Dim, tokens*p.KeyHeads*p.Dim
	host := [][]dtype.BF16{random(q, 1), random(k, 2), random(k, 3), nans(q), random(q, 4), nans(q), nans(k), nans(k)}
	var all [8]device.Slice[dtype.BF16]
	for i, x := range host {
		b, err := device.Upload(s, x)
		if err != nil {
			return 0, err
		}
		defer b.Close()
		all[i] = b.All()
	}
	states, err1 := device.Make[prefill.State](s, tokens*p.Heads)
	spans, err2 := device.Upload(s, p.spans())
	work, err3 := device.Make[float32](s, attentionback.Workspace[dtype.BF16](s.Device(), p.Shape, tokens))
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	defer states.Close()
	defer spans.Close()
	defer work.Close()
	x := attentionback.Operands[dtype.BF16]{
		Q: all[0], K: all[1], V: all[2], O: all[3], DO: all[4], DQ: all[5], DK: all[6], DV: all[7], States: states.All(), Spans: spans.All(), Workspace: work.All(),
	}
	forward := prefill.Operands[dtype.BF16]{Q: x.Q, K: x.K, V: x.V, O: x.O, States: x.States, Spans: x.Spans}
	launch := func() error { return attentionback.Backward(s, p.Shape, x) }
	if err := errors.Join(attention.Prefill(s, p.Shape, forward), launch()); err != nil {
		return 0, err
	}
	for i := 5; i < len(all); i++ {
		if err := errors.Join(device.Download(s, host[i], all[i]), s.Synchronize(context.Background())); err != nil {
			return 0, err
		}
	}
	if err := p.checkBack(host); err != nil {
		return 0, err
	}
	return median(s, launch)
}

// checkBack tests what holds for all derivatives of attention: as the weights of a query add up to 1, those with respect to values add up to those with
// respect to results, and those with respect to keys to 0; and scores are as linear in queries as in keys. host has queries, keys, values,
// results, and the derivatives with respect to results, queries, keys and values.
func (p problem) checkBack(host [][]dtype.BF16) error {
	values, results, keys := columns(host[7], p.KeyHeads, p.Dim), columns(host[4], p.Heads, p.Dim), columns(host[6], p.KeyHeads, p.Dim)
	group := p.Heads / p.KeyHeads
	for i := range values.sum {
		want := 0.0
		for g := range group {
			want += results.sum[(i/p.Dim*group+g)*p.Dim+i%p.Dim]
		}
		if got := values.sum[i]; !(math.Abs(got-want) <= values.limit[i]) {
			return fmt.Errorf("%+v: derivatives with respect to column %d of values add up to %v, want %v within %v", p.Shape, i, got, want, values.limit[i])
		}
		if got := keys.sum[i]; !(math.Abs(got) <= keys.limit[i]) {
			return fmt.Errorf("%+v: derivatives with respect to column %d of keys add up to %v, want 0 within %v", p.Shape, i, got, keys.limit[i])
		}
	}
	a, size := dot(host[0], host[5])
	b, more := dot(host[1], host[6])
	if !(math.Abs(a-b) <= 0x1p-8*math.Sqrt(size+more)*10) {
		return fmt.Errorf("%+v: products with derivatives are %v for queries and %v for keys", p.Shape, a, b)
	}
	return nil
}

// sums are the sums of columns, and ten times the expected error of sums of rounded elements.
type sums struct{ sum, limit []float64 }

// columns returns the sums of the columns of rows of heads.
func columns(x []dtype.BF16, heads, dim int) sums {
	n := heads * dim
	s := sums{make([]float64, n), make([]float64, n)}
	for i, v := range x {
		f := v.Float64()
		s.sum[i%n] += f
		s.limit[i%n] += f * f
	}
	for i, squares := range s.limit {
		s.limit[i] = 10 * 0x1p-8 * math.Sqrt(squares)
	}
	return s
}

// dot returns the sum of products, and that of their squares.
func dot(x, y []dtype.BF16) (sum, squares float64) {
	for i, v := range x {
		p := v.Float64() * y[i].Float64()
		sum, squares = sum+p, squares+p*p
	}
	return sum, squares
}
