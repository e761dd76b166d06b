package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// fdtdEY updates the electric field along y, and sets row 0 to source[step]. It is the first kernel of PolyBench-GPU's
// fdtd2d (Yee 1966), with a thread for each point and blocks of 32 x 8. The fields ex, ey and hz have n x (n+1),
// (n+1) x n and n x n points.
//
//gpu:kernel
//gpu:block 32,8
func fdtdEY(t gpu.Thread, source, ey, hz []float32, step, n int) {
	j, i := t.GlobalX(), t.GlobalY()
	if i < n && j < n {
		if i == 0 {
			ey[i*n+j] = source[step]
		} else {
			ey[i*n+j] -= 0.5 * (hz[i*n+j] - hz[(i-1)*n+j])
		}
	}
}

// fdtdEX updates the electric field along x.
//
//gpu:kernel
//gpu:block 32,8
func fdtdEX(t gpu.Thread, ex, hz []float32, n int) {
	j, i := t.GlobalX(), t.GlobalY()
	if i < n && j < n && j > 0 {
		ex[i*(n+1)+j] -= 0.5 * (hz[i*n+j] - hz[i*n+j-1])
	}
}

// fdtdHZ updates the magnetic field.
//
//gpu:kernel
//gpu:block 32,8
func fdtdHZ(t gpu.Thread, ex, ey, hz []float32, n int) {
	j, i := t.GlobalX(), t.GlobalY()
	if i < n && j < n {
		hz[i*n+j] -= 0.7 * (ex[i*(n+1)+j+1] - ex[i*(n+1)+j] + ey[(i+1)*n+j] - ey[i*n+j])
	}
}

// newFDTD2D prepares 20 time steps of n x n points.
func newFDTD2D(b *harness.Bench, n int) harness.Work {
	const steps = 20
	source := harness.Input(b, harness.Random(b, steps, harness.Uniform[float32]))
	firstEX, firstEY := harness.Input(b, harness.Random(b, n*(n+1), harness.Uniform[float32])), harness.Input(b, harness.Random(b, n*(n+1), harness.Uniform[float32]))
	firstHZ := harness.Input(b, harness.Random(b, n*n, harness.Uniform[float32]))
	ex, ey := harness.Scratch[float32](b, n*(n+1)), harness.Scratch[float32](b, n*(n+1))
	hz := harness.Result(b, n*n, harness.NaN[float32]())
	g, size := plane(n, n, device.Dim{X: 32, Y: 8}), harness.ByValue(n)
	var ls []harness.Launch
	for step := range steps {
		ls = append(ls, harness.Of("fdtdEY", FdtdEY, g, source, ey, hz, harness.ByValue(step), size),
			harness.Of("fdtdEX", FdtdEX, g, ex, hz, size), harness.Of("fdtdHZ", FdtdHZ, g, ex, ey, hz, size))
	}
	want := sync.OnceValue(func() []float64 {
		f := fields{widened(firstEX.Host), widened(firstEY.Host), widened(firstHZ.Host)}
		for _, v := range source.Host {
			f.step(float64(v), n)
		}
		return f.hz
	})
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			for _, a := range [][2]*harness.Array[float32]{{ex, firstEX}, {ey, firstEY}, {hz, firstHZ}} {
				if err := restore(a[0], a[1])(s); err != nil {
					return err
				}
			}
			return nil
		},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-4, Scale: 1}, hz.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// fields are the electric and magnetic fields in float64.
type fields struct{ ex, ey, hz []float64 }

// step advances the fields by a time step.
func (f fields) step(source float64, n int) {
	for i := range n {
		for j := range n {
			if i == 0 {
				f.ey[j] = source
			} else {
				f.ey[i*n+j] -= 0.5 * (f.hz[i*n+j] - f.hz[(i-1)*n+j])
			}
			if j > 0 {
				f.ex[i*(n+1)+j] -= 0.5 * (f.hz[i*n+j] - f.hz[i*n+j-1])
			}
		}
	}
	for i := range n {
		for j := range n {
			f.hz[i*n+j] -= 0.7 * (f.ex[i*(n+1)+j+1] - f.ex[i*(n+1)+j] + f.ey[(i+1)*n+j] - f.ey[i*n+j])
		}
	}
}
