package trial

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Bounded reports whether the trial computes error bounds for its floats.
func (t *Trial) Bounded() bool {
	for _, a := range t.Args {
		if a.Bound > 0 {
			return true
		}
	}
	return false
}

// A Deviation is how far the floats of two results are apart.
type Deviation struct {
	Wrong    string // what is outside its bound, or ""
	Compared int    // floats that have a finite bound
	Changed  int    // of these, those that differ
}

// Within compares got with want, where got's code may have fused products and sums. Each is at most its bound from the exact
// result, so they differ by at most the sum of the bounds. Those of want count for both: a bound hardly depends on rounding.
func (t *Trial) Within(want, got Result) (d Deviation) {
	if want.Fault != got.Fault || want.Printed != got.Printed {
		d.Wrong = fmt.Sprintf("%q and %q, want %q and %q", got.Fault, got.Printed, want.Fault, want.Printed)
		return d
	}
	n := 0
	for _, a := range t.Args {
		if a.Bound > 0 {
			bounds := want.Data[a.Bound-1]
			d.compare(scalars[a.Layout], [3][]byte{want.Data[n], got.Data[n], bounds})
		}
		if a.Len > 0 {
			n++
		}
	}
	return d
}

// compare adds the floats of a slice: what is wanted of it, what it is, and the bounds.
func (d *Deviation) compare(kind dtype.Type, data [3][]byte) {
	size := kind.Size()
	for i := range len(data[0]) / size {
		want, got := floatOf(kind, data[0][i*size:]), floatOf(kind, data[1][i*size:])
		bound := 2 * floatOf(dtype.Float64, data[2][8*i:])
		if !(bound < math.Inf(1)) {
			continue
		}
		d.Compared++
		if want != got {
			d.Changed++
		}
		if off := math.Abs(want - got); !(off <= bound*(1+1e-9)) && d.Wrong == "" {
			d.Wrong = fmt.Sprintf("float %d is %v, want %v and at most %.3g off", i, got, want, bound)
		}
	}
}

// floatOf returns the float32 or float64 at the start of b.
func floatOf(kind dtype.Type, b []byte) float64 {
	bits := get(b, kind.Size())
	if kind == dtype.Float32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}
