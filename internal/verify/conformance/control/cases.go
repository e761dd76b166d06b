package control

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	small := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 21, 29}
	signed := append([]int64{-1, -2, -3, -4, -50, 1000}, small...)
	return []check.Case{
		check.Fields("loop", Loops, loopAll, small...),
		check.Fields("branch", Branches, branchAll, signed...),
		check.Fields("value", Changes, changeAll, small...),
		check.Fields("order of evaluation", Orders, orderAll, signed...),
		check.Fields("conclusion", Bounds, boundAll, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
		check.Fields("loop that a float ends", Settles, settle, 0, 1, 2.5, 3, -7, 100, 1e5, 1e300, math.Inf(1), math.Inf(-1), math.NaN()),
		{Name: "elements that bits select", Run: picks},
		{Name: "loops in steps", Run: steps},
	}
}
