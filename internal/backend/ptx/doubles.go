package ptx

import (
	"encoding/binary"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A doubleTable holds float64 constants that loops read from constant memory by one instruction. As literals, ptxas makes each of
// them by two moves in every iteration, unless its last 32 bits are zero.
type doubleTable struct {
	in       []bool // by block ID: it is in a loop, and not cold
	variable *ir.Variable
}

// newDoubleTable finds the loops of f.
func newDoubleTable(f *ir.Func) doubleTable {
	t := doubleTable{in: make([]bool, f.NumBlocks()), variable: &ir.Variable{Name: "doubles", Space: ir.Constant}}
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		for _, b := range l.Blocks {
			t.in[b.ID] = !b.Cold
		}
	}
	return t
}

// floatArg returns argument a of an operation on floats.
func (s *selector) floatArg(v, a *ir.Value) operand {
	if a.Op != ir.OpConst || a.Type.Kind != ir.KindF64 || uint32(a.Imm) == 0 || !s.doubles.in[v.Block.ID] {
		return s.operand(a)
	}
	key := computation{op: "ld.const.f64", args: [maxComputed]operand{literal(a.Type, a.Imm)}}
	if r, ok := s.memo[key]; ok {
		return operand{reg: r}
	}
	r := s.out.newReg(f64)
	base := operand{text: "$" + ir.Constant.String() + "$" + s.doubles.variable.Name}
	s.emit(inst{op: key.op, form: access, pure: true, dst: r, args: []operand{base}, offset: s.doubles.offset(uint64(a.Imm))})
	s.memo[key] = r
	return operand{reg: r}
}

// offset returns where the constant is in the table, to which it adds a new one.
func (t *doubleTable) offset(bits uint64) int64 {
	for i := 0; i < len(t.variable.Init); i += 8 {
		if binary.LittleEndian.Uint64(t.variable.Init[i:]) == bits {
			return int64(i)
		}
	}
	t.variable.Init = binary.LittleEndian.AppendUint64(slices.Clip(t.variable.Init), bits)
	return int64(len(t.variable.Init) - 8)
}

// declare declares the table, if it has constants.
func (t *doubleTable) declare(vs *variables) {
	if n := int64(len(t.variable.Init)); n > 0 {
		t.variable.Type = ir.ArrayOf(n/8, ir.F64)
		vs.symbol(t.variable)
	}
}
