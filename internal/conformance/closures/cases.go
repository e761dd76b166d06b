package closures

import "github.com/gopherwarp/gopherwarp/internal/conformance/check"

// Cases returns the cases of the package.
func Cases() []check.Case {
	return []check.Case{
		check.Fields("function value", Passing, passAll, 0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13),
	}
}
