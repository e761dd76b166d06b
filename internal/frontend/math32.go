package frontend

import (
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// approximations are the intrinsics that begin with an approximate instruction of GPUs. A CPU has none of them, and
// calls the Go functions, see Kernel.Host.
var approximations = map[string]intrinsic{
	math32Path + ".Rsqrt":     rsqrt,
	math32Path + ".recip":     safeRecip,
	math32Path + ".root":      safeRoot,
	math32Path + ".FastRcp":   fastRcp,
	math32Path + ".FastSqrt":  float(ir.OpApproxSqrt),
	math32Path + ".FastRsqrt": float(ir.OpApproxRsqrt),
	math32Path + ".FastExp":   fastExp,
	math32Path + ".FastExp2":  float(ir.OpApproxExp2),
	math32Path + ".FastLog":   fastLog,
	math32Path + ".FastLog2":  float(ir.OpApproxLog2),
	math32Path + ".FastPow":   fastPow,
	math32Path + ".FastSin":   float(ir.OpApproxSin),
	math32Path + ".FastCos":   float(ir.OpApproxCos),
	math32Path + ".FastTanh":  float(ir.OpApproxTanh),
	math32Path + ".FastDiv":   float(ir.OpApproxDiv),
}

// Approximates reports whether f contains an approximate operation of GPUs, which a Build with Kernel.Host replaces
// by a Go function.
func Approximates(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op >= ir.OpApproxRcp && v.Op <= ir.OpApproxDiv {
				return true
			}
		}
	}
	return false
}

func (l *lowerer) single(x float32) *ir.Value {
	return l.constant(ir.F32, int64(int32(math.Float32bits(x))))
}

// times is a product that does not become part of an fma.
func (l *lowerer) times(x, y *ir.Value) *ir.Value {
	p := l.emit(ir.OpFMul, ir.F32, x, y)
	p.Imm = 1
	return p
}

func (l *lowerer) fma(x, y, z *ir.Value) *ir.Value { return l.emit(ir.OpFma, ir.F32, x, y, z) }

func (l *lowerer) negate(x *ir.Value) *ir.Value { return l.emit(ir.OpFNeg, ir.F32, x) }

// rsqrt makes the approximation correctly rounded: a step of Newton's method of third order, with
// the error 1 - x*r*r exact up to terms of second order. Of all significands it is right wherever the
// approximation is at most one unit away; two units, which the ISA's bound of 2^-22.9 just allows, would matter for two significands.
func rsqrt(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[0])
	r := l.emit(ir.OpApproxRsqrt, ir.F32, x)
	p := l.times(x, r)
	rest := l.fma(x, r, l.negate(p))
	e := l.fma(l.negate(rest), r, l.fma(l.negate(p), r, l.single(1)))
	h := l.fma(l.times(l.single(0.375), e), e, l.times(l.single(0.5), e))
	y := l.fma(h, r, r)
	// NaN stands for the root of zero, infinity, or what has none: there the approximation is exact.
	return l.emit(ir.OpSelect, ir.F32, l.emit(ir.OpFEq, ir.I1, y, y), y, r)
}

// fastRcp takes one instruction instead of up to seven because it need not handle subnormal numbers.
func fastRcp(l *lowerer, v *ssa.Call) *ir.Value {
	r := l.emit(ir.OpApproxRcp, ir.F32, l.value(v.Call.Args[0]))
	r.Imm = 1
	return r
}

// safeRecip is the reciprocal of a number that is neither very small nor very large.
func safeRecip(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[0])
	r := l.emit(ir.OpApproxRcp, ir.F32, x)
	r.Imm = 1
	return l.fma(r, l.fma(l.negate(x), r, l.single(1)), r)
}

// safeRoot is the square root of such a number.
func safeRoot(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[0])
	r := l.emit(ir.OpApproxRsqrt, ir.F32, x)
	r.Imm = 1
	y := l.times(x, r)
	return l.fma(l.fma(l.negate(y), y, x), l.times(l.single(0.5), r), y)
}

func fastExp(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpApproxExp2, ir.F32, l.times(l.value(v.Call.Args[0]), l.single(math.Log2E)))
}

func fastLog(l *lowerer, v *ssa.Call) *ir.Value {
	return l.times(l.emit(ir.OpApproxLog2, ir.F32, l.value(v.Call.Args[0])), l.single(math.Ln2))
}

func fastPow(l *lowerer, v *ssa.Call) *ir.Value {
	log := l.emit(ir.OpApproxLog2, ir.F32, l.value(v.Call.Args[0]))
	return l.emit(ir.OpApproxExp2, ir.F32, l.times(l.value(v.Call.Args[1]), log))
}
