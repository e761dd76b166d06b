package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// binary holds the arguments of math.Ldexp.
type binary struct {
	Fraction float64
	Exponent int
}

// scaling is what math.Ldexp returns, and what tests as those of math.Exp say of its first argument.
type scaling struct {
	Product                   float64
	Negative, Within, Ordered bool
	Rounded                   int
}

func scaled(b binary) (s scaling) {
	s.Product = math.Ldexp(b.Fraction, b.Exponent)
	s.Negative = b.Fraction == b.Fraction && math.Signbit(s.Product)
	s.Within = -40 < b.Fraction && b.Fraction < 40
	switch {
	case b.Fraction != b.Fraction:
	case b.Fraction > 1e300:
	case b.Fraction < -3:
	default:
		s.Ordered = true
	}
	if s.Within {
		switch {
		case b.Fraction < 0:
			s.Rounded = int(3*b.Fraction - 0.5)
		case b.Fraction > 0:
			s.Rounded = int(3*b.Fraction + 0.5)
		}
	}
	return s
}

//gpu:kernel
//gpu:contract off
func scales(t gpu.Thread, in []binary, out []scaling) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = scaled(in[i])
	}
}

// powers returns numbers of all kinds with powers that leave them as they are, or take them to both ends of the range and beyond.
func powers() (found []binary) {
	numbers := append(reals(), 0x1p-1073, 0x1.8p-1073, -0x1.fffffffffffffp-1023, 0x1.0000000000001p-1022, 0x1.fffffffffffffp-1022, -0x1.8000000000001p0, 0x1.fffffffffffffp0, -40, 40, 1e300)
	for _, x := range numbers {
		for _, n := range []int{0, 1, -1, 52, 53, -52, -53, 1000, -1000, 2200, -2200, 1 << 31, -1 << 31, math.MaxInt64, math.MinInt64} {
			found = append(found, binary{x, n})
		}
		_, e := math.Frexp(x)
		for _, to := range []int{1025, 1024, 1023, 1, 0, -1020, -1021, -1022, -1023, -1072, -1073, -1074, -1075, -1076} {
			found = append(found, binary{x, to - e})
		}
	}
	return found
}
