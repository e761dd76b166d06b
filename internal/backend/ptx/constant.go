package ptx

import (
	"fmt"
	"strconv"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// imm returns an integer constant.
func imm(i int64) operand {
	if i == -1<<63 {
		return operand{text: "0x8000000000000000"} // no literal of its own: a minus is an operator
	}
	return operand{text: strconv.FormatInt(i, 10)}
}

// literal returns the constant with the given bits in the form that registers of the type
// have.
func literal(t *ir.Type, bits int64) operand {
	switch t.Kind {
	case ir.KindF32:
		return operand{text: fmt.Sprintf("0f%08X", uint32(bits))}
	case ir.KindF64:
		return operand{text: fmt.Sprintf("0d%016X", uint64(bits))}
	case ir.KindI1, ir.KindI8, ir.KindI16:
		return imm(bits & mask(t))
	case ir.KindI32:
		return imm(int64(int32(bits)))
	case ir.KindPtr:
		if windowed(t.Space) {
			return nilOffset
		}
	}
	return imm(bits)
}

// mask returns ones in the bits of an integer type narrower than 64 bits.
func mask(t *ir.Type) int64 { return 1<<t.Bits() - 1 }

// An intConstant is an integer constant, sign-extended, if ok.
type intConstant struct {
	value int64
	ok    bool
}

// constant returns the value of v, extended by its sign, where it is an integer constant
// or was found to be one.
func (s *selector) constant(v *ir.Value) (int64, bool) {
	if v.Op == ir.OpConst && v.Type.IsInt() {
		return v.Imm, true
	}
	k := s.known[v.ID]
	return k.value, k.ok
}

// fold notes that v is a constant.
func (s *selector) fold(v *ir.Value, c int64) operand {
	unused := 64 - v.Type.Bits()
	s.known[v.ID] = intConstant{c << unused >> unused, true}
	return literal(v.Type, c)
}

// narrow reports whether registers are wider than values of t.
func narrow(t *ir.Type) bool { return t.Kind >= ir.KindI1 && t.Kind <= ir.KindI16 }
