package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

const warpSize = 32

// BlockBarrier reports whether op is a barrier of the block that also orders its threads' memory accesses, as a plain barrier
// does.
func BlockBarrier(op ir.Op) bool {
	return op == ir.OpBarrier || op == ir.OpBarrierCount || op == ir.OpBarrierAnd || op == ir.OpBarrierOr
}

// WarpOp reports whether the operation synchronizes the threads of a warp, with or without an exchange of
// values.
func WarpOp(op ir.Op) bool {
	switch op {
	case ir.OpWarpBarrier, ir.OpBallot, ir.OpMatch, ir.OpShuffle, ir.OpShuffleUp, ir.OpShuffleDown, ir.OpShuffleXor, ir.OpWarpReduce:
		return true
	}
	return false
}

// sameInWarp reports whether v is computed from the number of the thread in its block, and from nothing in
// it that differs between the threads of a warp.
func sameInWarp(v *ir.Value) bool {
	if len(v.Args) != 2 {
		return false
	}
	x, y := v.Args[0], v.Args[1]
	switch v.Op {
	case ir.OpLShr, ir.OpAShr:
		return isThreadNumber(x) && y.Op == ir.OpConst && y.Imm >= 5 && y.Imm < int64(x.Type.Bits())
	case ir.OpUDiv, ir.OpSDiv:
		return isThreadNumber(x) && y.Op == ir.OpConst && y.Imm > 0 && y.Imm%warpSize == 0
	case ir.OpAnd:
		return isThreadNumber(x) && y.Op == ir.OpConst && y.Imm%warpSize == 0
	case ir.OpSLt, ir.OpULt: // of x < y
		return startsWarp(x, y, 0) || startsWarp(y, x, 1)
	case ir.OpSLe, ir.OpULe:
		return startsWarp(x, y, 1) || startsWarp(y, x, 0)
	}
	return false
}

// startsWarp reports whether x is the number of a thread and y + more that of a warp's first.
func startsWarp(x, y *ir.Value, more int64) bool {
	return isThreadNumber(x) && y.Op == ir.OpConst && (y.Imm+more)%warpSize == 0
}

// isThreadNumber reports whether v is the number of the thread in its block, or as good as that: the low bits
// are those of the lane, and the threads of a warp have all others in common.
func isThreadNumber(v *ir.Value) bool {
	switch v.Op {
	case ir.OpTid:
		b := v.Block.Func.Block
		return v.Imm == 0 && (rowsHoldWarps(v.Block.Func) || b != [3]int{} && b[1] <= 1 && b[2] <= 1)
	case ir.OpSExt, ir.OpZExt:
		return isThreadNumber(v.Args[0])
	case ir.OpTrunc:
		return v.Type.Bits() >= 32 && isThreadNumber(v.Args[0])
	case ir.OpAdd:
		return isRow(v.Args[0]) && isTid(v.Args[1], 0) || isRow(v.Args[1]) && isTid(v.Args[0], 0)
	}
	return false
}

// isRow reports whether v is the number of threads before the thread's row: (z * ny + y) * nx.
func isRow(v *ir.Value) bool {
	v = unextended(v)
	if v.Op != ir.OpMul {
		return false
	}
	n, y := v.Args[0], v.Args[1]
	if !isSize(n, 0) {
		n, y = y, n
	}
	y = unextended(y)
	if !isSize(n, 0) || y.Op != ir.OpAdd {
		return false
	}
	plane, ty := y.Args[0], y.Args[1]
	if !isTid(ty, 1) {
		plane, ty = ty, plane
	}
	plane = unextended(plane)
	if !isTid(ty, 1) || plane.Op != ir.OpMul {
		return false
	}
	a, b := plane.Args[0], plane.Args[1]
	return isTid(a, 2) && isSize(b, 1) || isTid(b, 2) && isSize(a, 1)
}

// rowsHoldWarps reports whether each warp lies in one row of threads along x.
func rowsHoldWarps(f *ir.Func) bool { return f.Block[0] > 0 && f.Block[0]%warpSize == 0 }

func isTid(v *ir.Value, axis int64) bool {
	v = unextended(v)
	return v.Op == ir.OpTid && v.Imm == axis
}

func isSize(v *ir.Value, axis int64) bool {
	v = unextended(v)
	return v.Op == ir.OpNTid && v.Imm == axis
}

func unextended(v *ir.Value) *ir.Value {
	for v.Op == ir.OpSExt || v.Op == ir.OpZExt {
		v = v.Args[0]
	}
	return v
}
