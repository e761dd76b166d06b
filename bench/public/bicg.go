package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// bicgColumns stores the product of a transposed n x n matrix and r. Each thread computes one column, in blocks of
// 256. It is the first kernel of PolyBench-GPU's bicg.
//
//gpu:kernel
//gpu:block 256
func bicgColumns(t gpu.Thread, a, r, s []float32, n int) {
	j := t.GlobalX()
	if j < n {
		s[j] = 0
		for i := range n {
			s[j] += a[i*n+j] * r[i]
		}
	}
}

// bicgRows stores the product of a and p. Each thread computes one row. It is the second kernel of PolyBench-GPU's bicg.
//
//gpu:kernel
//gpu:block 256
func bicgRows(t gpu.Thread, a, p, q []float32, n int) {
	i := t.GlobalX()
	if i < n {
		q[i] = 0
		for j := range n {
			q[i] += a[i*n+j] * p[j]
		}
	}
}

// newBICG prepares an n x n matrix.
func newBICG(b *harness.Bench, n int) harness.Work {
	a := harness.Input(b, harness.Random(b, n*n, harness.Uniform[float32]))
	r, p := harness.Input(b, harness.Random(b, n, harness.Uniform[float32])), harness.Input(b, harness.Random(b, n, harness.Uniform[float32]))
	s, q := harness.Result(b, n, harness.NaN[float32]()), harness.Result(b, n, harness.NaN[float32]())
	g, size := device.Cover(n, 256), harness.ByValue(n)
	want := sync.OnceValues(func() (s, q []float64) { return columns(a.Host, widened(r.Host)), rows(a.Host, widened(p.Host)) })
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("bicgColumns", BicgColumns, g, a, r, s, size),
			harness.Of("bicgRows", BicgRows, g, a, p, q, size),
		},
		Check: func() error {
			wantS, wantQ := want()
			c := harness.Comparison{Relative: 1e-4}
			if err := harness.Compare(c, s.Host, func(i int) float64 { return wantS[i] }); err != nil {
				return err
			}
			return harness.Compare(c, q.Host, func(i int) float64 { return wantQ[i] })
		},
	}
}
