package faults

import (
	_ "embed"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed patterns.go
var patternsText string

// patternCases are about 20 numbers, of which the one in the middle is large.
func patternCases() []check.Case {
	var cases []check.Case
	for _, c := range []struct {
		name                string
		kind, n, y, w, mark int
		message             string
	}{
		{"sum in memory by indices", 0, 0, 8, 0, 0, "index out of range [1048576] with length 8"},
		{"sum by indices", 1, 0, 8, 0, 1, "index out of range [1048576] with length 8"},
		{"products, one too few", 2, 0, 19, 0, 2, "index out of range [19] with length 19"},
		{"products, two too few", 2, 0, 18, 0, 2, "index out of range [18] with length 18"},
		{"products, three too few", 2, 0, 17, 0, 2, "index out of range [17] with length 17"},
		{"products, nine too few", 2, 0, 11, 0, 2, "index out of range [11] with length 11"},
		{"first iteration before the slice", 3, 1, 1, 0, 3, "index out of range [-1]"},
		{"last iterations past the end", 3, -2, 1, 0, 3, "index out of range [20] with length 20"},
		{"remainder of a negative number", 4, -1, 1, 0, 4, "index out of range [-1]"},
		{"neighbours at the start", 5, 0, 1, 0, 5, "index out of range [-1]"},
		{"neighbours at the end", 5, 19, 1, 0, 5, "index out of range [20] with length 20"},
		{"neighbours above", 5, 2, 1, 5, 5, "index out of range [-3]"},
		{"neighbours below", 5, 17, 1, 5, 5, "index out of range [22] with length 20"},
		{"three in a row, the last past the end", 6, 18, 1, 0, 6, "index out of range [20] with length 20"},
		{"three in a row, two past the end", 6, 19, 1, 0, 6, "index out of range [20] with length 20"},
		{"three in a row, the first before the slice", 6, -1, 1, 0, 6, "index out of range [-1]"},
		{"every eighth of a quarter", 7, 0, 1, 0, 7, "index out of range [24] with length 20"},
		{"shift by what was without sign", 8, -1, 1, 0, 8, "negative shift amount"},
		{"panic with what a loop leaves", 9, 3, 1, 0, 9, "577"},
		{"down, before another slice", 10, 2, 30, 0, 10, "index out of range [-1]"},
		{"row and the one below", 11, 9, 1, 4, 11, "index out of range [20] with length 20"},
		{"before a row", 11, 0, 1, 4, 11, "index out of range [-1]"},
	} {
		cases = append(cases, check.Case{Name: "pattern: " + c.name, Run: func(r *check.Run) {
			x := make([]int32, 20)
			x[11] = 1 << 20
			out := check.Make[int32](r, 20)
			r.Launch(Patterns(r.Stream, check.Blocks(3, 5), c.kind, c.n, check.Upload(r, x...), check.Make[int32](r, c.y), check.Make[int32](r, c.w), out))
			r.Fault(fault("patterns", "patterns.go", fmt.Sprint("pattern ", c.mark), c.message))
			again(r)
		}})
	}
	return cases
}
