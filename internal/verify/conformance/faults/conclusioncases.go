package faults

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed conclusions.go
var conclusionsText string

// conclusionCases are about checks that stand where others, or conditions, seem to make them needless, or that
// seem to be free to change places.
func conclusionCases() []check.Case {
	grid := check.Blocks(3, 5)
	of := func(kernel, mark, message string) device.Fault {
		return fault(kernel, "conclusions.go", mark, message)
	}
	cases := []check.Case{
		{Name: "conclusion: after the end of a loop", Run: func(r *check.Run) {
			x, out := check.Upload[int32](r, 5, 6, 7), check.Make[int32](r, 1)
			r.Launch(Breaks(r.Stream, grid, 4, 0, 3, x, out))
			check.Want(r, out, 0)
			r.Launch(Breaks(r.Stream, grid, 4, 2, 2, x, out))
			check.Want(r, out, 7+7+1)
			r.Launch(Breaks(r.Stream, grid, 4, 2, 3, x, out))
			r.Fault(of("breaks", "breaks", "index out of range [3] with length 3"))
		}},
		{Name: "conclusion: after a float that has settled", Run: func(r *check.Run) {
			x, out := check.Upload[int32](r, 5, 6, 7), check.Make[int32](r, 1)
			r.Launch(Settles(r.Stream, grid, 8, 3, x, out))
			check.Want(r, out, 0)
			r.Launch(Settles(r.Stream, grid, -0.5, 2, x, out))
			check.Want(r, out, 7)
			r.Launch(Settles(r.Stream, grid, -0.5, 3, x, out))
			r.Fault(of("settles", "settles", "index out of range [3] with length 3"))
		}},
		{Name: "conclusion: values may be stored before a mistake", Run: func(r *check.Run) {
			x := check.Make[int32](r, 3)
			r.Launch(Counted(r.Stream, grid, 1, 0, 8, x, check.Make[int32](r, 2)))
			r.Fault(of("counted", "counted 2", "index out of range [8] with length 2"))
			check.Want(r, x, 0, 1, 5)
			r.Launch(Counted(r.Stream, grid, 1, 7, 8, x, check.Make[int32](r, 2)))
			r.Fault(of("counted", "counted 1", "index out of range [7] with length 2"))
			check.Want(r, x, 0, 2, 5)
		}},
		{Name: "conclusion: after a loop without end", Run: afterEndlessLoop},
		{Name: "conclusion: mistakes one after the other", Run: func(r *check.Run) {
			x, y, out := check.Upload[int32](r, 100), check.Make[int32](r, 4), check.Make[int32](r, 2)
			r.Launch(InLine(r.Stream, grid, 8, x, y, out))
			r.Fault(of("inLine", "in line 0", "index out of range [100] with length 4"))
			r.Launch(InLine(r.Stream, grid, 8, y, y, out))
			r.Fault(of("inLine", "in line 1", "index out of range [8] with length 2"))
			r.Launch(InLine(r.Stream, grid, 1, y, y, out))
			check.Want(r, out, 0, 1)
		}},
		{Name: "conclusion: slice that shrinks", Run: func(r *check.Run) {
			r.Launch(Shrinks(r.Stream, grid, check.Make[int32](r, 8), check.Make[int32](r, 1)))
			r.Fault(of("shrinks", "shrinks", "index out of range [2] with length 2"))
		}},
		{Name: "conclusion: one of two conditions", Run: oneOfTwoConditions},
		{Name: "conclusion: index or length", Run: func(r *check.Run) {
			out := check.Make[int32](r, 3)
			r.Launch(Far(r.Stream, grid, 1<<40+5, check.Make[int32](r, 8), out))
			r.Fault(of("far", "far", "index out of range [1099511627781] with length 3"))
			r.Launch(Far(r.Stream, grid, 6, check.Make[int32](r, 8), out))
			r.Fault(of("far", "far", "index out of range [2199023255552] with length 6"))
			check.Want(r, out, 1, 1, 0)
		}},
	}
	for i, c := range []struct {
		a, b, c int
		message string
	}{{1, 7, 8, "index out of range [100] with length 4"}, {0, 7, 8, "index out of range [7] with length 2"}, {0, 0, 8, "index out of range [8] with length 2"}} {
		cases = append(cases, check.Case{Name: fmt.Sprintf("conclusion: mistakes from number %d on", i+1), Run: func(r *check.Run) {
			r.Launch(InOrder(r.Stream, grid, c.a, c.b, c.c, check.Upload[int32](r, 100, 0, 0), check.Make[int32](r, 4), check.Make[int32](r, 2)))
			r.Fault(of("inOrder", fmt.Sprint("in order ", i), c.message))
			again(r)
		}})
	}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7} {
		cases = append(cases, check.Case{Name: "conclusion: sum without sign, of too few", Type: fmt.Sprint(n), Run: func(r *check.Run) {
			r.Launch(Unsigned(r.Stream, grid, 8, check.Make[int32](r, n), check.Make[int32](r, 1)))
			r.Fault(of("unsigned", "unsigned", fmt.Sprintf("index out of range [%d] with length %d", n, n)))
		}})
	}
	return cases
}

func afterEndlessLoop(r *check.Run) {
	rounds, x, out := slices.Repeat([]int32{4, 5}, 32), check.Upload[int32](r, 5, 6, 7), check.Make[int32](r, 64)
	r.Launch(Endless(r.Stream, check.Blocks(2, 32), check.Upload(r, rounds...), x, out))
	check.Want(r, out, slices.Repeat([]int32{10}, 64)...)
	rounds[32+3] = 2
	r.Launch(Endless(r.Stream, check.Blocks(2, 32), check.Upload(r, rounds...), x, out))
	r.Fault(fault("endless", "conclusions.go", "endless", "index out of range [3] with length 3"))
}

func oneOfTwoConditions(r *check.Run) {
	x, out := check.Upload[int32](r, 5, 6, 7), check.Make[int32](r, 1)
	r.Launch(Either(r.Stream, check.Blocks(3, 5), 2, 0, x, out))
	check.Want(r, out, 7)
	r.Launch(Either(r.Stream, check.Blocks(3, 5), 3, 4, x, out))
	r.Fault(fault("either", "conclusions.go", "either", "index out of range [3] with length 3"))
}
