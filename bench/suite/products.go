package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
)

// The products of internal/kernels/gemm and internal/kernels/matmul, beside cuBLAS.

// product is a case that multiplies n x n matrices of A to one of C.
type product[A, C cublas.Number] struct {
	n       int
	a, b    *harness.Array[A]
	c       *harness.Array[C]
	operand func(A) float64
	element func(C) float64
	// transposed is whether b has the right matrix's columns as rows.
	transposed bool
	// relative is the largest error in units of the right value, or of the root of n where that is larger.
	relative float64
}

// work returns the case, given ours and what makes cuBLAS's.
func (p product[A, C]) work(b *harness.Bench, ours func(*device.Stream) error, theirs func(*cublas.Handle) (func() error, error)) harness.Work {
	n := float64(p.n)
	return harness.Work{
		Bytes: n * n * float64(2*harness.SizeOf[A]()+harness.SizeOf[C]()),
		Flops: 2 * n * n * n,
		More:  append(called(ours), library(b, theirs)...),
		Check: p.check,
	}
}

// checked is how many elements of a product are compared with plain Go.
const checked = 1 << 13

func (p product[A, C]) check() error {
	return harness.Examine(len(p.c.Host), checked, func(i int) error {
		row, col := i/p.n, i%p.n
		want := 0.0
		for k := range p.n {
			at := k*p.n + col
			if p.transposed {
				at = col*p.n + k
			}
			want += p.operand(p.a.Host[row*p.n+k]) * p.operand(p.b.Host[at])
		}
		got := p.element(p.c.Host[i])
		if !(math.Abs(got-want) <= p.relative*max(math.Abs(want), math.Sqrt(float64(p.n)))) {
			return fmt.Errorf("element %d, %d is %v, want %v", row, col, got, want)
		}
		return nil
	})
}

// library returns the contender that is cuBLAS, on a GPU. Where the library is not there, running it is the error that
// says so.
func library(b *harness.Bench, make func(*cublas.Handle) (func() error, error)) []harness.Contender {
	if b.Stream().Device().Info().Kind != "cuda" {
		return nil
	}
	call := func() error { return nil }
	h, err := cublas.New(b.Stream())
	if err == nil {
		b.Own(h)
		call, err = make(h)
	}
	return []harness.Contender{{Name: report.CuBLAS, Run: func(*device.Stream) error {
		if err != nil {
			return err
		}
		return call()
	}}}
}

func square[T any](n int, x *harness.Array[T]) cublas.Matrix[T] {
	return cublas.Matrix[T]{Rows: n, Cols: n, Data: x.All()}
}

func newProduct32(b *harness.Bench, n int) harness.Work {
	p := product[float32, float32]{
		n: n, a: harness.Input(b, harness.Random(b, n*n, harness.Signed)), b: harness.Input(b, harness.Random(b, n*n, harness.Signed)), c: harness.Result(b, n*n, harness.NaN[float32]()),
		operand: widened, element: widened, relative: 1e-5,
	}
	ours := func(s *device.Stream) error {
		return matmul.Launch32(s, p.shape(), matmul.Operands32{A: p.a.All(), B: p.b.All(), C: p.c.All()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		call := cublas.Product[float32]{Alpha: 1, A: square(n, p.a), B: square(n, p.b), C: square(n, p.c)}
		return func() error { return cublas.Gemm(h, call) }, h.SetPrecision(cublas.Full)
	})
}

func widened(x float32) float64 { return float64(x) }

func (p product[A, C]) shape() matmul.Shape { return matmul.Shape{M: p.n, N: p.n, K: p.n} }

func newProductBF16(b *harness.Bench, n int) harness.Work {
	p := product[dtype.BF16, dtype.BF16]{
		n: n, a: harness.Input(b, harness.Random(b, n*n, brief)), b: harness.Input(b, harness.Random(b, n*n, brief)), c: harness.Result(b, n*n, dtype.BF16From64(math.NaN())),
		operand: dtype.BF16.Float64, element: dtype.BF16.Float64, relative: 1.0 / 128,
	}
	ours := func(s *device.Stream) error {
		if s.Device().Info().Capability == (device.Capability{Major: 9}) {
			x := gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: p.a.All(), B: p.b.All(), C: p.c.All()}
			return gemm.Half(s, gemm.Shape{Layout: gemm.NN, M: n, N: n, K: n}, x)
		}
		version := matmul.Best(s.Device().Info().Capability, p.shape())
		return matmul.Launch(s, version, p.shape(), matmul.Operands{A: p.a.All(), B: p.b.All(), C: p.c.All()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		call := cublas.MixedProduct[dtype.BF16, dtype.BF16]{Alpha: 1, A: square(n, p.a), B: square(n, p.b), C: square(n, p.c)}
		return func() error { return cublas.GemmEx(h, call) }, nil
	})
}

// newProductFP8 multiplies numbers of 8 bits. cuBLAS may add in fewer bits, as ours does.
func newProductFP8(b *harness.Bench, n int) harness.Work {
	p := product[dtype.F8E4M3, dtype.BF16]{
		n: n, a: harness.Input(b, harness.Random(b, n*n, briefer)), b: harness.Input(b, harness.Random(b, n*n, briefer)), c: harness.Result(b, n*n, dtype.BF16From64(math.NaN())),
		operand: dtype.F8E4M3.Float64, element: dtype.BF16.Float64, transposed: true, relative: 1.0 / 64,
	}
	one := harness.Input(b, []float32{1})
	ours := func(s *device.Stream) error {
		return matmul.Launch8(s, p.shape(), matmul.Operands8{A: p.a.All(), B: p.b.All(), C: p.c.All()})
	}
	return p.work(b, ours, func(h *cublas.Handle) (func() error, error) {
		f, err := cublas.Fuse[dtype.F8E4M3, dtype.BF16](h, cublas.Fusion{M: n, N: n, K: n, TransB: true, Scaled: true, FastSums: true})
		if err != nil {
			return nil, err
		}
		b.Own(f)
		o := cublas.Operands[dtype.F8E4M3, dtype.BF16]{Alpha: 1, A: p.a.All(), B: p.b.All(), C: p.c.All(), ScaleA: one.All(), ScaleB: one.All()}
		return func() error { return f.Multiply(o) }, nil
	})
}

// brief makes bfloat16 numbers from -1 to 1.
func brief(r *rand.Rand, i int) dtype.BF16 { return dtype.BF16From32(harness.Signed(r, i)) }

// briefer makes numbers of 8 bits from -1 to 1.
func briefer(r *rand.Rand, i int) dtype.F8E4M3 { return dtype.F8E4M3From32(harness.Signed(r, i)) }
