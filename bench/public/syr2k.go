package public

import (
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// syr2k stores alpha*(a*b' + b*a') + beta*c in c, where b' is the transpose of the n x n matrix b. It is the
// kernel of PolyBench-GPU's syr2k, with a thread for each element and blocks of 32 x 8.
//
//gpu:kernel
//gpu:block 32,8
func syr2k(t gpu.Thread, a, b, c []float32, alpha, beta float32, n int) {
	j, i := t.GlobalX(), t.GlobalY()
	if i < n && j < n {
		c[i*n+j] *= beta
		for k := range n {
			c[i*n+j] += alpha*a[i*n+k]*b[j*n+k] + alpha*b[i*n+k]*a[j*n+k]
		}
	}
}

// newSYR2K prepares n x n matrices.
func newSYR2K(b *harness.Bench, n int) harness.Work {
	const alpha, beta = 1.5, 0.75
	x, y := harness.Input(b, harness.Random(b, n*n, harness.Signed)), harness.Input(b, harness.Random(b, n*n, harness.Signed))
	first, c := harness.Input(b, harness.Random(b, n*n, harness.Signed)), harness.Result(b, n*n, harness.NaN[float32]())
	return harness.Work{
		Ours: []harness.Launch{harness.Of("syr2k", Syr2k, plane(n, n, device.Dim{X: 32, Y: 8}), x, y, c,
			harness.ByValue(float32(alpha)), harness.ByValue(float32(beta)), harness.ByValue(n))},
		Restore: restore(c, first),
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: math.Sqrt(float64(n)), Most: 1 << 14}, c.Host, func(at int) float64 {
				i, j, sum := at/n, at%n, beta*float64(first.Host[at])
				for k := range n {
					sum += alpha * (float64(x.Host[i*n+k])*float64(y.Host[j*n+k]) + float64(y.Host[i*n+k])*float64(x.Host[j*n+k]))
				}
				return sum
			})
		},
	}
}
