package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// isVector reports whether t is an array that one instruction loads or stores.
func isVector(t *ir.Type) bool {
	if t.Kind != ir.KindArray || t.Len != 2 && t.Len != 4 || t.Size() > 16 {
		return false
	}
	return t.Elem.IsFloat() || t.Elem.IsInt() && t.Elem.Kind != ir.KindI1
}

// vectorOp returns the operation on all elements of t.
func vectorOp(op, space string, t *ir.Type) string {
	return fmt.Sprintf("%s%s.v%d%s", op, space, t.Len, memType(t.Elem))
}

// loadVector loads an array, whose elements extract finds.
func (s *selector) loadVector(v *ir.Value, at address) {
	first, more := s.results(v)
	op := vectorOp("ld", s.source(v), v.Type)
	s.emit(inst{op: op, form: spread, dst: first, more: more, args: []operand{at.base}, offset: at.offset})
}

// storeVector stores an array that was put together or loaded.
func (s *selector) storeVector(v *ir.Value, at address) {
	all := v.Args[1]
	args := []operand{at.base}
	if all.Op == ir.OpStruct {
		for _, a := range all.Args {
			args = append(args, s.stored(a))
		}
	} else {
		for _, r := range s.parts[all.ID] {
			args = append(args, operand{reg: r})
		}
	}
	s.emit(inst{op: vectorOp("st", suffix(v.Args[0].Type.Space), all.Type), form: vector, args: args, offset: at.offset})
}
