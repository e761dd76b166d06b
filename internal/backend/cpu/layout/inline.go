package layout

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxExpression is the number of operations that one expression may have.
const maxExpression = 12

// inliner finds the values that are written where they are used, in one expression with their
// user, and need no variable.
type inliner struct {
	*Placement
	inline []bool // by value ID
	at     []spot // by value ID: where its expression is evaluated, for the last time
	index  []int  // by value ID: in its block
	named  []bool // by value ID: the expression would be too long
}

// spot is a place in a block's list of values; the zero spot is none.
type spot struct {
	Block *ir.Block
	index int
}

// FindInline returns, by value ID, which values are written where they are used.
func FindInline(p *Placement) []bool {
	n := len(p.Level)
	in := &inliner{Placement: p, inline: make([]bool, n), at: make([]spot, n), index: make([]int, n), named: make([]bool, n)}
	in.limit()
	order := p.Dom.Order()
	for i := len(order) - 1; i >= 0; i-- {
		b := order[i]
		for k := len(b.Values) - 1; k >= 0; k-- {
			v := b.Values[k]
			in.at[v.ID] = spot{b, k}
			if in.mayInline(v) {
				in.inline[v.ID] = true
				in.at[v.ID] = in.lastUse(v)
			}
		}
	}
	return in.inline
}

// limit names values whose expressions would be too long.
func (in *inliner) limit() {
	size := make([]int, len(in.Level))
	for _, b := range in.Dom.Order() {
		for i, v := range b.Values {
			in.index[v.ID] = i
			size[v.ID] = 1
			for _, a := range v.Args {
				if len(in.Users[a.ID]) == 1 {
					size[v.ID] += size[a.ID]
				}
			}
			if size[v.ID] > maxExpression {
				size[v.ID], in.named[v.ID] = 1, true
			}
		}
	}
}

// lastUse returns where the expression of v, which is written in those of all users, is evaluated for the last
// time, messages among them: none if they stand in several blocks.
func (in *inliner) lastUse(v *ir.Value) spot {
	last := in.at[v.ID]
	for i, u := range slices.Concat(in.Users[v.ID], in.messages[v.ID]) {
		s := in.spotOf(u, v)
		switch {
		case i == 0:
			last = s
		case s.Block != last.Block:
			return spot{}
		default:
			last.index = max(last.index, s.index)
		}
	}
	return last
}

// spotOf returns where u evaluates its operand v: none for a phi that several ways bring it to.
func (in *inliner) spotOf(u, v *ir.Value) spot {
	if u.Op != ir.OpPhi {
		return in.at[u.ID]
	}
	var s spot
	for i, a := range u.Args {
		switch p := u.Block.Preds[i]; {
		case a != v:
		case s.Block != nil:
			return spot{}
		default:
			s = spot{p, len(p.Values) - 1}
		}
	}
	return s
}

func (in *inliner) mayInline(v *ir.Value) bool {
	users := in.Users[v.ID]
	switch {
	case Trivial(v) && (v.Op != ir.OpBitcast || in.Keep[v.ID] == KeepNot), in.constantOffset(v):
		return true
	case v.Op == ir.OpLoad:
		return len(users) == 1 && !readsTwice(users[0]) && !in.OncePerBlock[v.ID] && in.Keep[v.ID] == KeepNot && !in.named[v.ID] && in.loadReaches(v)
	case !v.Op.Pure() || in.Keep[v.ID] != KeepNot || NeedsStatement(v) || in.Guarded(v):
		return false
	case v.Type.IsPtr():
		if in.Root[v] == v {
			return false
		}
	case len(users) != 1 || in.named[v.ID]:
		return false
	}
	for _, u := range users {
		if readsTwice(u) || !in.sameSpot(v, u) {
			return false
		}
	}
	return len(users) > 0
}

// constantOffset reports whether v is a known number of bytes from its root.
func (p *Placement) constantOffset(v *ir.Value) bool {
	if v.Op != ir.OpOffset && (v.Op != ir.OpIndex || v.Args[1].Op != ir.OpConst) || p.Root[v] == v {
		return false
	}
	base := v.Args[0]
	return base.Op == ir.OpParam || p.Root[base] == base || p.constantOffset(base)
}

// loadReaches reports whether nothing is written between the load v and where its expression is evaluated.
func (in *inliner) loadReaches(v *ir.Value) bool {
	to := in.lastUse(v)
	if to.Block != v.Block {
		return false
	}
	for _, w := range v.Block.Values[in.index[v.ID]+1 : to.index] {
		if w.Op.Writes() {
			return false
		}
	}
	return true
}

// sameSpot reports whether u evaluates v as often as v stands to be computed.
func (in *inliner) sameSpot(v, u *ir.Value) bool {
	b := u.Block
	if u.Op == ir.OpPhi {
		b = in.spotOf(u, v).Block
	}
	if b == nil {
		return false
	}
	lv, lu := in.Level[v.ID], in.levelOfUse(u)
	if lv < PerThread && lv != PerBlock {
		return lv == lu
	}
	if min(lv, PerThread) != min(lu, PerThread) {
		return false
	}
	return in.Of[v.Block.ID] == in.Of[b.ID] && in.Loop[v.Block.ID] == in.Loop[b.ID]
}

// levelOfUse returns how often u reads its operands.
func (in *inliner) levelOfUse(u *ir.Value) Level {
	if u.Op == ir.OpIf && in.Regions.Together[u.Block] {
		return PerBlock
	}
	return in.Level[u.ID]
}

// Trivial reports whether v is written anew wherever it is used.
func Trivial(v *ir.Value) bool {
	switch v.Op {
	case ir.OpConst, ir.OpVar, ir.OpTid, ir.OpNTid, ir.OpCtaid, ir.OpNCtaid:
		return true
	case ir.OpZExt, ir.OpSExt:
		return IsSpecial(v.Args[0])
	case ir.OpBitcast:
		return v.Type.IsPtr() && v.Args[0].Type.IsPtr()
	}
	return false
}

// IsSpecial reports whether v is the index or the number of threads or blocks along an axis.
func IsSpecial(v *ir.Value) bool { return v.Op >= ir.OpTid && v.Op <= ir.OpNCtaid }

// NeedsStatement reports whether v cannot be written as an expression.
func NeedsStatement(v *ir.Value) bool {
	switch v.Op {
	case ir.OpSelect:
		return true
	case ir.OpZExt, ir.OpSExt:
		return v.Args[0].Type.Kind == ir.KindI1
	case ir.OpUMulHi, ir.OpSMulHi:
		return v.Type.Kind == ir.KindI64
	}
	return false
}

// readsTwice reports whether the text of v has its operands several times.
func readsTwice(v *ir.Value) bool {
	return v.Op == ir.OpSMulHi
}

// Guarded reports whether v is a division whose divisor may be zero: the IR computes something
// then, Go panics.
func (p *Placement) Guarded(v *ir.Value) bool {
	switch v.Op {
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		d := v.Args[1]
		return d.Op != ir.OpConst || d.Imm == 0
	}
	return false
}
