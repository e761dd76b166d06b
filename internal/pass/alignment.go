package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	wideShared  = 16   // what shared variables of that many bytes and more are aligned to, in every back end
	mostAligned = 1024 // the largest alignment that is of use: that of panels
	alignDepth  = 8    // how many operations alignment looks through
)

// alignment returns a power of two up to mostAligned that v, an integer or an address, is a multiple of.
func alignment(v *ir.Value) int64 { return alignedTo(v, alignDepth) }

func alignedTo(v *ir.Value, depth int) int64 {
	if c, ok := analysis.IntConst(v); ok {
		return lowestBit(c)
	}
	if depth == 0 {
		return 1
	}
	of := func(i int) int64 { return alignedTo(v.Args[i], depth-1) }
	switch v.Op {
	case ir.OpBitcast, ir.OpTrunc, ir.OpZExt, ir.OpSExt:
		return of(0)
	case ir.OpAdd, ir.OpSub, ir.OpOr, ir.OpXor:
		return min(of(0), of(1))
	case ir.OpAnd:
		return max(of(0), of(1))
	case ir.OpMul:
		return min(of(0)*of(1), mostAligned)
	case ir.OpShl:
		if n, ok := analysis.IntConst(v.Args[1]); ok && n >= 0 && n < int64(v.Type.Bits()) {
			return min(of(0)<<min(n, 10), mostAligned)
		}
	case ir.OpVar:
		return variableAlign(v.Aux.(*ir.Variable))
	case ir.OpOffset:
		return min(of(0), lowestBit(v.Imm))
	case ir.OpIndex:
		return min(of(0), lowestBit(v.Imm)*of(1))
	}
	return 1
}

// variableAlign returns what a variable is aligned to.
func variableAlign(x *ir.Variable) int64 {
	if x.Space != ir.Shared {
		return 1
	}
	n := lowestBit(max(1, x.Align))
	if x.Type.Size() >= wideShared {
		n = max(n, wideShared)
	}
	return n
}

// lowestBit returns the largest power of two up to mostAligned that divides n.
func lowestBit(n int64) int64 { return (n | mostAligned) & -(n | mostAligned) }
