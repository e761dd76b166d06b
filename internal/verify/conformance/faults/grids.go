package faults

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed grids.go
var gridsText string

// neighbours adds the two elements before and after each point of the n x n x n grid a.
//
//gpu:kernel
//gpu:block 1,1,2
func neighbours(t gpu.Thread, a, b []int32, n int) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	if x >= n || y >= n || z >= n || z == 0 || z == n-1 {
		return
	}
	i := (z*n+y)*n + x
	b[i] = a[i-n*n] + a[i+n*n] // neighbours
}

// cells has no more threads than the table has cells, if the launch is right.
//
//gpu:kernel
//gpu:block 4,2
func cells(t gpu.Thread, a, b []int32, width int) {
	i := t.GlobalY()*width + t.GlobalX()
	b[i] = a[i] + 1 // cells
}

// fours adds each fourth element of a row of n, which need not be a multiple of four.
//
//gpu:kernel
//gpu:block 4
func fours(t gpu.Thread, a, b []int32, n int) {
	row, x := t.BlockX(), t.ThreadX()
	var sum int32
	for k := 0; k < n; k += 4 {
		sum += a[row*n+k+x] // fours
	}
	b[row*4+x] = sum + a[row*n]
}

// gridCases are about indices with products of numbers that guards, loops and the size of the grid bound, so that a
// compiler can test at the start what lengths must be: they are, one less, or the products overflow.
func gridCases() []check.Case {
	return []check.Case{
		{Name: "neighbours", Run: func(r *check.Run) { neighboursOf5(r, 125, 125) }},
		{Name: "neighbours, results as far as they go", Run: func(r *check.Run) { neighboursOf5(r, 125, 100) }},
		{Name: "neighbours, one element less", Run: func(r *check.Run) {
			r.Launch(Neighbours(r.Stream, device.Dim{X: 5, Y: 5, Z: 3}, check.Make[int32](r, 124), check.Make[int32](r, 125), 5))
			r.Fault(gridFault("neighbours", "index out of range [124] with length 124", [3]int{4, 4, 1}, [3]int{0, 0, 1}))
			again(r)
		}},
		{Name: "neighbours, an index that wraps around", Run: func(r *check.Run) {
			b := check.Make[int32](r, 4)
			r.Launch(Neighbours(r.Stream, device.Dim{X: 4, Y: 1, Z: 1}, check.Upload[int32](r, 1, 2, 3, 4), b, 1<<32))
			check.Want(r, b, 2, 4, 6, 8)
		}},
		{Name: "neighbours, an index that wraps around beyond a length", Run: func(r *check.Run) {
			r.Launch(Neighbours(r.Stream, device.Dim{X: 1, Y: 2, Z: 1}, check.Make[int32](r, 4), check.Make[int32](r, 4), 1<<32))
			r.Fault(gridFault("neighbours", "index out of range [4294967296] with length 4", [3]int{0, 1, 0}, [3]int{0, 0, 1}))
			again(r)
		}},
		{Name: "cells", Run: func(r *check.Run) {
			b := check.Make[int32](r, 32)
			r.Launch(Cells(r.Stream, device.Dim{X: 2, Y: 2}, check.Upload(r, ascending(32)...), b, 8))
			check.Want(r, b, ascending(33)[1:]...)
		}},
		{Name: "cells, one less", Run: func(r *check.Run) {
			r.Launch(Cells(r.Stream, device.Dim{X: 2, Y: 2}, check.Make[int32](r, 31), check.Make[int32](r, 32), 8))
			r.Fault(gridFault("cells", "index out of range [31] with length 31", [3]int{1, 1}, [3]int{3, 1}))
			again(r)
		}},
		{Name: "fours", Run: func(r *check.Run) {
			b := check.Make[int32](r, 8)
			r.Launch(Fours(r.Stream, device.Dim{X: 2}, check.Upload(r, ascending(14)...), b, 6))
			check.Want(r, b, 4, 6, 8, 10, 22, 24, 26, 28)
		}},
		{Name: "fours, one less", Run: func(r *check.Run) {
			r.Launch(Fours(r.Stream, device.Dim{X: 2}, check.Make[int32](r, 13), check.Make[int32](r, 8), 6))
			r.Fault(gridFault("fours", "index out of range [13] with length 13", [3]int{1}, [3]int{3}))
			again(r)
		}},
	}
}

func neighboursOf5(r *check.Run, as, bs int) {
	b := check.Make[int32](r, bs)
	r.Launch(Neighbours(r.Stream, device.Dim{X: 5, Y: 5, Z: 3}, check.Upload(r, ascending(as)...), b, 5))
	want := make([]int32, bs)
	for i := 25; i < 100; i++ {
		want[i] = int32(2 * i)
	}
	check.Want(r, b, want...)
}

// ascending returns the numbers from 0 to n-1.
func ascending(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

func gridFault(kernel, message string, block, thread [3]int) device.Fault {
	return device.Fault{Kernel: kernel, File: "grids.go", Line: check.Line(gridsText, kernel), Message: message, Block: block, Thread: thread}
}
