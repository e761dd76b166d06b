package suite

import (
	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// weights are those of a point itself, and of its neighbours that share a face, an edge
// or a corner.
type weights struct{ centre, face, edge, corner float32 }

// stencil7 stores in b the weighted sum of each point of the n x n x n grid a and its six
// neighbours. Points on the grid's faces are copied.
//
//gpu:kernel
//gpu:block 32,4,2
func stencil7(t gpu.Thread, a, b []float32, n int, w weights) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	if x >= n || y >= n || z >= n {
		return
	}
	i := (z*n+y)*n + x
	if x == 0 || y == 0 || z == 0 || x == n-1 || y == n-1 || z == n-1 {
		b[i] = a[i]
		return
	}
	b[i] = w.centre*a[i] + w.face*(a[i-1]+a[i+1]+a[i-n]+a[i+n]+a[i-n*n]+a[i+n*n])
}

// stencil27 is like stencil7 with all 26 neighbours.
//
//gpu:kernel
//gpu:block 32,4,2
func stencil27(t gpu.Thread, a, b []float32, n int, w weights) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	if x >= n || y >= n || z >= n {
		return
	}
	i := (z*n+y)*n + x
	if x == 0 || y == 0 || z == 0 || x == n-1 || y == n-1 || z == n-1 {
		b[i] = a[i]
		return
	}
	var sum float32
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				sum += weight(w, dx*dx+dy*dy+dz*dz) * a[i+(dz*n+dy)*n+dx]
			}
		}
	}
	b[i] = sum
}

// weight returns the weight of a neighbour at a squared distance.
func weight(w weights, distance int) float32 {
	switch distance {
	case 0:
		return w.centre
	case 1:
		return w.face
	case 2:
		return w.edge
	default:
		return w.corner
	}
}

func newStencil7(b *harness.Bench, n int) harness.Work {
	return newStencil(b, n, stencilCase{harness.Launch{Name: "stencil7", Launcher: Stencil7}, Stencil7Best, weights{centre: 0.4, face: 0.1}, 8})
}

func newStencil27(b *harness.Bench, n int) harness.Work {
	return newStencil(b, n, stencilCase{harness.Launch{Name: "stencil27", Launcher: Stencil27}, Stencil27Best, weights{0.2, 0.05, 0.025, 0.025}, 54})
}

type stencilCase struct {
	run   harness.Launch
	tuned any // launcher
	w     weights
	flops float64 // for a point
}

// newStencil prepares an n x n x n grid.
func newStencil(b *harness.Bench, n int, c stencilCase) harness.Work {
	x, y := harness.Input(b, harness.Random(b, n*n*n, harness.Signed)), harness.Result(b, n*n*n, harness.NaN[float32]())
	block := device.Dim{X: 32, Y: 4, Z: 2}
	c.run.Grid = device.Grid{Block: block, Blocks: device.Dim{X: (n + 31) / 32, Y: (n + 3) / 4, Z: (n + 1) / 2}}
	c.run.Args = []harness.Argument{x, y, harness.ByValue(n), harness.ByValue(c.w)}
	quarter := c.run.Grid
	quarter.Blocks.X = (n/4 + 31) / 32
	return harness.Work{
		Bytes: float64(8 * n * n * n),
		Flops: c.flops * float64(n*n*n),
		Ours:  []harness.Launch{c.run},
		Tuned: []harness.Launch{harness.Of(c.run.Name, c.tuned, quarter, harness.As[[4]float32](x), harness.As[[4]float32](y), harness.ByValue(n), harness.ByValue(c.w))},
		Best:  []harness.Launch{c.run.Best(quarter)},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 2e-6, Scale: 1, Most: 1 << 24}, y.Host, func(i int) float64 { return c.w.at(x.Host, n, i) })
		},
	}
}

// at returns the weighted sum of point i of the n x n x n grid and its neighbours, in float64.
func (w weights) at(grid []float32, n, i int) (sum float64) {
	x, y, z := i%n, i/n%n, i/n/n
	if min(x, y, z) == 0 || max(x, y, z) == n-1 {
		return float64(grid[i])
	}
	byDistance := [...]float32{w.centre, w.face, w.edge, w.corner}
	for j := range 27 {
		dx, dy, dz := j%3-1, j/3%3-1, j/9-1
		sum += float64(byDistance[dx*dx+dy*dy+dz*dz]) * float64(grid[i+(dz*n+dy)*n+dx])
	}
	return sum
}
