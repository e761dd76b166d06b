package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// hotspotLayers is the number of layers of the chip.
const hotspotLayers = 8

// hotspotWeights are those of a cell's temperature, of its neighbours along each axis, and of its power.
type hotspotWeights struct{ centre, x, y, z, power, ambient float32 }

// hotspot3D computes the temperatures of a chip after a step, from the temperatures before the step and the power of each cell, like
// Rodinia's hotspot3D. A thread of a 64 x 4 block computes its column layer by layer, with three temperatures in
// registers. Neighbours outside the chip have the temperature of the cell itself.
//
//gpu:kernel
//gpu:block 64,4
func hotspot3D(t gpu.Thread, power, from, to []float32, nx, ny, nz int, w hotspotWeights) {
	i, j := t.GlobalX(), t.GlobalY()
	c, layer := i+j*nx, nx*ny
	west, east := c, c
	if i > 0 {
		west = c - 1
	}
	if i < nx-1 {
		east = c + 1
	}
	north, south := c, c
	if j > 0 {
		north = c - nx
	}
	if j < ny-1 {
		south = c + nx
	}
	below, here := from[c], from[c]
	above := from[c+layer]
	for k := 0; k < nz-1; k++ {
		to[c] = w.centre*here + w.x*(from[west]+from[east]) + w.y*(from[north]+from[south]) + w.z*(below+above) +
			w.power*power[c] + w.z*w.ambient
		c, west, east, north, south = c+layer, west+layer, east+layer, north+layer, south+layer
		below, here = here, above
		if k < nz-2 {
			above = from[c+layer]
		}
	}
	to[c] = w.centre*here + w.x*(from[west]+from[east]) + w.y*(from[north]+from[south]) + w.z*(below+above) +
		w.power*power[c] + w.z*w.ambient
}

// newHotspot3D prepares 20 steps of 8 layers of n x n cells; n is a multiple of 64.
func newHotspot3D(b *harness.Bench, n int) harness.Work {
	const steps = 20
	size := n * n * hotspotLayers
	power, first := harness.Input(b, harness.Random(b, size, harness.Uniform[float32])), harness.Input(b, harness.Random(b, size, harness.Between(320, 340)))
	even, odd := harness.Result(b, size, harness.NaN[float32]()), harness.Scratch[float32](b, size)
	w := hotspotWeights{centre: 0.4, x: 0.1, y: 0.1, z: 0.06, power: 0.5, ambient: 80}
	var ls []harness.Launch
	from, to := even, odd
	for range steps {
		ls = append(ls, harness.Of("hotspot3D", Hotspot3D, plane(n, n, device.Dim{X: 64, Y: 4}), power, from, to,
			harness.ByValue(n), harness.ByValue(n), harness.ByValue(hotspotLayers), harness.ByValue(w)))
		from, to = to, from
	}
	want := sync.OnceValue(func() []float64 {
		x := widened(first.Host)
		for range steps {
			x = heated(x, power.Host, n, w)
		}
		return x
	})
	return harness.Work{
		Ours:    ls,
		Restore: restore(even, first),
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 1}, even.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// heated returns the temperatures after a step, in float64.
func heated(x []float64, power []float32, n int, w hotspotWeights) []float64 {
	y := make([]float64, len(x))
	harness.InParallel(len(x), func(_, start, end int) {
		for at := start; at < end; at++ {
			i, j, k := at%n, at/n%n, at/(n*n)
			near := func(dx, dy, dz int) float64 {
				i, j, k := min(max(i+dx, 0), n-1), min(max(j+dy, 0), n-1), min(max(k+dz, 0), hotspotLayers-1)
				return x[(k*n+j)*n+i]
			}
			y[at] = float64(w.centre)*x[at] + float64(w.x)*(near(-1, 0, 0)+near(1, 0, 0)) + float64(w.y)*(near(0, -1, 0)+near(0, 1, 0)) +
				float64(w.z)*(near(0, 0, -1)+near(0, 0, 1)) + float64(w.power)*float64(power[at]) + float64(w.z)*float64(w.ambient)
		}
	})
	return y
}
