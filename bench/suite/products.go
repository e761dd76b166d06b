package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
)

// The products of internal/kernels/matmul, beside cuBLAS.

// product is a case that multiplies n x n matrices of A to one of C.
type product[A, C cublas.Number] struct {
	n       int
	a, b    *array[A]
	c       *array[C]
	operand func(A) float64
	element func(C) float64
	// transposed is whether b has the right matrix's columns as rows.
	transposed bool
	// relative is the largest error in units of the right value, or of the root of n where that is larger.
	relative float64
}

// work returns the case, given ours and what makes cuBLAS's.
func (p product[A, C]) work(b *bench, ours func(*device.Stream) error, theirs func(*cublas.Handle) (func() error, error)) work {
	n := float64(p.n)
	return work{
		bytes: n * n * float64(2*sizeOf[A]()+sizeOf[C]()),
		flops: 2 * n * n * n,
		more:  append(called(ours), b.library(theirs)...),
		check: p.check,
	}
}

// checked is how many elements of a product are compared with plain Go.
const checked = 1 << 13

func (p product[A, C]) check() error {
	return examine(len(p.c.host), checked, func(i int) error {
		row, col := i/p.n, i%p.n
		want := 0.0
		for k := range p.n {
			at := k*p.n + col
			if p.transposed {
				at = col*p.n + k
			}
			want += p.operand(p.a.host[row*p.n+k]) * p.operand(p.b.host[at])
		}
		got := p.element(p.c.host[i])
		if !(math.Abs(got-want) <= p.relative*max(math.Abs(want), math.Sqrt(float64(p.n)))) {
			return fmt.Errorf("element %d, %d is %v, want %v", row, col, got, want)
		}
		return nil
	})
}

// library returns the contender that is cuBLAS, on a GPU. Where the library is not there, running it is the error that
// says so.
func (b *bench) library(make func(*cublas.Handle) (func() error, error)) []contender {
	if b.stream.Device().Info().Kind != "cuda" {
		return nil
	}
	call := func() error { return nil }
	h, err := cublas.New(b.stream)
	if err == nil {
		b.buffers = append(b.buffers, h)
		call, err = make(h)
	}
	return []contender{{name: report.CuBLAS, run: func(*device.Stream) error {
		if err != nil {
			return err
		}
		return call()
	}}}
}

func square[T any](n int, x *array[T]) cublas.Matrix[T] {
	return cublas.Matrix[T]{Rows: n, Cols: n, Data: x.all()}
}

func newProduct32(b *bench, n int) work {
	p := product[float32, float32]{
		n: n, a: input(b, random(b, n*n, signed)), b: input(b, random(b, n*n, signed)), c: result(b, n*n, nan[float32]()),
		operand: widened, element: widened, relative: 1e-5,
	}
	ours := func(s *device.Stream) error {
		return matmul.Launch32(s, p.shape(), matmul.Operands32{A: p.a.all(), B: p.b.all(), C: p.c.all()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		call := cublas.Product[float32]{Alpha: 1, A: square(n, p.a), B: square(n, p.b), C: square(n, p.c)}
		return func() error { return cublas.Gemm(h, call) }, h.SetPrecision(cublas.Full)
	})
}

func widened(x float32) float64 { return float64(x) }

func (p product[A, C]) shape() matmul.Shape { return matmul.Shape{M: p.n, N: p.n, K: p.n} }

func newProductBF16(b *bench, n int) work {
	p := product[dtype.BF16, dtype.BF16]{
		n: n, a: input(b, random(b, n*n, brief)), b: input(b, random(b, n*n, brief)), c: result(b, n*n, dtype.BF16From64(math.NaN())),
		operand: dtype.BF16.Float64, element: dtype.BF16.Float64, relative: 1.0 / 128,
	}
	ours := func(s *device.Stream) error {
		version := matmul.Best(s.Device().Info().Capability, p.shape())
		return matmul.Launch(s, version, p.shape(), matmul.Operands{A: p.a.all(), B: p.b.all(), C: p.c.all()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		call := cublas.MixedProduct[dtype.BF16, dtype.BF16]{Alpha: 1, A: square(n, p.a), B: square(n, p.b), C: square(n, p.c)}
		return func() error { return cublas.GemmEx(h, call) }, nil
	})
}

// newProductFP8 multiplies numbers of 8 bits. cuBLAS may add in fewer bits, as ours does.
func newProductFP8(b *bench, n int) work {
	p := product[dtype.F8E4M3, dtype.BF16]{
		n: n, a: input(b, random(b, n*n, briefer)), b: input(b, random(b, n*n, briefer)), c: result(b, n*n, dtype.BF16From64(math.NaN())),
		operand: dtype.F8E4M3.Float64, element: dtype.BF16.Float64, transposed: true, relative: 1.0 / 64,
	}
	one := input(b, []float32{1})
	ours := func(s *device.Stream) error {
		return matmul.Launch8(s, p.shape(), matmul.Operands8{A: p.a.all(), B: p.b.all(), C: p.c.all()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		f, err := cublas.Fuse[dtype.F8E4M3, dtype.BF16](h, cublas.Fusion{M: n, N: n, K: n, TransB: true, Scaled: true, FastSums: true})
		if err != nil {
			return nil, err
		}
		b.buffers = append(b.buffers, f)
		o := cublas.Operands[dtype.F8E4M3, dtype.BF16]{Alpha: 1, A: p.a.all(), B: p.b.all(), C: p.c.all(), ScaleA: one.all(), ScaleB: one.all()}
		return func() error { return f.Multiply(o) }, nil
	})
}

// brief makes bfloat16 numbers from -1 to 1.
func brief(r *rand.Rand, i int) dtype.BF16 { return dtype.BF16From32(signed(r, i)) }

// briefer makes numbers of 8 bits from -1 to 1.
func briefer(r *rand.Rand, i int) dtype.F8E4M3 { return dtype.F8E4M3From32(signed(r, i)) }
