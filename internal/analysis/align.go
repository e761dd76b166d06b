package analysis

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Aligned is the alignment of large variables and, in aligned variants, of slices. It is the width
// of a thread's widest access.
const Aligned = 16

// Alignment holds the powers of two that are known to divide the integers and addresses of a
// function.
type Alignment struct {
	zeros []int // by value ID: lower bits that are known to be zero
}

// NewAlignment computes the alignments in the function that dom belongs to. Its pointer parameters
// are multiples of params.
func NewAlignment(dom *ir.Dom, params int64) *Alignment {
	f := dom.Order()[0].Func
	a := &Alignment{zeros: make([]int, f.NumValues())}
	for i := range a.zeros {
		a.zeros[i] = 63 // until something says less
	}
	for _, p := range f.Params {
		a.zeros[p.ID] = 0
		if p.Type.IsPtr() {
			a.zeros[p.ID] = bits.TrailingZeros64(uint64(params))
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range dom.Order() {
			for _, v := range b.Values {
				if z := min(a.zeros[v.ID], a.transfer(v)); z != a.zeros[v.ID] {
					a.zeros[v.ID], changed = z, true
				}
			}
		}
	}
	return a
}

// Of returns the largest power of two, up to 4096, that is known to divide v.
func (a *Alignment) Of(v *ir.Value) int64 { return 1 << min(a.zeros[v.ID], 12) }

func (a *Alignment) transfer(v *ir.Value) int {
	return LowZeros(v, func(x *ir.Value) int { return a.zeros[x.ID] })
}

// LowZeros returns how many lower bits of v, an integer or an address, are zero if its arguments have as many of them as of returns.
func LowZeros(v *ir.Value, of func(x *ir.Value) int) int {
	arg := func(i int) int { return of(v.Args[i]) }
	switch v.Op {
	case ir.OpConst:
		return trailing(v.Imm)
	case ir.OpAdd, ir.OpSub, ir.OpOr, ir.OpXor:
		return min(arg(0), arg(1))
	case ir.OpAnd:
		return max(arg(0), arg(1))
	case ir.OpMul:
		return min(arg(0)+arg(1), 63)
	case ir.OpShl:
		if c := v.Args[1]; c.Op == ir.OpConst && c.Imm >= 0 && c.Imm < 64 {
			return min(arg(0)+int(c.Imm), 63)
		}
		return arg(0)
	case ir.OpZExt, ir.OpSExt, ir.OpTrunc:
		return arg(0)
	case ir.OpBitcast:
		if v.Type.IsPtr() == v.Args[0].Type.IsPtr() {
			return arg(0)
		}
	case ir.OpSelect:
		return min(arg(1), arg(2))
	case ir.OpPhi:
		z := 63
		for i := range v.Args {
			z = min(z, arg(i))
		}
		return z
	case ir.OpAlloca:
		return trailing(v.Aux.(*ir.Type).Align())
	case ir.OpVar:
		return trailing(VariableAlign(v.Aux.(*ir.Variable)))
	case ir.OpPeer: // blocks have their shared memory at the same addresses, but for multiples of more than Aligned
		return min(arg(0), trailing(Aligned))
	case ir.OpOffset:
		return min(arg(0), trailing(v.Imm))
	case ir.OpIndex:
		return min(arg(0), arg(1)+trailing(v.Imm))
	}
	return 0
}

func trailing(x int64) int { return min(bits.TrailingZeros64(uint64(x)), 63) }

// VariableAlign returns the alignment that a variable must be given. A shared variable of size 0 is dynamic shared memory.
func VariableAlign(v *ir.Variable) int64 {
	if v.Type.Size() >= Aligned || v.Space == ir.Shared && v.Type.Size() == 0 {
		return max(Aligned, v.Align)
	}
	return v.Type.Align()
}
