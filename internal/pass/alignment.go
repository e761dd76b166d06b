package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// wideShared is what shared variables of that many bytes and more are aligned to, in every back end.
const wideShared = 16

// alignment returns a power of two up to wideShared that v, an address or its bits, is a multiple of.
func alignment(v *ir.Value) int64 {
	switch v.Op {
	case ir.OpBitcast:
		return alignment(v.Args[0])
	case ir.OpVar:
		if x := v.Aux.(*ir.Variable); x.Space == ir.Shared && x.Type.Size() >= wideShared {
			return wideShared
		}
	case ir.OpOffset, ir.OpIndex:
		return min(alignment(v.Args[0]), lowestBit(v.Imm))
	}
	return 1
}

// lowestBit returns the largest power of two up to wideShared that divides n.
func lowestBit(n int64) int64 { return (n | wideShared) & -(n | wideShared) }
