package frontend

import (
	"encoding/binary"
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A string is an address and a length. All strings of a kernel are parts of constants, which
// lie in constant memory: nothing makes new ones.

// stringType is the form of strings in IR.
var stringType = ir.StructOf(ir.Ptr, ir.I64)

// stringConst returns a constant string.
func (l *lowerer) stringConst(s string) *ir.Value {
	if s == "" {
		return l.zero(stringType)
	}
	v := l.b.texts[s]
	if v == nil {
		v = l.constantVariable("text", ir.ArrayOf(int64(len(s)), ir.I8), []byte(s))
		l.b.texts[s] = v
	}
	address, n := l.emitHead(ir.OpVar, ir.Ptr), l.int64(int64(len(s)))
	address.Aux = v
	x := l.emitHead(ir.OpStruct, stringType)
	x.Args = []*ir.Value{address, n}
	return x
}

func (l *lowerer) constantVariable(name string, t *ir.Type, contents []byte) *ir.Variable {
	v := &ir.Variable{Name: l.b.uniqueName(name), Space: ir.Constant, Type: t, Init: contents}
	l.b.module.Vars = append(l.b.module.Vars, v)
	return v
}

// stringIndex lowers s[i].
func (l *lowerer) stringIndex(x, index ssa.Value) *ir.Value {
	s := l.value(x)
	i := l.checkIndex(index, l.part(s, 1))
	return l.emit(ir.OpLoad, ir.I8, l.element(l.part(s, 0), i, ir.I8))
}

// compareStrings lowers == and != of strings.
func (l *lowerer) compareStrings(v *ssa.BinOp, x, y *ir.Value) *ir.Value {
	if v.Op != token.EQL && v.Op != token.NEQ {
		l.lacks(&lackString)
	}
	same := l.equalStrings(x, y)
	if v.Op == token.NEQ {
		return l.emit(ir.OpXor, ir.I1, same, l.constant(ir.I1, -1))
	}
	return same
}

func (l *lowerer) equalStrings(x, y *ir.Value) *ir.Value {
	n := l.part(x, 1)
	equal := l.emit(ir.OpEq, ir.I1, n, l.part(y, 1))
	result := l.emitAux(ir.OpAlloca, ir.Ptr, ir.I1)
	l.emit(ir.OpStore, ir.Void, result, equal)
	n = l.emit(ir.OpSelect, ir.I64, equal, n, l.int64(0))
	l.count(n, func(i *ir.Value) {
		a := l.emit(ir.OpLoad, ir.I8, l.element(l.part(x, 0), i, ir.I8))
		b := l.emit(ir.OpLoad, ir.I8, l.element(l.part(y, 0), i, ir.I8))
		so := l.emit(ir.OpLoad, ir.I1, result)
		l.emit(ir.OpStore, ir.Void, result, l.emit(ir.OpAnd, ir.I1, so, l.emit(ir.OpEq, ir.I1, a, b)))
	})
	return l.emit(ir.OpLoad, ir.I1, result)
}

// runes is a range over a constant string: its characters lie in a table, and a variable counts.
type runes struct {
	n              int64
	indices, runes *ir.Variable
	next           *ir.Value // address of the variable
}

// rangeString lowers the beginning of a range over a string.
func (l *lowerer) rangeString(v *ssa.Range) {
	s, ok := constString(v.X)
	if !ok {
		l.refuse(diag.LangString, "range over its bytes: for i := range len(s)", "a kernel can range only over constant strings")
	}
	r := runes{next: l.emitAux(ir.OpAlloca, ir.Ptr, ir.I64)}
	var indices, values []byte
	for i, c := range s {
		indices = binary.LittleEndian.AppendUint64(indices, uint64(i))
		values = binary.LittleEndian.AppendUint32(values, uint32(c))
		r.n++
	}
	if r.n > 0 {
		r.indices = l.constantVariable("indices", ir.ArrayOf(r.n, ir.I64), indices)
		r.runes = l.constantVariable("runes", ir.ArrayOf(r.n, ir.I32), values)
	}
	l.emit(ir.OpStore, ir.Void, r.next, l.int64(0))
	l.ranges[v] = r
}

// nextRune lowers a step of a range over a string: whether there is a character, its index, and it.
func (l *lowerer) nextRune(v *ssa.Next) *ir.Value {
	r, t := l.ranges[v.Iter], ir.StructOf(ir.I1, ir.I64, ir.I32)
	if r.n == 0 {
		return l.zero(t)
	}
	i := l.emit(ir.OpLoad, ir.I64, r.next)
	more := l.emit(ir.OpSLt, ir.I1, i, l.int64(r.n))
	at := l.emit(ir.OpSelect, ir.I64, more, i, l.int64(0))
	index := l.emit(ir.OpLoad, ir.I64, l.element(l.emitAux(ir.OpVar, ir.Ptr, r.indices), at, ir.I64))
	char := l.emit(ir.OpLoad, ir.I32, l.element(l.emitAux(ir.OpVar, ir.Ptr, r.runes), at, ir.I32))
	l.emit(ir.OpStore, ir.Void, r.next, l.emit(ir.OpAdd, ir.I64, i, l.int64(1)))
	return l.emit(ir.OpStruct, t, more, index, char)
}
