package analysis

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Signs holds whether a float may be negative or positive. Every float may also be NaN or a zero of
// either sign.
type Signs struct{ Below, Above bool }

// maxSigned is how many operations SignsOf follows.
const maxSigned = 6

// SignsOf returns the possible signs of the float v.
func SignsOf(v *ir.Value) Signs { return signs(v, maxSigned) }

func signs(v *ir.Value, depth int) Signs {
	if depth == 0 {
		return Signs{true, true}
	}
	arg := func(i int) Signs { return signs(v.Args[i], depth-1) }
	switch v.Op {
	case ir.OpConst:
		x := math.Float64frombits(uint64(v.Imm))
		if v.Type.Kind == ir.KindF32 {
			x = float64(math.Float32frombits(uint32(v.Imm)))
		}
		return Signs{x < 0, x > 0}
	case ir.OpFNeg:
		return arg(0).negated()
	case ir.OpFAbs, ir.OpFSqrt, ir.OpUToF:
		return Signs{false, true}
	case ir.OpFMul, ir.OpFma:
		s := signsOfProduct(v.Args[0], v.Args[1], depth-1)
		if v.Op == ir.OpFma {
			s = s.or(arg(2))
		}
		return s
	case ir.OpFAdd:
		return arg(0).or(arg(1))
	case ir.OpFSub:
		return arg(0).or(arg(1).negated())
	case ir.OpSelect:
		return arg(1).or(arg(2))
	case ir.OpFExt, ir.OpFRound, ir.OpFFloor, ir.OpFCeil, ir.OpFTrunc, ir.OpFRint:
		return arg(0)
	}
	return Signs{true, true}
}

// signsOfProduct knows squares, also where they have a factor: c*x*x has the sign of c.
func signsOfProduct(x, y *ir.Value, depth int) Signs {
	if x == y {
		return Signs{false, true}
	}
	for _, p := range [2][2]*ir.Value{{x, y}, {y, x}} {
		if p[0].Op != ir.OpFMul {
			continue
		}
		for i, a := range p[0].Args {
			if a == p[1] {
				return signs(p[0].Args[1-i], depth-1)
			}
		}
	}
	a, b := signs(x, depth), signs(y, depth)
	return Signs{a.Below && b.Above || a.Above && b.Below, a.Below && b.Below || a.Above && b.Above}
}

func (s Signs) negated() Signs { return Signs{s.Above, s.Below} }

func (s Signs) or(t Signs) Signs { return Signs{s.Below || t.Below, s.Above || t.Above} }
