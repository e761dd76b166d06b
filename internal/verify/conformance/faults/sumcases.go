package faults

import (
	_ "embed"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed sums.go
var sumsText string

// sumCases let three blocks read rows of x and y, of which x is as long as it has to be, and one number shorter.
func sumCases() []check.Case {
	type launcher = func(s *device.Stream, g device.Grid, x, y, width, out device.Slice[int32]) error
	var cases []check.Case
	for _, c := range []struct {
		name, kernel, mark string
		launch             launcher
		threads, n         int // of a block; width
		needs              int // length of x
		thread             int // that needs it
		want               [3]int32
	}{
		{"row of a block", "rowOfBlock", "row of block", RowOfBlock, 1, 4, 12, 0, [3]int32{10 * 6, 10 * 22, 10 * 38}},
		{"row of a block, one number", "rowOfBlock", "row of block", RowOfBlock, 1, 1, 3, 0, [3]int32{0, 10, 20}},
		{"row that has at least one number", "atLeastOnce", "at least once", AtLeastOnce, 1, 0, 1, 0, [3]int32{0, 0, 0}},
		{"every fourth number of a row", "everyFourth", "every fourth", EveryFourth, 1, 8, 21, 0, [3]int32{4, 20, 36}},
		{"row from its end", "reversed", "reversed", Reversed, 1, 3, 10, 0, [3]int32{17, 38, 59}},
		{"numbers past a row", "pastRow", "past a row", PastRow, 4, 3, 10, 3, [3]int32{3, 6, 9}},
		{"end of a row", "endOfRow", "end of row", EndOfRow, 4, 3, 9, 2, [3]int32{2, 5, 8}},
	} {
		cases = append(cases, check.Case{Name: "sum of products: " + c.name, Run: func(r *check.Run) {
			x := make([]int32, c.needs)
			for i := range x {
				x[i] = int32(i)
			}
			last := 2
			if c.n == 0 {
				last = 0 // all blocks would read the same number
			}
			grid := check.Blocks(last+1, c.threads)
			in, zeros, width, out := check.Upload(r, x...), check.Make[int32](r, 40), check.Make[int32](r, c.n), check.Make[int32](r, 3)
			r.Launch(c.launch(r.Stream, grid, in, zeros, width, out))
			check.Want(r, out, c.want[:]...)
			less := c.needs - 1
			r.Launch(c.launch(r.Stream, grid, in.Slice(0, less), zeros, width, out))
			f := fault(c.kernel, "sums.go", c.mark, fmt.Sprintf("index out of range [%d] with length %d", less, less))
			f.Block, f.Thread = [3]int{last}, [3]int{c.thread}
			r.Fault(f)
			again(r)
		}})
	}
	return cases
}
