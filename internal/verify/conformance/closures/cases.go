package closures

import "github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"

// Cases returns the cases of the package.
func Cases() []check.Case {
	small := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13}
	return []check.Case{
		check.Fields("function value", Passing, passAll, small...),
		check.Fields("defer", Deferring, deferAll, small...),
		check.Fields("string", Texts, textAll, small...),
	}
}
