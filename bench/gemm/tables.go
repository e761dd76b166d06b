package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
)

// squares measures products of n x n matrices in each layout.
func (b *bench) squares(ns []int) error {
	fmt.Fprintln(b.table, "square\tlayout\tTFLOP/s\tcuBLAS\tratio\tother forms\t")
	for _, n := range ns {
		for _, l := range []gemm.Layout{gemm.NT, gemm.NN, gemm.TN} {
			if err := b.square(gemm.Shape{Layout: l, M: n, N: n, K: n}); err != nil {
				return err
			}
		}
	}
	return b.table.Flush()
}

// square measures a product, which is in the graph several times if it is small.
func (b *bench) square(s gemm.Shape) error {
	m, err := b.memory(s, 1)
	if err != nil {
		return err
	}
	defer m.close()
	times, all, err := b.product(s, m, max(1, min(20, 10*(4096*4096)/(s.M*s.N))))
	if err != nil {
		return err
	}
	rate := func(t time.Duration) float64 {
		return 2 * float64(s.M) * float64(s.N) * float64(s.K) / t.Seconds() / 1e12
	}
	fmt.Fprintf(b.table, "%d\t%v\t%.0f\t%.0f\t%.3f\t%s\t\n", s.M, s.Layout, rate(times[0]), rate(times[1]), float64(times[1])/float64(times[0]),
		others(all[1:], times[2:], func(t time.Duration) string { return fmt.Sprintf("%.0f", rate(t)) }))
	return nil
}

// weights are N and K of the products of a layer of an 8B model of the Llama family.
var weights = [][2]int{{6144, 4096}, {4096, 4096}, {28672, 4096}, {4096, 14336}}

// few measures products of few rows and the weights of an 8B model of the Llama family.
func (b *bench) few(layers int) error {
	fmt.Fprintln(b.table, "M\tN\tK\tus\tTB/s\tcuBLAS us\tratio\tother forms\t")
	for _, nk := range weights {
		if err := b.fewOf(gemm.Shape{Layout: gemm.NT, M: slices.Max(b.rows), N: nk[0], K: nk[1]}, layers); err != nil {
			return err
		}
	}
	return b.table.Flush()
}

// fewOf measures products of up to s.M rows with the same matrices.
func (b *bench) fewOf(s gemm.Shape, layers int) error {
	m, err := b.memory(s, layers)
	if err != nil {
		return err
	}
	defer m.close()
	us := func(t time.Duration) float64 { return t.Seconds() * 1e6 }
	for _, s.M = range b.rows {
		times, all, err := b.product(s, m, layers)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.table, "%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.3f\t%s\t\n", s.M, s.N, s.K, us(times[0]), 2*float64(s.N)*float64(s.K)/us(times[0])/1e6,
			us(times[1]), float64(times[1])/float64(times[0]), others(all[1:], times[2:], func(t time.Duration) string { return fmt.Sprintf("%.2f", us(t)) }))
	}
	return nil
}

// others describes the times of forms.
func others(all []contender, times []time.Duration, text func(time.Duration) string) (s string) {
	for i, c := range all {
		s += fmt.Sprintf(" %s %s", c.name, text(times[i]))
	}
	return s
}

// memory is the device memory of a product.
type memory struct {
	buffers []*device.Buffer[dtype.BF16] // A, B, C
	scratch *device.Buffer[float32]
}

// memory returns memory for products with up to s.M rows and several matrices B.
func (b *bench) memory(s gemm.Shape, matrices int) (m memory, err error) {
	for _, n := range []int{s.M * s.K, s.N * s.K * matrices, s.M * s.N} {
		x, err := b.upload(n)
		if err != nil {
			return m, errors.Join(err, m.close())
		}
		m.buffers = append(m.buffers, x)
	}
	if m.scratch, err = device.MakeDirty[float32](b.stream, 1<<27); err != nil {
		return m, errors.Join(err, m.close())
	}
	return m, nil
}

func (m memory) close() (err error) {
	for _, x := range m.buffers {
		err = errors.Join(err, x.Close())
	}
	if m.scratch != nil {
		err = errors.Join(err, m.scratch.Close())
	}
	return err
}

