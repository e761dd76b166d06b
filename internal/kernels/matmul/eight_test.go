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
	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

var shapes8 = []matmul.Shape{{M: 128, N: 256, K: 128}, {M: 130, N: 264, K: 400}, {M: 5, N: 8, K: 16}}

func TestEight(t *testing.T) {
	for _, open := range []func() (*device.Device, error){cpu.Open, ptxinterp.Open} {
		eights(t, open, shapes8)
	}
}

func TestEightCUDA(t *testing.T) {
	eights(t, gpu(t), append(shapes8, matmul.Shape{M: 2176, N: 4352, K: 4112}))
}

func eights(t *testing.T, open func() (*device.Device, error), shapes []matmul.Shape) {
	dev, s := opened(t, open)
	for _, shape := range shapes {
		t.Run(fmt.Sprintf("%s/%dx%dx%d", dev.Info().Kind, shape.M, shape.N, shape.K), func(t *testing.T) {
			p := newProblem8(shape)
			x, closing := p.upload(t, s)
			defer closing()
			c := make([]dtype.BF16, shape.M*shape.N)
			if err := errors.Join(matmul.Launch8(s, shape, x), device.Download(s, c, x.C), s.Synchronize(t.Context())); err != nil {
				t.Fatal(err)
			}
			p.check(t, c)
		})
	}
}

// opened returns a device and a stream that are closed at the end of the test.
func opened(t testing.TB, open func() (*device.Device, error)) (*device.Device, *device.Stream) {
	t.Helper()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if dev.Info().Kind != "cpu" {
		ondemand.NeedsCode(t)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return dev, s
}

type problem8 struct {
	matmul.Shape
	a, b []dtype.F8E4M3
}

func newProblem8(s matmul.Shape) *problem8 {
	random := rand.New(rand.NewPCG(uint64(s.M), uint64(s.N*s.K)))
	numbers := func(n int) []dtype.F8E4M3 {
		x := make([]dtype.F8E4M3, n)
		for i := range x {
			x[i] = dtype.F8E4M3From32(float32(random.NormFloat64()))
		}
		return x
	}
	return &problem8{s, numbers(s.M * s.K), numbers(s.K * s.N)}
}

func (p *problem8) upload(t testing.TB, s *device.Stream) (matmul.Operands8, func()) {
	t.Helper()
	a, err1 := device.Upload(s, p.a)
	b, err2 := device.Upload(s, p.b)
	c, err3 := device.MakeDirty[dtype.BF16](s, p.M*p.N)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return matmul.Operands8{A: a.All(), B: b.All(), C: c.All()}, func() {
		if err := errors.Join(a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
}

// check compares with the product in float64, within half a unit in the last place of bfloat16 and
// the possible error of sums of which tensor cores keep 14 bits.
func (p *problem8) check(t *testing.T, c []dtype.BF16) {
	columns := map[int][]float64{}
	for j := 0; j < p.N; j += 1 + p.N/100 {
		columns[j] = wide(p.b, j*p.K, 1, p.K)
	}
	for i := 0; i < p.M; i += 1 + p.M/100 {
		row := wide(p.a, i*p.K, 1, p.K)
		for j, column := range columns {
			want, size := dot(row, column)
			if got := c[i*p.N+j].Float64(); !(math.Abs(got-want) <= math.Abs(want)/256+size/(1<<10)) {
				t.Fatalf("c[%d][%d] is %v, want %v", i, j, got, want)
			}
		}
	}
}

// BenchmarkEightGPU is BenchmarkGPU for 8-bit elements.
func BenchmarkEightGPU(b *testing.B) {
	_, s := opened(b, gpu(b))
	for _, n := range []int{4096, 8192} {
		p := newProblem8(matmul.Shape{M: n, N: n, K: n})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, closing := p.upload(b, s)
			defer closing()
			timed(b, s, n, func() error { return matmul.Launch8(s, p.Shape, x) })
		})
	}
}

// timed reports the TFLOP/s of products of n x n matrices that launch starts.
func timed(b *testing.B, s *device.Stream, n int, launch func() error) {
	b.Helper()
	if err := errors.Join(launch(), s.Synchronize(b.Context())); err != nil {
		b.Fatal(err)
	}
	began, err := s.Record()
	for range b.N {
		err = errors.Join(err, launch())
	}
	ended, err2 := s.Record()
	if err = errors.Join(err, err2, s.Synchronize(b.Context())); err != nil {
		b.Fatal(err)
	}
	took, err := ended.Since(began)
	if err = errors.Join(err, began.Close(), ended.Close()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(2*math.Pow(float64(n), 3)*float64(b.N)/took.Seconds()/1e12, "TFLOP/s")
}
