package cublas

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// kind is how to make elements of a type, and how to convert them back.
type kind[T any] struct {
	from func(float64) T
	is   func(T) float64
}

var (
	floats  = kind[float32]{func(x float64) float32 { return float32(x) }, func(x float32) float64 { return float64(x) }}
	brains  = kind[dtype.BF16]{dtype.BF16From64, dtype.BF16.Float64}
	halves  = kind[dtype.F16]{dtype.F16From64, dtype.F16.Float64}
	eighths = kind[dtype.F8E4M3]{dtype.F8E4M3From64, dtype.F8E4M3.Float64}
)

// numbers returns random elements between -0.5 and 0.5 on the device, and their values.
func numbers[T any](t *testing.T, s *device.Stream, k kind[T], n int) (device.Slice[T], []float64) {
	t.Helper()
	host, is := make([]T, n), make([]float64, n)
	r := rand.New(rand.NewPCG(2, uint64(n)))
	for i := range host {
		host[i] = k.from(r.Float64() - 0.5)
		is[i] = k.is(host[i])
	}
	b, err := device.Upload(s, host)
	if err != nil {
		t.Fatal(err)
	}
	return b.All(), is
}

// activated applies an activation, GELU in its tanh approximation.
func activated(a Activation, x float64) float64 {
	switch a {
	case ReLU:
		return max(x, 0)
	case GELU:
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return x
}

// within is the tolerance, both absolute and relative.
type within float64

// fusedRight compares a product with the same product in float64 on the CPU.
func fusedRight[A, C Number](t *testing.T, in kind[A], out kind[C], f Fusion, off within) {
	s, h := onGPU(t)
	p, err := Fuse[A, C](h, f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, as := numbers(t, s, in, f.M*f.K)
	b, bs := numbers(t, s, in, f.K*f.N)
	c, cs := numbers(t, s, out, f.M*f.N)
	bias, biases := numbers(t, s, out, f.N)
	scales, _ := numbers(t, s, floats, 5) // the second one is 16 bytes after the first
	scale := [2]float32{1, 1}
	o := Operands[A, C]{Alpha: 1.5, Beta: 0.5, A: a, B: b, C: c}
	if f.Bias {
		o.Bias = bias
	}
	if f.Scaled {
		scale = [2]float32{2, 0.75}
		o.ScaleA, o.ScaleB = scales.Slice(0, 1), scales.Slice(4, 5)
		if err := device.UploadTo(s, scales, []float32{scale[0], 0, 0, 0, scale[1]}); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]C, f.M*f.N)
	if err := p.Multiply(o); err != nil {
		t.Fatal(err)
	}
	if err := device.Download(s, got, c); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range f.M {
		for j := range f.N {
			sum := 0.0
			for k := range f.K {
				x, y := as[i*f.K+k], bs[(k*f.N+j)%len(bs)]
				if f.TransB {
					y = bs[j*f.K+k]
				}
				sum += x * y
			}
			want := 1.5*float64(scale[0])*float64(scale[1])*sum + 0.5*cs[i*f.N+j]
			if f.Bias {
				want += biases[j]
			}
			want = activated(f.Activation, want)
			if g := out.is(got[i*f.N+j]); math.Abs(g-want) > float64(off)*(1+math.Abs(want)) {
				t.Fatalf("element %d, %d is %v, want %v", i, j, g, want)
			}
		}
	}
}

func TestGPUFused(t *testing.T) {
	size := Fusion{M: 64, N: 48, K: 128}
	with := func(change func(f *Fusion)) Fusion {
		f := size
		change(&f)
		return f
	}
	t.Run("float32", func(t *testing.T) { fusedRight(t, floats, floats, size, 1e-5) })
	t.Run("float32, bias, ReLU", func(t *testing.T) {
		fusedRight(t, floats, floats, with(func(f *Fusion) { f.Bias, f.Activation = true, ReLU }), 1e-5)
	})
	t.Run("TF32", func(t *testing.T) { fusedRight(t, floats, floats, with(func(f *Fusion) { f.TF32 = true }), 1e-2) })
	t.Run("BF16, bias, GELU", func(t *testing.T) {
		fusedRight(t, brains, brains, with(func(f *Fusion) { f.Bias, f.Activation, f.TransB = true, GELU, true }), 1e-2)
	})
	t.Run("BF16 to float32", func(t *testing.T) { fusedRight(t, brains, floats, with(func(f *Fusion) { f.TransB = true }), 1e-4) })
	t.Run("F16, bias, ReLU", func(t *testing.T) {
		fusedRight(t, halves, halves, with(func(f *Fusion) { f.Bias, f.Activation = true, ReLU }), 2e-3)
	})
	t.Run("F8", func(t *testing.T) {
		fusedRight(t, eighths, brains, with(func(f *Fusion) { f.TransB, f.Scaled, f.Bias = true, true, true }), 1e-2)
	})
	t.Run("F8, fast sums, GELU", func(t *testing.T) {
		fusedRight(t, eighths, brains, with(func(f *Fusion) { f.TransB, f.FastSums, f.Activation = true, true, GELU }), 2e-2)
	})
}

// BenchmarkGPUFused enqueues a layer of 8-bit elements, and one of 4,096 in each direction.
func BenchmarkGPUFused(b *testing.B) {
	s, h := onGPU(b)
	const n = 4096
	x, err := device.Make[dtype.F8E4M3](s, n*n)
	if err != nil {
		b.Fatal(err)
	}
	y, err := device.Make[dtype.BF16](s, n*n)
	if err != nil {
		b.Fatal(err)
	}
	p, err := Fuse[dtype.F8E4M3, dtype.BF16](h, Fusion{M: n, N: n, K: n, TransB: true, Bias: true, FastSums: true})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		for range 10 {
			if err := p.Multiply(Operands[dtype.F8E4M3, dtype.BF16]{Alpha: 1, A: x.All(), B: x.All(), C: y.All(), Bias: y.All().Slice(0, n)}); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10*2*n*n*n*float64(b.N)/b.Elapsed().Seconds()/1e12, "TFLOPS")
}
