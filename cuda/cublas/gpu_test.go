package cublas

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// onGPU returns a stream of the first GPU and a handle for it, or skips the test.
func onGPU(t testing.TB) (*device.Stream, *Handle) {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(s)
	if err != nil {
		t.Skipf("no cuBLAS: %v", err)
	}
	t.Cleanup(func() {
		for _, f := range []func() error{h.Close, s.Close, dev.Close} {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	})
	return s, h
}

// gpuMatrix is a matrix on the host and its copy on the device.
type gpuMatrix struct {
	rows, cols int
	host       []float64
	on         Matrix[float64]
}

func random(t *testing.T, s *device.Stream, rows, cols int) gpuMatrix {
	t.Helper()
	m := gpuMatrix{rows: rows, cols: cols, host: make([]float64, rows*cols)}
	r := rand.New(rand.NewPCG(1, uint64(rows*cols)))
	for i := range m.host {
		m.host[i] = r.Float64() - 0.5
	}
	b, err := device.Upload(s, m.host)
	if err != nil {
		t.Fatal(err)
	}
	m.on = Matrix[float64]{Rows: rows, Cols: cols, Data: b.All()}
	return m
}

// at returns an element of the matrix, or of its transpose.
func (m gpuMatrix) at(i, j int, transposed bool) float64 {
	if transposed {
		i, j = j, i
	}
	return m.host[i*m.cols+j]
}

// symmetric returns the symmetric matrix that has the upper triangle of m.
func (m gpuMatrix) symmetric() gpuMatrix {
	host := make([]float64, len(m.host))
	for i := range m.rows {
		for j := range m.cols {
			host[i*m.cols+j] = m.at(min(i, j), max(i, j), false)
		}
	}
	return gpuMatrix{rows: m.rows, cols: m.cols, host: host}
}

func (m gpuMatrix) wants(t *testing.T, s *device.Stream, f func(i, j int) (want float64, counts bool)) {
	t.Helper()
	got := make([]float64, len(m.host))
	if err := device.Download(s, got, m.on.Data); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range m.rows {
		for j := range m.cols {
			if want, counts := f(i, j); counts && math.Abs(got[i*m.cols+j]-want) > 1e-12*float64(m.rows+m.cols) {
				t.Fatalf("element %d, %d is %v, want %v", i, j, got[i*m.cols+j], want)
			}
		}
	}
}

func sum(n int, f func(k int) float64) (total float64) {
	for k := range n {
		total += f(k)
	}
	return total
}

// TestGPU compares functions with the same sums on the host. The sizes are multiples of no tile
// size.
func TestGPU(t *testing.T) {
	s, h := onGPU(t)
	version, path, err := h.Version()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cuBLAS %s at %s", version, path)
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const m, n, k = 37, 53, 29
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			a, b, c := random(t, s, m, k), random(t, s, k, n), random(t, s, m, n)
			if ta {
				a = random(t, s, k, m)
			}
			if tb {
				b = random(t, s, n, k)
			}
			fatal(Gemm(h, Product[float64]{Alpha: 2, Beta: 3, A: a.on, B: b.on, C: c.on, TransA: ta, TransB: tb}))
			c.wants(t, s, func(i, j int) (float64, bool) {
				return 2*sum(k, func(l int) float64 { return a.at(i, l, ta) * b.at(l, j, tb) }) + 3*c.at(i, j, false), true
			})
		}
	}
	a, x := random(t, s, m, n), random(t, s, 1, n)
	y := random(t, s, 1, m)
	vx, vy := Vector[float64]{N: n, Data: x.on.Data}, Vector[float64]{N: m, Data: y.on.Data}
	fatal(Gemv(h, MatrixVector[float64]{Alpha: 1, A: a.on, X: vx, Y: vy}))
	y.wants(t, s, func(_, j int) (float64, bool) {
		return sum(n, func(l int) float64 { return a.at(j, l, false) * x.host[l] }), true
	})
	y = random(t, s, 1, m)
	vy.Data = y.on.Data
	c := random(t, s, m, n)
	fatal(Ger(h, OuterProduct[float64]{Alpha: 2, X: vy, Y: vx, A: c.on}))
	c.wants(t, s, func(i, j int) (float64, bool) { return c.at(i, j, false) + 2*y.host[i]*x.host[j], true })
	result := random(t, s, 1, 1)
	fatal(Dot(h, vx, vx, result.on.Data))
	result.wants(t, s, func(int, int) (float64, bool) {
		return sum(n, func(l int) float64 { return x.host[l] * x.host[l] }), true
	})
	fatal(Norm(h, vx, result.on.Data))
	result.wants(t, s, func(int, int) (float64, bool) {
		return math.Sqrt(sum(n, func(l int) float64 { return x.host[l] * x.host[l] })), true
	})
}

