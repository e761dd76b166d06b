package public

import (
	"math"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// gramschmidtNorm stores the norm of column k of an n x n matrix in the diagonal of r. One thread of a block of 256 computes
// the norm. It is the first kernel of PolyBench-GPU's gramschmidt.
//
//gpu:kernel
//gpu:block 256
func gramschmidtNorm(t gpu.Thread, a, r []float32, k, n int) {
	if t.GlobalX() == 0 {
		var norm float32
		for i := range n {
			norm += a[i*n+k] * a[i*n+k]
		}
		r[k*n+k] = math32.Sqrt(norm)
	}
}

// gramschmidtScale stores column k in q, divided by its norm.
//
//gpu:kernel
//gpu:block 256
func gramschmidtScale(t gpu.Thread, a, r, q []float32, k, n int) {
	i := t.GlobalX()
	if i < n {
		q[i*n+k] = a[i*n+k] / r[k*n+k]
	}
}

// gramschmidtProject subtracts from each later column its projection on column k of q. Each thread computes one column.
//
//gpu:kernel
//gpu:block 256
func gramschmidtProject(t gpu.Thread, a, r, q []float32, k, n int) {
	j := t.GlobalX()
	if j > k && j < n {
		r[k*n+j] = 0
		for i := range n {
			r[k*n+j] += q[i*n+k] * a[i*n+j]
		}
		for i := range n {
			a[i*n+j] -= q[i*n+k] * r[k*n+j]
		}
	}
}

// newGramschmidt prepares an n x n matrix with a dominant diagonal, so that rounding errors stay small.
func newGramschmidt(b *harness.Bench, n int) harness.Work {
	host := harness.Random(b, n*n, harness.Uniform[float32])
	for i := range n {
		host[i*n+i] += float32(n)
	}
	first := harness.Input(b, host)
	a, r, q := harness.Scratch[float32](b, n*n), harness.Scratch[float32](b, n*n), harness.Result(b, n*n, harness.NaN[float32]())
	g, size := device.Cover(n, 256), harness.ByValue(n)
	var ls []harness.Launch
	for k := range n {
		column := harness.ByValue(k)
		ls = append(ls, harness.Of("gramschmidtNorm", GramschmidtNorm, device.Cover(1, 256), a, r, column, size),
			harness.Of("gramschmidtScale", GramschmidtScale, g, a, r, q, column, size),
			harness.Of("gramschmidtProject", GramschmidtProject, g, a, r, q, column, size))
	}
	want := sync.OnceValue(func() []float64 { return orthonormal(widened(first.Host), n) })
	return harness.Work{
		Ours:    ls,
		Restore: restore(a, first),
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-4, Scale: 1}, q.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// orthonormal returns the orthonormal columns that the modified process of Gram and Schmidt makes of a's.
func orthonormal(a []float64, n int) []float64 {
	dots := make([]float64, n)
	for k := range n {
		var norm float64
		for i := range n {
			norm += a[i*n+k] * a[i*n+k]
		}
		clear(dots)
		for i := range n {
			a[i*n+k] /= math.Sqrt(norm)
			for j := k + 1; j < n; j++ {
				dots[j] += a[i*n+k] * a[i*n+j]
			}
		}
		for i := range n {
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= a[i*n+k] * dots[j]
			}
		}
	}
	return a
}
