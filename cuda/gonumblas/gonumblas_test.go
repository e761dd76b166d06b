package gonumblas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// onGPU returns an Implementation on the first GPU that does all work there, however small, or
// skips the test.
func onGPU(t testing.TB) *Implementation {
	t.Helper()
	i, err := Open(0)
	if err != nil {
		t.Skipf("no GPU with cuBLAS: %v", err)
	}
	i.least = 0
	t.Cleanup(func() {
		if err := i.Err(); err != nil {
			t.Error(err)
		}
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// without returns an Implementation whose GPU is closed.
func without() *Implementation { return &Implementation{closed: true} }

func numbers(n int) []float64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64() - 0.5
	}
	return x
}

// both calls f with gonum's own code and with i, and compares the resulting c, including the gaps.
func both(t *testing.T, i *Implementation, what string, c []float64, f func(b blas.Float64, c []float64)) {
	t.Helper()
	want, got := append([]float64(nil), c...), append([]float64(nil), c...)
	f(gonum.Implementation{}, want)
	f(i, got)
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-11 {
			t.Fatalf("%s: number %d is %v, want %v", what, j, got[j], want[j])
		}
	}
}

// cases compares all functions that the package overrides with gonum's own code, with gaps after
// the rows.
func cases(t *testing.T, i *Implementation) {
	t.Helper()
	const m, n, k, gap = 19, 23, 17, 3
	a, b, c := numbers(30*30), numbers(31*31), numbers(32*32)
	transposes := []blas.Transpose{blas.NoTrans, blas.Trans}
	for _, tA := range transposes {
		for _, tB := range transposes {
			for _, beta := range []float64{0, 0.5} {
				both(t, i, fmt.Sprint("gemm ", tA, tB), c, func(g blas.Float64, c []float64) {
					g.Dgemm(tA, tB, m, n, k, 1.5, a, 26, b, 27, beta, c, n+gap)
				})
			}
		}
		for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
			both(t, i, "syrk", c, func(g blas.Float64, c []float64) { g.Dsyrk(ul, tA, n, k, 1.5, a, 26, 0.5, c, n+gap) })
			both(t, i, "syr2k", c, func(g blas.Float64, c []float64) { g.Dsyr2k(ul, tA, n, k, 1.5, a, 26, b, 27, 0.5, c, n+gap) })
			for _, s := range []blas.Side{blas.Left, blas.Right} {
				both(t, i, "symm", c, func(g blas.Float64, c []float64) { g.Dsymm(s, ul, m, n, 1.5, a, 26, b, 27, 0.5, c, n+gap) })
				for _, d := range []blas.Diag{blas.Unit, blas.NonUnit} {
					both(t, i, "trmm", c, func(g blas.Float64, c []float64) { g.Dtrmm(s, ul, tA, d, m, n, 1.5, a, 26, c, n+gap) })
				}
				// ones on the diagonal and small elements elsewhere keep the inverse small
				small := make([]float64, len(a))
				for j := range a {
					small[j] = a[j] / 16
				}
				both(t, i, "trsm", c, func(g blas.Float64, c []float64) { g.Dtrsm(s, ul, tA, blas.Unit, m, n, 1.5, small, 26, c, n+gap) })
			}
		}
	}
}

// TestGPU compares the results with those of gonum's own code.
func TestGPU(t *testing.T) {
	i := onGPU(t)
	cases(t, i)
	if i.Calls() == 0 {
		t.Error("the GPU did nothing")
	}
}

// TestGPUFloat32 multiplies small integers, whose sums are exact.
func TestGPUFloat32(t *testing.T) {
	i := onGPU(t)
	const n = 50
	a, got, want := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	for j := range a {
		a[j] = float32(j % 7)
	}
	var running sync.WaitGroup
	for range 16 { // goroutines share the GPU
		running.Go(func() {
			c := make([]float32, n*n)
			i.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, a, n, 0, c, n)
		})
	}
	running.Wait()
	i.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, a, n, 0, got, n)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, a, n, 0, want, n)
	for j := range want {
		if got[j] != want[j] {
			t.Fatalf("number %d is %v, want %v", j, got[j], want[j])
		}
	}
}

// TestGPUMoves moves a program that uses package mat with one line.
func TestGPUMoves(t *testing.T) {
	i := onGPU(t)
	a, b := mat.NewDense(60, 70, numbers(4200)), mat.NewDense(70, 50, numbers(3500))
	var want, got mat.Dense
	want.Mul(a, b)
	blas64.Use(i)
	defer blas64.Use(gonum.Implementation{})
	got.Mul(a, b)
	if !mat.EqualApprox(&got, &want, 1e-12) || i.Calls() == 0 {
		t.Errorf("the products differ, or the GPU did nothing (%d calls)", i.Calls())
	}
}

// TestWithout tests the work of the CPU.
func TestWithout(t *testing.T) {
	i := without()
	cases(t, i)
	if i.Calls() != 0 || i.Err() != nil {
		t.Errorf("%d calls, %v", i.Calls(), i.Err())
	}
	defer func() {
		if recover() == nil {
			t.Error("a matrix that does not fit its memory causes no panic")
		}
	}()
	i.Dgemm(blas.NoTrans, blas.NoTrans, 10, 10, 10, 1, make([]float64, 5), 10, make([]float64, 100), 10, 0, make([]float64, 100), 10)
}

func TestParts(t *testing.T) {
	m := matrix[float64]{rows: 2, cols: 2, data: []float64{1, 2, 9, 3, 4}, stride: 3}
	if p := m.packed(); fmt.Sprint(p) != "[1 2 3 4]" || !fits(m) {
		t.Errorf("packed %v", p)
	}
	m.data = m.data[:4]
	if fits(m) {
		t.Error("a matrix fits memory that is too short")
	}
	from, to := triangle(blas.Upper, 5)(2)
	lower, end := triangle(blas.Lower, 5)(2)
	if from != 2 || to != 5 || lower != 0 || end != 3 {
		t.Errorf("triangles: %d %d %d %d", from, to, lower, end)
	}
}

// BenchmarkGPU multiplies matrices that start and end in the program's memory.
func BenchmarkGPU(b *testing.B) {
	i := onGPU(b)
	for _, n := range []int{128, 256, 512, 1024, 4096} {
		x, y := numbers(n*n), make([]float64, n*n)
		for name, impl := range map[string]blas.Float64{"gpu": i, "cpu": gonum.Implementation{}} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, x, n, 0, y, n)
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
		}
	}
}
