package faults

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed columns.go
var columnsText string

// nearest stores for each point of a grid the one at its lower left, or the point of the grid that is nearest to that.
//
//gpu:kernel
//gpu:block 4,2
func nearest(t gpu.Thread, a, b []int32, width, height int) {
	x, y := t.GlobalX(), t.GlobalY()
	left, below := min(max(x-1, 0), width-1), max(min(y+1, height-1), 0)
	b[y*width+x] = a[below*width+left] // nearest
}

// columns walks through the layers of a grid. It stores for each point the sum of the neighbours before it along two axes, or
// of the point itself where there is none; in the last layer, their product.
//
//gpu:kernel
//gpu:block 4
func columns(t gpu.Thread, a, b []int32, width, height, layers int) {
	x, y := t.GlobalX(), t.GlobalY()
	c, layer := y*width+x, width*height
	west, north := c, c
	if x > 0 {
		west = c - 1
	}
	if y > 0 {
		north = c - width
	}
	for range layers - 1 {
		b[c] = a[west] + a[north]
		c, west, north = c+layer, west+layer, north+layer
	}
	b[c] = a[west] * a[north] // columns
}

// columnCases are about indices that are clamped, chosen by a condition, or grow by a product in each iteration, so that a
// compiler can test at the start what lengths must be: they are, less, or the numbers are none of a grid.
func columnCases() []check.Case {
	return []check.Case{
		{Name: "nearest", Run: func(r *check.Run) { nearestOf32(r, 32) }},
		{Name: "nearest, without the last element, which is nearest to none", Run: func(r *check.Run) { nearestOf32(r, 31) }},
		{Name: "nearest, one result less", Run: func(r *check.Run) {
			r.Launch(Nearest(r.Stream, device.Dim{X: 2, Y: 2}, check.Make[int32](r, 32), check.Make[int32](r, 31), 8, 4))
			r.Fault(columnFault("nearest", "index out of range [31] with length 31", [3]int{1, 1}, [3]int{3, 1}))
			again(r)
		}},
		{Name: "nearest, no columns", Run: func(r *check.Run) {
			r.Launch(Nearest(r.Stream, device.Dim{X: 1, Y: 1}, check.Make[int32](r, 32), check.Make[int32](r, 32), 0, 4))
			r.FaultOfAny(columnFault("nearest", "index out of range [-1]", [3]int{}, [3]int{}))
			again(r)
		}},
		{Name: "nearest, less than no rows", Run: func(r *check.Run) {
			b := check.Make[int32](r, 8)
			r.Launch(Nearest(r.Stream, device.Dim{X: 1, Y: 1}, check.Upload(r, ascending(8)...), b, 4, -7))
			check.Want(r, b, 0, 0, 1, 2, 0, 0, 1, 2)
		}},
		{Name: "columns", Run: func(r *check.Run) {
			b := check.Make[int32](r, 24)
			r.Launch(Columns(r.Stream, device.Dim{X: 1, Y: 2}, check.Upload(r, ascending(24)...), b, 4, 2, 3))
			check.Want(r, b, 0, 1, 3, 5, 4, 5, 7, 9, 16, 17, 19, 21, 20, 21, 23, 25, 256, 16*17, 17*18, 18*19, 20*16, 20*17, 21*18, 22*19)
		}},
		{Name: "columns, one layer", Run: func(r *check.Run) {
			b := check.Make[int32](r, 4)
			r.Launch(Columns(r.Stream, device.Dim{X: 1, Y: 1}, check.Upload(r, ascending(4)...), b, 4, 1, 1))
			check.Want(r, b, 0, 0, 2, 6)
		}},
		{Name: "columns, one result less", Run: func(r *check.Run) {
			r.Launch(Columns(r.Stream, device.Dim{X: 1, Y: 2}, check.Make[int32](r, 24), check.Make[int32](r, 23), 4, 2, 3))
			r.Fault(columnFault("columns", "index out of range [23] with length 23", [3]int{0, 1}, [3]int{3}))
			again(r)
		}},
		{Name: "columns, layers that wrap around to nothing", Run: func(r *check.Run) {
			b := check.Make[int32](r, 4)
			r.Launch(Columns(r.Stream, device.Dim{X: 1, Y: 1}, check.Upload(r, ascending(4)...), b, 1<<62, 4, 3))
			check.Want(r, b, 0, 0, 2, 6)
		}},
	}
}

// nearestOf32 runs nearest for 8 x 4 points, of which the first n are there.
func nearestOf32(r *check.Run, n int) {
	b := check.Make[int32](r, 32)
	r.Launch(Nearest(r.Stream, device.Dim{X: 2, Y: 2}, check.Upload(r, ascending(n)...), b, 8, 4))
	want := make([]int32, 32)
	for i := range want {
		x, y := i%8, i/8
		want[i] = int32(min(y+1, 3)*8 + max(x-1, 0))
	}
	check.Want(r, b, want...)
}

func columnFault(kernel, message string, block, thread [3]int) device.Fault {
	return device.Fault{Kernel: kernel, File: "columns.go", Line: check.Line(columnsText, kernel), Message: message, Block: block, Thread: thread}
}
