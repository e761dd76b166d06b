package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// maxSpeculated is the cost of the values that run although their branch is not taken, for
// each side. Up to 8 operations a side, selects were never slower than branches on an H200.
const maxSpeculated = 8

// ifConvert replaces branches around few pure operations by selects, and a branch after another one
// to the same block by one branch on both conditions.
//
//	b0: if %0 b1 b2
//	b1: %3 = add i32 %1, 1            b0: %3 = add i32 %1, 1
//	    jump b3                   ->      %4 = mul i32 %1, %2
//	b2: %4 = mul i32 %1, %2               %5 = select i32 %0, %3, %4
//	    jump b3
//	b3: %5 = phi i32 %3, %4
func ifConvert(f *ir.Func, _ *Options) (changed bool) {
	for _, b := range f.Blocks {
		if len(b.Succs) == 2 {
			changed = convertDiamond(b) || mergeConditions(b) || changed
		}
	}
	if changed {
		edit.RemoveUnreachable(f)
	}
	return changed
}

// cost is roughly the number of instructions that v becomes.
func cost(v *ir.Value) int {
	switch v.Op {
	case ir.OpConst, ir.OpVar, ir.OpOffset, ir.OpTid, ir.OpNTid, ir.OpCtaid, ir.OpNCtaid, ir.OpTrunc, ir.OpBitcast, ir.OpFNeg, ir.OpFAbs:
		return 0
	case ir.OpFDiv, ir.OpFSqrt:
		return 10
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		return 20
	case ir.OpUMulHi, ir.OpSMulHi, ir.OpMul:
		if v.Type.Bits() == 64 {
			return 3
		}
	case ir.OpFToS, ir.OpFToU, ir.OpSToF, ir.OpUToF, ir.OpFExt, ir.OpFRound, ir.OpF16ToF, ir.OpFToF16, ir.OpFToBF16:
		return 2
	}
	return 1
}

// speculated reports whether all of b but its terminator may run without need, and is cheap.
func speculated(b *ir.Block) bool {
	sum := 0
	for _, v := range b.Values[:len(b.Values)-1] {
		if !v.Op.Pure() {
			return false
		}
		sum += cost(v)
	}
	return sum <= maxSpeculated
}

// side reports whether s is entered from b alone and only computes and jumps to join.
func side(b, s, join *ir.Block) bool {
	return s == join || len(s.Preds) == 1 && s != b && s.Term().Op == ir.OpJump && s.Succs[0] == join && speculated(s)
}

// meeting returns where the ways through x and y meet at once, or nil.
func meeting(x, y *ir.Block) *ir.Block {
	switch {
	case len(y.Succs) == 1 && y.Succs[0] == x:
		return x
	case len(x.Succs) == 1 && x.Succs[0] == y:
		return y
	case len(x.Succs) == 1 && len(y.Succs) == 1 && x.Succs[0] == y.Succs[0]:
		return x.Succs[0]
	}
	return nil
}

// convertDiamond replaces the branch at the end of b where both ways meet again soon.
func convertDiamond(b *ir.Block) bool {
	x, y := b.Succs[0], b.Succs[1]
	join := meeting(x, y)
	if join == nil || join == b || !side(b, x, join) || !side(b, y, join) || len(join.Phis()) > maxSpeculated {
		return false
	}
	c := b.Term().Args[0]
	e := &editor{b: b, out: b.Values[: len(b.Values)-1 : len(b.Values)-1], pos: b.Term().Pos}
	before, edges := len(e.out), [2]int{}
	for i, s := range [2]*ir.Block{x, y} {
		from := b
		if s != join {
			e.adopt(s)
			from = s
		}
		edges[i] = join.PredIndex(from)
	}
	var given [][2]*ir.Value
	for _, phi := range join.Phis() {
		given = append(given, [2]*ir.Value{phi.Args[edges[0]], phi.Args[edges[1]]})
	}
	choose := newChoice(e, c, e.out[before:], given)
	for i, phi := range join.Phis() {
		phi.Args = append(phi.Args, choose.pick(given[i][0], given[i][1]))
	}
	e.make(ir.OpJump, ir.Void)
	b.Values = e.out
	connect(b, join, [2]*ir.Block{x, y})
	return true
}

// connect replaces b's successors by join alone; the phis of join have their argument for it
// already, at the end.
func connect(b, join *ir.Block, old [2]*ir.Block) {
	last := map[*ir.Value]*ir.Value{}
	for _, phi := range join.Phis() {
		n := len(phi.Args) - 1
		last[phi], phi.Args = phi.Args[n], phi.Args[:n]
	}
	for len(b.Succs) > 0 {
		b.RemoveEdge(0)
	}
	for _, s := range old {
		if s != join {
			s.RemoveEdge(0)
		}
	}
	b.AddEdge(join)
	for _, phi := range join.Phis() {
		phi.Args = append(phi.Args, last[phi])
	}
}

// adopt moves the values of s but its terminator to the block of e; a jump stays after.
func (e *editor) adopt(s *ir.Block) {
	n := len(s.Values) - 1
	for _, v := range s.Values[:n] {
		v.Block = e.b
		e.out = append(e.out, v)
	}
	s.Values = s.Values[n:]
}

// mergeConditions handles b that goes to m or to other where m, cheap and reached from b
// alone, goes to other too: b then branches on both conditions.
func mergeConditions(b *ir.Block) bool {
	for i, m := range b.Succs {
		other := b.Succs[1-i]
		j := slices.Index(m.Succs, other)
		if len(m.Preds) != 1 || len(m.Succs) != 2 || j < 0 || m == other || other == b || m.Succs[1-j] == b {
			continue
		}
		if !speculated(m) || len(other.Phis()) > 2 || m.Succs[1-j] == m {
			continue
		}
		mergeInto(b, m, [2]int{i, j})
		return true
	}
	return false
}

// mergeInto does it: m is successor at[0] of b, other is successor at[1] of m.
func mergeInto(b, m *ir.Block, at [2]int) {
	other, next := b.Succs[1-at[0]], m.Succs[1-at[1]]
	c, d := b.Term().Args[0], m.Term().Args[0]
	e := &editor{b: b, out: b.Values[: len(b.Values)-1 : len(b.Values)-1], pos: b.Term().Pos}
	e.adopt(m)
	if at[0] == 1 { // c leads to other
		c = not(e, c)
	}
	toNext := d
	if at[1] == 0 { // d leads to other
		toNext = not(e, d)
	}
	fromB, fromM := other.PredIndex(b), other.PredIndex(m)
	for _, phi := range other.Phis() {
		if phi.Args[fromB] != phi.Args[fromM] {
			phi.Args[fromB] = e.make(ir.OpSelect, phi.Type, c, phi.Args[fromM], phi.Args[fromB])
		}
	}
	e.make(ir.OpIf, ir.Void, e.make(ir.OpAnd, ir.I1, c, toNext))
	b.Values = e.out
	m.RemoveEdge(at[1])
	b.Succs = []*ir.Block{next, other}
	next.Preds[next.PredIndex(m)] = b
	m.Preds, m.Succs = nil, nil
}