// TestGPUTriangles is TestGPU for symmetric and triangular matrices.
func TestGPUTriangles(t *testing.T) {
	s, h := onGPU(t)
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const n, k = 23, 31
	a, b, c := random(t, s, n, n), random(t, s, n, k), random(t, s, n, k)
	sym := a.symmetric()
	fatal(Symm(h, Symmetric[float64]{Alpha: 1, Side: Left, Triangle: Upper, A: a.on, B: b.on, C: c.on}))
	c.wants(t, s, func(i, j int) (float64, bool) {
		return sum(n, func(l int) float64 { return sym.at(i, l, false) * b.at(l, j, false) }), true
	})
	c = random(t, s, n, n)
	fatal(Syrk(h, RankK[float64]{Alpha: 1, Beta: 2, Triangle: Lower, A: b.on, C: c.on}))
	c.wants(t, s, func(i, j int) (float64, bool) {
		return sum(k, func(l int) float64 { return b.at(i, l, false) * b.at(j, l, false) }) + 2*c.at(i, j, false), j <= i
	})
	b2 := random(t, s, n, k)
	c = random(t, s, k, k)
	fatal(Syr2k(h, Rank2K[float64]{Alpha: 1, Triangle: Upper, A: b.on, B: b2.on, C: c.on, Trans: true}))
	c.wants(t, s, func(i, j int) (float64, bool) {
		return sum(n, func(l int) float64 {
			return b.at(l, i, false)*b2.at(l, j, false) + b2.at(l, i, false)*b.at(l, j, false)
		}), j >= i
	})
	tri := func(i, l int) float64 { // the lower triangle of a, with ones on the diagonal
		switch {
		case i == l:
			return 1
		case l < i:
			return a.at(i, l, false)
		}
		return 0
	}
	x := random(t, s, n, k)
	p := Triangular[float64]{Alpha: 1, Side: Left, Triangle: Lower, A: a.on, B: x.on, Unit: true}
	fatal(Trmm(h, p))
	x.wants(t, s, func(i, j int) (float64, bool) {
		return sum(n, func(l int) float64 { return tri(i, l) * x.at(l, j, false) }), true
	})
	fatal(Trsm(h, p)) // undoes Trmm
	x.wants(t, s, func(i, j int) (float64, bool) { return x.at(i, j, false), true })
}

// TestGPUMixed multiplies small integers, which are exact in every type.
func TestGPUMixed(t *testing.T) {
	s, h := onGPU(t)
	const n = 64
	a, want := make([]dtype.BF16, n*n), make([]float32, n*n)
	for i := range a {
		a[i] = dtype.BF16From32(float32(i*7%5 - 2))
	}
	for i := range n {
		for j := range n {
			for l := range n {
				want[i*n+j] += a[i*n+l].Float32() * a[l*n+j].Float32()
			}
		}
	}
	x, err := device.Upload(s, a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := device.Make[float32](s, n*n)
	if err != nil {
		t.Fatal(err)
	}
	m := Matrix[dtype.BF16]{Rows: n, Cols: n, Data: x.All()}
	err = GemmEx(h, MixedProduct[dtype.BF16, float32]{Alpha: 1, A: m, B: m, C: Matrix[float32]{Rows: n, Cols: n, Data: y.All()}})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, n*n)
	if err := device.Download(s, got, y); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestGPUGraph records a product.
func TestGPUGraph(t *testing.T) {
	s, h := onGPU(t)
	a, b, c := random(t, s, 40, 40), random(t, s, 40, 40), random(t, s, 40, 40)
	g, err := s.Device().Capture(func(s *device.Stream) error {
		return Gemm(h.On(s), Product[float64]{Alpha: 1, Beta: 1, A: a.on, B: b.on, C: c.on})
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := g.Launch(s); err != nil {
			t.Fatal(err)
		}
	}
	c.wants(t, s, func(i, j int) (float64, bool) {
		return c.at(i, j, false) + 3*sum(40, func(l int) float64 { return a.at(i, l, false) * b.at(l, j, false) }), true
	})
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkGPUGemm measures the cost of a call: it enqueues very small products.
func BenchmarkGPUGemm(b *testing.B) {
	s, h := onGPU(b)
	const n = 32
	x, err := device.Make[float32](s, n*n)
	if err != nil {
		b.Fatal(err)
	}
	m := Matrix[float32]{Rows: n, Cols: n, Data: x.All()}
	b.ReportAllocs()
	for i := -1; i < 0 || b.Loop(); i++ { // the first call loads the library's code
		if err := Gemm(h, Product[float32]{Alpha: 1, A: m, B: m, C: m}); err != nil {
			b.Fatal(err)
		}
		if i%500 == 0 {
			b.StopTimer()
			if err := s.Synchronize(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}
