package matmul_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

var shapes32 = []matmul.Shape{{M: 128, N: 128, K: 8}, {M: 131, N: 260, K: 36}, {M: 3, N: 4, K: 4}, {M: 2, N: 8, K: 0}}

func TestSingle(t *testing.T) {
	for _, open := range []func() (*device.Device, error){cpu.Open, ptxinterp.Open} {
		singles(t, open, shapes32)
	}
}

func TestSingleCUDA(t *testing.T) {
	singles(t, gpu(t), append(shapes32, matmul.Shape{M: 1000, N: 2052, K: 1036}))
}

func singles(t *testing.T, open func() (*device.Device, error), shapes []matmul.Shape) {
	dev, s := opened(t, open)
	for _, shape := range shapes {
		t.Run(fmt.Sprintf("%s/%dx%dx%d", dev.Info().Kind, shape.M, shape.N, shape.K), func(t *testing.T) {
			p := newProblem32(shape)
			x, closing := p.upload(t, s)
			defer closing()
			c := make([]float32, shape.M*shape.N)
			if err := errors.Join(matmul.Launch32(s, shape, x), device.Download(s, c, x.C), s.Synchronize(t.Context())); err != nil {
				t.Fatal(err)
			}
			p.check(t, c)
		})
	}
	x, closing := newProblem32(matmul.Shape{M: 2, N: 4, K: 8}).upload(t, s)
	defer closing()
	if err := matmul.Launch32(s, matmul.Shape{M: 4, N: 2, K: 4}, x); !errors.Is(err, matmul.ErrShape) {
		t.Errorf("rows of two elements: %v, want ErrShape", err)
	}
}

type problem32 struct {
	matmul.Shape
	a, b []float32
}

func newProblem32(s matmul.Shape) *problem32 {
	random := rand.New(rand.NewPCG(uint64(s.M), uint64(s.N*s.K)))
	numbers := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
		return x
	}
	return &problem32{s, numbers(s.M * s.K), numbers(s.K * s.N)}
}

func (p *problem32) upload(t testing.TB, s *device.Stream) (matmul.Operands32, func()) {
	t.Helper()
	a, err1 := device.Upload(s, p.a)
	b, err2 := device.Upload(s, p.b)
	c, err3 := device.MakeDirty[float32](s, p.M*p.N)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return matmul.Operands32{A: a.All(), B: b.All(), C: c.All()}, func() {
		if err := errors.Join(a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
}

// check compares with the product in float64. Each sum may round K times; the test would detect
// products with only 10 bits, as in tensor cores.
func (p *problem32) check(t *testing.T, c []float32) {
	for i := 0; i < p.M; i += 1 + p.M/100 {
		for j := 0; j < p.N; j += 1 + p.N/100 {
			want, size := 0.0, 0.0
			for k := range p.K {
				x := float64(p.a[i*p.K+k]) * float64(p.b[k*p.N+j])
				want, size = want+x, size+math.Abs(x)
			}
			if got := float64(c[i*p.N+j]); !(math.Abs(got-want) <= size*float64(p.K)*0x1p-24) {
				t.Fatalf("c[%d][%d] is %v, want %v", i, j, got, want)
			}
		}
	}
}

// BenchmarkSingleGPU is BenchmarkGPU for float32 elements.
func BenchmarkSingleGPU(b *testing.B) {
	_, s := opened(b, gpu(b))
	for _, n := range []int{4096, 8192} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := newProblem32(matmul.Shape{M: n, N: n, K: n})
			x, closing := p.upload(b, s)
			defer closing()
			timed(b, s, n, func() error { return matmul.Launch32(s, p.Shape, x) })
		})
	}
}
