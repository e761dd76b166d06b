package public

import (
	"fmt"
	"math"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// laplaceSide is the side of a block.
const laplaceSide = 16

// laplace computes a step of Jacobi's iteration for Laplace's equation on an n x n grid, and stores the largest change in each block. It finds the
// largest change in shared memory, by a tree within each column and then a tree within row 0. It is the variant with shared memory of the Laplace
// example in numba's documentation: float64, blocks of 16 x 16 threads, and a tile of the grid with a border of one point.
//
//gpu:kernel
//gpu:block 16,16
func laplace(t gpu.Thread, from, to, changes []float64, n int) {
	tile := gpu.Shared[[laplaceSide + 2][laplaceSide + 2]float64](t)
	change := gpu.Shared[[laplaceSide][laplaceSide]float64](t)
	tx, ty, x, y := t.ThreadX(), t.ThreadY(), t.GlobalX(), t.GlobalY()
	change[ty][tx] = 0
	if x < n && y < n {
		tile[ty+1][tx+1] = from[y*n+x]
		if tx == 0 && x > 0 {
			tile[ty+1][0] = from[y*n+x-1]
		}
		if tx == laplaceSide-1 && x < n-1 {
			tile[ty+1][laplaceSide+1] = from[y*n+x+1]
		}
		if ty == 0 && y > 0 {
			tile[0][tx+1] = from[(y-1)*n+x]
		}
		if ty == laplaceSide-1 && y < n-1 {
			tile[laplaceSide+1][tx+1] = from[(y+1)*n+x]
		}
	}
	t.Sync()
	if x >= 1 && x < n-1 && y >= 1 && y < n-1 {
		v := 0.25 * (tile[ty+1][tx+2] + tile[ty+1][tx] + tile[ty][tx+1] + tile[ty+2][tx+1])
		to[y*n+x] = v
		change[ty][tx] = math.Abs(v - tile[ty+1][tx+1])
	}
	t.Sync()
	for half := laplaceSide / 2; half > 0; half /= 2 {
		if ty < half {
			change[ty][tx] = max(change[ty][tx], change[ty+half][tx])
		}
		t.Sync()
	}
	for half := laplaceSide / 2; half > 0; half /= 2 {
		if tx < half && ty == 0 {
			change[ty][tx] = max(change[ty][tx], change[ty][tx+half])
		}
		t.Sync()
	}
	if tx == 0 && ty == 0 {
		changes[t.BlockY()*t.GridDimX()+t.BlockX()] = change[0][0]
	}
}

// newLaplace prepares four steps on an n x n grid whose points at the border stay as they are.
func newLaplace(b *harness.Bench, n int) harness.Work {
	const steps = 4
	first := harness.Input(b, harness.Random(b, n*n, harness.Uniform[float64]))
	nan := harness.NaN[float64]()
	even, odd := harness.Result(b, n*n, nan), harness.Scratch[float64](b, n*n)
	g := plane(n, n, device.Dim{X: laplaceSide, Y: laplaceSide})
	changes := harness.Result(b, g.Blocks.X*g.Blocks.Y, nan)
	var ls []harness.Launch
	from, to := even, odd
	for range steps {
		ls = append(ls, harness.Of("laplace", Laplace, g, from, to, changes, harness.ByValue(n)))
		from, to = to, from
	}
	want := sync.OnceValues(func() (grid, before []float64) {
		grid = first.Host
		for range steps {
			before, grid = grid, relaxed(grid, n)
		}
		return grid, before
	})
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			if err := restore(even, first)(s); err != nil {
				return err
			}
			return restore(odd, first)(s) // for its border
		},
		Check: func() error {
			grid, before := want()
			if err := harness.Compare(harness.Comparison{Relative: 1e-12, Scale: 1}, even.Host, func(i int) float64 { return grid[i] }); err != nil {
				return err
			}
			var largest, got float64
			for i, v := range grid {
				largest = max(largest, math.Abs(v-before[i]))
			}
			for _, v := range changes.Host {
				got = max(got, v)
			}
			if !(math.Abs(got-largest) <= 1e-12) {
				return fmt.Errorf("the largest change is %v, want %v", got, largest)
			}
			return nil
		},
	}
}

// relaxed returns the grid after a step.
func relaxed(from []float64, n int) []float64 {
	to := append([]float64(nil), from...)
	for y := 1; y < n-1; y++ {
		for x := 1; x < n-1; x++ {
			i := y*n + x
			to[i] = 0.25 * (from[i+1] + from[i-1] + from[i-n] + from[i+n])
		}
	}
	return to
}
