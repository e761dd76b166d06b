package matmul_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

func TestFused(t *testing.T) {
	for _, open := range []func() (*device.Device, error){cpu.Open, ptxinterp.Open} {
		fusions(t, open)
	}
}

// TestOrders runs warps in other orders: a warp that runs ahead must wait for its data.
func TestOrders(t *testing.T) {
	p := newProblem(matmul.Shape{M: 130, N: 264, K: 328})
	for seed := range uint64(3) {
		o := ptxinterp.Checked()
		o.Seed = 1 + seed
		_, s := opened(t, func() (*device.Device, error) { return ptxinterp.OpenWith(o) })
		for _, v := range []matmul.Version{matmul.Groups, matmul.Roles, matmul.Resident} {
			p.check(t, s, v)
		}
	}
}

func TestFusedCUDA(t *testing.T) { fusions(t, gpu(t)) }

// fusions computes batches of products with a bias and each activation.
func fusions(t *testing.T, open func() (*device.Device, error)) {
	dev, s := opened(t, open)
	shape := matmul.Shape{M: 130, N: 264, K: 72}
	for a, f := range map[matmul.Activation]func(x float64) float64{
		matmul.None: func(x float64) float64 { return x },
		matmul.ReLU: func(x float64) float64 { return max(x, 0) },
		matmul.SiLU: func(x float64) float64 { return x / (1 + math.Exp(-x)) },
	} {
		t.Run(fmt.Sprintf("%s/bf16/%d", dev.Info().Kind, a), func(t *testing.T) {
			e := matmul.Epilogue{Activation: a, Batch: 2}
			fusion[dtype.BF16]{shape, e, f, dtype.BF16From32, matmul.Fused, 256}.check(t, s)
		})
	}
	t.Run(dev.Info().Kind+"/f16", func(t *testing.T) {
		f := func(x float64) float64 { return x }
		fusion[dtype.F16]{shape, matmul.Epilogue{}, f, dtype.F16From32, matmul.F16, 2048}.check(t, s)
	})
}

// fusion is a launcher, a reference for its results, and their relative precision.
type fusion[T interface {
	dtype.F16 | dtype.BF16
	Float64() float64
}] struct {
	matmul.Shape
	epilogue  matmul.Epilogue
	of        func(float64) float64
	from      func(float32) T
	launch    func(*device.Stream, matmul.Shape, matmul.OperandsOf[T], matmul.Epilogue) error
	precision float64
}

func (f fusion[T]) check(t *testing.T, s *device.Stream) {
	random := rand.New(rand.NewPCG(7, 7))
	batch := max(1, f.epilogue.Batch)
	numbers := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = f.from(float32(random.NormFloat64()))
		}
		return x
	}
	a, b, c, bias := numbers(batch*f.M*f.K), numbers(batch*f.K*f.N), make([]T, batch*f.M*f.N), make([]float32, f.N)
	for i := range bias {
		bias[i] = float32(i % 17)
	}
	da, err1 := device.Upload(s, a)
	db, err2 := device.Upload(s, b)
	dc, err3 := device.MakeDirty[T](s, len(c))
	dbias, err4 := device.Upload(s, bias)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	f.epilogue.Bias = dbias.All()
	err := errors.Join(f.launch(s, f.Shape, matmul.OperandsOf[T]{A: da.All(), B: db.All(), C: dc.All()}, f.epilogue),
		device.Download(s, c, dc), s.Synchronize(t.Context()), da.Close(), db.Close(), dc.Close(), dbias.Close())
	if err != nil {
		t.Fatal(err)
	}
	columns := make([][]float64, batch*f.N)
	for i := range columns {
		columns[i] = wide(b, i/f.N*f.K*f.N+i%f.N, f.N, f.K)
	}
	for i := range batch * f.M {
		row := wide(a, i*f.K, 1, f.K)
		for j := range f.N {
			want, size := dot(row, columns[i/f.M*f.N+j])
			want = f.of(want + float64(bias[j]))
			if got := c[i*f.N+j].Float64(); !(math.Abs(got-want) <= math.Abs(want)/f.precision+size*float64(f.K+16)/(1<<22)) {
				t.Fatalf("row %d, column %d: %v, want %v", i, j, got, want)
			}
		}
	}
}