// operands returns the operands of the i-th product of a graph.
func (m memory) operands(s gemm.Shape, i int) operands {
	size := s.N * s.K
	i %= m.buffers[1].Len() / size
	return operands{gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{
		A: m.buffers[0].Slice(0, s.M*s.K), B: m.buffers[1].Slice(i*size, (i+1)*size), C: m.buffers[2].Slice(0, s.M*s.N), Workspace: m.scratch.All(), Weights: true,
	}, 0, i * size}
}

// product measures a product, count times in a graph: the time of one by ours, by the faster function of cuBLAS, and by each form. It
// returns the forms too.
func (b *bench) product(s gemm.Shape, m memory, count int) ([]time.Duration, []contender, error) {
	all := []contender{{"auto", b.repeat(s, m, count, gemm.Auto)}}
	for _, f := range []gemm.Form{gemm.Tiles, gemm.Split, gemm.Few, gemm.Lean} {
		if f <= gemm.Split || s.Layout == gemm.NT && (f == gemm.Few && s.M <= 256 || s.M <= 16) {
			all = append(all, contender{f.String(), b.repeat(s, m, count, f)})
		}
	}
	ours := len(all)
	theirs, done, err := b.theirs(s, m, count)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	all = append(all, theirs...)
	times, err := b.contest(all, func() error { return b.check(s, m.operands(s, count-1)) })
	if err != nil {
		return nil, nil, err
	}
	for i := range times {
		times[i] /= time.Duration(count)
	}
	best := times[0]
	if len(times) > ours {
		best = min(times[ours], times[ours+1])
	}
	return append([]time.Duration{times[0], best}, times[1:ours]...), all[:ours], nil
}

// theirs returns the functions of cuBLAS, if it is installed, and a function to call after their last use.
func (b *bench) theirs(s gemm.Shape, m memory, count int) (all []contender, done func() error, err error) {
	if b.library == nil {
		return nil, func() error { return nil }, nil
	}
	fused, err := cublas.Fuse[dtype.BF16, dtype.BF16](b.library, cublas.Fusion{M: s.M, N: s.N, K: s.K, TransA: s.Layout == gemm.TN, TransB: s.Layout == gemm.NT})
	if err != nil {
		return nil, nil, err
	}
	return []contender{
		{"cublasLt", func(r *device.Stream) error { return b.fused(fused.On(r), s, m, count) }},
		{"cublasGemmEx", func(r *device.Stream) error { return b.gemmEx(b.library.On(r), s, m, count) }},
	}, fused.Close, nil
}

// repeat returns what enqueues products in a form.
func (b *bench) repeat(s gemm.Shape, m memory, count int, f gemm.Form) func(*device.Stream) error {
	return func(r *device.Stream) (err error) {
		for i := range count {
			err = errors.Join(err, gemm.HalfIn(r, f, s, m.operands(s, i).Operands))
		}
		return err
	}
}

// fused enqueues products of cublasLt.
func (b *bench) fused(f *cublas.Fused[dtype.BF16, dtype.BF16], s gemm.Shape, m memory, count int) (err error) {
	for i := range count {
		x := m.operands(s, i)
		err = errors.Join(err, f.Multiply(cublas.Operands[dtype.BF16, dtype.BF16]{Alpha: 1, A: x.A, B: x.B, C: x.C}))
	}
	return err
}

// gemmEx enqueues products of cublasGemmEx.
func (b *bench) gemmEx(h *cublas.Handle, s gemm.Shape, m memory, count int) (err error) {
	for i := range count {
		x := m.operands(s, i)
		p := cublas.MixedProduct[dtype.BF16, dtype.BF16]{
			Alpha: 1, TransA: s.Layout == gemm.TN, TransB: s.Layout == gemm.NT,
			A: matrixOf(x.A, s.M, s.K, s.Layout == gemm.TN), B: matrixOf(x.B, s.K, s.N, s.Layout == gemm.NT), C: matrixOf(x.C, s.M, s.N, false),
		}
		err = errors.Join(err, cublas.GemmEx(h, p))
	}
	return err
}

// matrixOf returns a matrix, or its transpose.
func matrixOf(x device.Slice[dtype.BF16], rows, cols int, transposed bool) cublas.Matrix[dtype.BF16] {
	if transposed {
		rows, cols = cols, rows
	}
	return cublas.Matrix[dtype.BF16]{Rows: rows, Cols: cols, Data: x}
}
