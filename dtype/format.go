package dtype

import (
	"fmt"
	"math"
	"strconv"
)

// shortest returns f with the fewest digits for which back reports that the value converts to the
// same number.
func shortest(f float64, back func(float64) bool) string {
	if math.IsNaN(f) {
		return "NaN"
	}
	for digits := 1; ; digits++ {
		s := strconv.FormatFloat(f, 'g', digits, 64)
		if x, err := strconv.ParseFloat(s, 64); err == nil && back(x) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
}

// format formats the number f. text returns its shortest form.
func format(s fmt.State, verb rune, f float64, text func() string) {
	if _, precise := s.Precision(); !precise && (verb == 'v' || verb == 'g') && !math.IsInf(f, 0) && f == f {
		if f, _ = strconv.ParseFloat(text(), 64); verb == 'v' {
			verb = 'g'
		}
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), f)
}
