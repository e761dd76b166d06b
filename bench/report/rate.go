package report

import (
	"fmt"
	"math/bits"
	"strconv"
)

// balance is roughly the number of floating-point operations per byte of memory traffic that a GPU
// can do. Cases with more operations per byte are measured by their arithmetic.
const balance = 10

// Unit returns the unit in which the case's speed is shown: "GB/s", "TFLOP/s" or, if neither
// applies, a suitable unit of time.
func (r *Result) Unit() string {
	switch {
	case r.Flops > balance*r.Bytes:
		return "TFLOP/s"
	case r.Bytes > 0:
		return "GB/s"
	}
	switch took := r.typical(); {
	case took >= 1:
		return "s"
	case took >= 1e-4:
		return "ms"
	default:
		return "us"
	}
}

// typical returns the first time of the case in seconds.
func (r *Result) typical() float64 {
	for _, m := range r.Measurements {
		if m.Seconds > 0 {
			return m.Seconds
		}
	}
	return 1e-3
}

// In converts the time of a run in seconds to the case's unit.
func (r *Result) In(seconds float64) float64 {
	switch r.Unit() {
	case "TFLOP/s":
		return r.Flops / seconds / 1e12
	case "GB/s":
		return r.Bytes / seconds / 1e9
	case "s":
		return seconds
	case "ms":
		return seconds * 1e3
	default:
		return seconds * 1e6
	}
}

// figure returns a measurement in the case's unit with three or four digits, or "-".
func (r *Result) figure(m *Measurement) string {
	if m == nil {
		return "-"
	}
	return digits(r.In(m.Seconds))
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.01:
		return fmt.Sprintf("%.3f", v)
	default:
		return fmt.Sprintf("%.2g", v)
	}
}

// sizeText formats a size, as a power of two if that is shorter, and 0 as "-".
func sizeText(n int) string {
	if n == 0 {
		return "-"
	}
	if n >= 1024 && bits.OnesCount(uint(n)) == 1 {
		return fmt.Sprintf("2^%d", bits.TrailingZeros(uint(n)))
	}
	return strconv.Itoa(n)
}
