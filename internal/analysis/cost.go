package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

// iterations is the trip count that Cost assumes for every loop, and maxDepth the depth of nested loops from
// which on it assumes one iteration.
const (
	iterations = 8
	maxDepth   = 4
)

// Cost estimates the execution time of a thread in 32-bit instructions. It is only meaningful for comparing versions of
// one function. It assumes that a loop runs 8 iterations, that both sides of a branch are executed, that a memory access
// costs as much as four instructions, and that a 64-bit operation takes two or more instructions, as on a GPU.
func Cost(dom *ir.Dom) float64 {
	weight := make([]float64, dom.Order()[0].Func.NumBlocks())
	for _, b := range dom.Order() {
		weight[b.ID] = 1
	}
	for _, l := range Loops(dom) {
		if l.Depth > maxDepth {
			continue
		}
		for _, b := range l.Blocks {
			weight[b.ID] *= iterations
		}
	}
	sum := 0.0
	for _, b := range dom.Order() {
		for _, v := range b.Values {
			sum += weight[b.ID] * instructions(v)
		}
	}
	return sum
}

// instructions estimates the number of 32-bit instructions that a value takes.
func instructions(v *ir.Value) float64 {
	switch v.Op {
	case ir.OpParam, ir.OpConst, ir.OpZero, ir.OpStruct, ir.OpExtract, ir.OpInsert, ir.OpOffset, ir.OpVar:
		return 0 // operands of other instructions
	case ir.OpPhi, ir.OpTrunc, ir.OpZExt, ir.OpSExt, ir.OpBitcast, ir.OpJump:
		return 0.5 // often nothing
	}
	wide := isWide(v)
	switch {
	case v.Op.Reads() || v.Op.Writes():
		return 4
	case v.Op == ir.OpIndex:
		if isWide(v.Args[1]) {
			return 3
		}
		return 1
	case !wide:
		return 1
	case v.Op == ir.OpMul:
		return 4
	case v.Op == ir.OpSDiv || v.Op == ir.OpUDiv || v.Op == ir.OpSRem || v.Op == ir.OpURem:
		return 70
	default:
		return 2
	}
}

// isWide reports whether v computes or compares integers of 64 bits.
func isWide(v *ir.Value) bool {
	if v.Type.Kind == ir.KindI64 {
		return true
	}
	return v.Type.Kind == ir.KindI1 && len(v.Args) > 0 && v.Args[0].Type.Kind == ir.KindI64
}
