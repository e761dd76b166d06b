package suite

import (
	"fmt"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// limit is the number of steps after which a point counts as inside.
const limit = 500

// mandelbrot32 stores in counts the number of steps after which each point diverges, for n x n
// points of the square from -2-1.5i to 1+1.5i, row by row.
//
//gpu:kernel
//gpu:block 32,8
func mandelbrot32(t gpu.Thread, counts []int32, n int) {
	px, py := t.GlobalX(), t.GlobalY()
	if px >= n || py >= n {
		return
	}
	cx := -2 + 3*float32(px)/float32(n)
	cy := -1.5 + 3*float32(py)/float32(n)
	var x, y float32
	steps := int32(0)
	for steps < limit && x*x+y*y <= 4 {
		x, y = x*x-y*y+cx, 2*x*y+cy
		steps++
	}
	counts[py*n+px] = steps
}

// mandelbrot64 is like mandelbrot32 in float64.
//
//gpu:kernel
//gpu:block 32,8
func mandelbrot64(t gpu.Thread, counts []int32, n int) {
	px, py := t.GlobalX(), t.GlobalY()
	if px >= n || py >= n {
		return
	}
	cx := -2 + 3*float64(px)/float64(n)
	cy := -1.5 + 3*float64(py)/float64(n)
	var x, y float64
	steps := int32(0)
	for steps < limit && x*x+y*y <= 4 {
		x, y = x*x-y*y+cx, 2*x*y+cy
		steps++
	}
	counts[py*n+px] = steps
}

// newMandelbrot32 prepares a square of n x n points.
func newMandelbrot32(b *harness.Bench, n int) harness.Work {
	return newMandelbrot(b, n, harness.Launch{Name: "mandelbrot32", Launcher: Mandelbrot32}, func(x, y int) int32 {
		return steps(-2+3*float32(x)/float32(n), -1.5+3*float32(y)/float32(n))
	})
}

// newMandelbrot64 prepares a square of n x n points.
func newMandelbrot64(b *harness.Bench, n int) harness.Work {
	return newMandelbrot(b, n, harness.Launch{Name: "mandelbrot64", Launcher: Mandelbrot64}, func(x, y int) int32 {
		return steps(-2+3*float64(x)/float64(n), -1.5+3*float64(y)/float64(n))
	})
}

// newMandelbrot prepares a kernel; want returns a point's steps.
func newMandelbrot(b *harness.Bench, n int, run harness.Launch, want func(x, y int) int32) harness.Work {
	counts := harness.Result[int32](b, n*n, -1)
	run.Grid, run.Args = device.Cover2(n, n, device.Dim{X: 32, Y: 8}), []harness.Argument{counts, harness.ByValue(n)}
	return harness.Work{
		Ours: []harness.Launch{run},
		Best: []harness.Launch{run.Best(run.Grid)},
		Check: func() error {
			return mostly(len(counts.Host), func(i int) bool { return counts.Host[i] == want(i%n, i/n) })
		},
	}
}

// mostly fails where more than 1 in 50 of 0 to n-1, or of many of them, are not right. Points
// near the border leave after another number of steps where a product and a sum are rounded once.
func mostly(n int, right func(i int) bool) error {
	looked := min(n, 1<<20)
	var wrong atomic.Int64
	err := harness.Examine(n, looked, func(i int) error {
		if !right(i) {
			wrong.Add(1)
		}
		return nil
	})
	if w := int(wrong.Load()); w > looked/50 {
		return fmt.Errorf("%d of %d points are wrong", w, looked)
	}
	return err
}

// steps returns after how many steps the point cx+cy*i leaves.
func steps[T harness.Float](cx, cy T) int32 {
	var x, y T
	for n := range int32(limit) {
		if x*x+y*y > 4 {
			return n
		}
		x, y = x*x-y*y+cx, 2*x*y+cy
	}
	return limit
}
