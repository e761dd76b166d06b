package public

import (
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// gaussianColumn stores in m the factors of column k for the rows below row k: Fan1 of Rodinia's gaussian, with blocks
// of 512 threads.
//
//gpu:kernel
//gpu:block 512
func gaussianColumn(t gpu.Thread, m, a []float32, n, k int) {
	i := t.GlobalX()
	if i >= n-1-k {
		return
	}
	m[n*(i+k+1)+k] = a[n*(i+k+1)+k] / a[n*k+k]
}

// gaussianRows subtracts multiples of row k from the rows below it: Fan2 of Rodinia's gaussian, with blocks of
// 4 x 4 threads.
//
//gpu:kernel
//gpu:block 4,4
func gaussianRows(t gpu.Thread, m, a, b []float32, n, k int) {
	x, y := t.GlobalX(), t.GlobalY()
	if x >= n-1-k || y >= n-k {
		return
	}
	a[n*(x+1+k)+y+k] -= m[n*(x+1+k)+k] * a[n*k+y+k]
	if y == 0 {
		b[x+1+k] -= m[n*(x+1+k)+k] * b[k]
	}
}

// newGaussian prepares a system of n equations with a dominant diagonal.
func newGaussian(b *harness.Bench, n int) harness.Work {
	firstA := harness.Input(b, harness.Random(b, n*n, func(r *rand.Rand, i int) float32 {
		if i%n == i/n {
			return float32(n)
		}
		return harness.Signed(r, i)
	}))
	firstB := harness.Input(b, harness.Random(b, n, harness.Signed))
	m, a, y := harness.Scratch[float32](b, n*n), harness.Result(b, n*n, harness.NaN[float32]()), harness.Result(b, n, harness.NaN[float32]())
	var ls []harness.Launch
	for k := range n - 1 {
		size, column := harness.ByValue(n), harness.ByValue(k)
		ls = append(ls, harness.Of("gaussianColumn", GaussianColumn, device.Cover(n, 512), m, a, size, column),
			harness.Of("gaussianRows", GaussianRows, plane(n, n, device.Dim{X: 4, Y: 4}), m, a, y, size, column))
	}
	want := sync.OnceValues(func() (a, b []float64) { return eliminated(widened(firstA.Host), widened(firstB.Host)) })
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			if err := restore(a, firstA)(s); err != nil {
				return err
			}
			return restore(y, firstB)(s)
		},
		Check: func() error {
			wantA, wantB := want()
			c := harness.Comparison{Relative: 1e-4, Scale: 1}
			if err := harness.Compare(c, y.Host, func(i int) float64 { return wantB[i] }); err != nil {
				return err
			}
			return harness.Compare(c, a.Host, func(i int) float64 { return wantA[i] })
		},
	}
}

// eliminated returns the upper triangular system that elimination makes of a system.
func eliminated(a, b []float64) (upper, right []float64) {
	n := len(b)
	for k := range n - 1 {
		for row := k + 1; row < n; row++ {
			f := a[row*n+k] / a[k*n+k]
			for col := k; col < n; col++ {
				a[row*n+col] -= f * a[k*n+col]
			}
			b[row] -= f * b[k]
		}
	}
	return a, b
}
