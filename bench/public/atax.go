package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// ataxRows stores the product of an n x n matrix and x. Each thread computes one row, in blocks of 256. It is the first
// kernel of PolyBench-GPU's atax.
//
//gpu:kernel
//gpu:block 256
func ataxRows(t gpu.Thread, a, x, product []float32, n int) {
	i := t.GlobalX()
	if i < n {
		product[i] = 0
		for j := range n {
			product[i] += a[i*n+j] * x[j]
		}
	}
}

// ataxColumns stores in y the product of the transpose of a and the result of ataxRows. Each thread computes one column. It
// is the second kernel of PolyBench-GPU's atax.
//
//gpu:kernel
//gpu:block 256
func ataxColumns(t gpu.Thread, a, product, y []float32, n int) {
	j := t.GlobalX()
	if j < n {
		y[j] = 0
		for i := range n {
			y[j] += a[i*n+j] * product[i]
		}
	}
}

// newATAX prepares an n x n matrix.
func newATAX(b *harness.Bench, n int) harness.Work {
	a, x := harness.Input(b, harness.Random(b, n*n, harness.Uniform[float32])), harness.Input(b, harness.Random(b, n, harness.Uniform[float32]))
	product, y := harness.Result(b, n, harness.NaN[float32]()), harness.Result(b, n, harness.NaN[float32]())
	g, size := device.Cover(n, 256), harness.ByValue(n)
	want := sync.OnceValue(func() []float64 { return columns(a.Host, rows(a.Host, widened(x.Host))) })
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("ataxRows", AtaxRows, g, a, x, product, size),
			harness.Of("ataxColumns", AtaxColumns, g, a, product, y, size),
		},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-4}, y.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// rows returns the product of a square matrix and x in float64.
func rows(a []float32, x []float64) []float64 {
	n, y := len(x), make([]float64, len(x))
	harness.InParallel(n, func(_, start, end int) {
		for i := start; i < end; i++ {
			for j, v := range x {
				y[i] += float64(a[i*n+j]) * v
			}
		}
	})
	return y
}

// columns returns the product of a transposed square matrix and x in float64.
func columns(a []float32, x []float64) []float64 {
	n, y := len(x), make([]float64, len(x))
	for i, v := range x {
		for j := range y {
			y[j] += float64(a[i*n+j]) * v
		}
	}
	return y
}
