package words

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	return slices.Concat(printCases(), randomCases(), launchCases())
}
