package frontend

import (
	"encoding/binary"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// In a table, a string is the offset of its first byte in a second table, which has the bytes of all strings, and its
// length. So no constant contains an address. Loads from such a table make strings of addresses. They must therefore know
// the table, which is why the address of one must not leave the function that names it.

// containsString reports whether t is a string, or an array or a struct that contains one.
func containsString(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return containsString(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if containsString(f.Type()) {
				return true
			}
		}
	}
	return isString(t)
}

// storeTexts stores the strings of a region as offsets and lengths, and returns the variable with their bytes.
func (b *builder) storeTexts(name string, r *region) *ir.Variable {
	var all []byte
	for _, at := range slices.Sorted(maps.Keys(r.texts)) {
		s := r.texts[at]
		binary.LittleEndian.PutUint64(r.bytes[at:], uint64(len(all)))
		binary.LittleEndian.PutUint64(r.bytes[at+8:], uint64(len(s)))
		all = append(all, s...)
	}
	if len(all) == 0 {
		all = []byte{0} // something that the addresses of empty strings point to
	}
	v := &ir.Variable{Name: b.uniqueName(name), Space: ir.Constant, Type: ir.ArrayOf(int64(len(all)), ir.I8), Init: all}
	b.module.Vars = append(b.module.Vars, v)
	return v
}

// withOffsets returns t with integers instead of addresses.
func withOffsets(t *ir.Type) *ir.Type {
	switch t.Kind {
	case ir.KindPtr:
		return ir.I64
	case ir.KindArray:
		return ir.ArrayOf(t.Len, withOffsets(t.Elem))
	case ir.KindStruct:
		var fields []*ir.Type
		for _, f := range t.Fields {
			fields = append(fields, withOffsets(f))
		}
		return ir.StructOf(fields...)
	}
	return t
}

// textTable returns the table with strings that an address points into, or nil.
func (l *lowerer) textTable(address ssa.Value) *table {
	v := root(address)
	if load, ok := v.(*ssa.UnOp); ok && isSlice(load.Type()) {
		v = load.X
	}
	g, ok := v.(*ssa.Global)
	if !ok || !containsString(elemOfSlice(pointee(g.Type()))) || l.b.partial != nil && (!hasSource(g) || l.b.table(g).unseen) {
		return nil
	}
	return l.b.table(g)
}

// keepTexts refuses uses of the table g in the function, after which loads do not know the table.
func (l *lowerer) keepTexts(g *ssa.Global) {
	var keeps func(in ssa.Instruction) bool
	all := func(v ssa.Value) bool {
		return !slices.ContainsFunc(referrers(v), func(in ssa.Instruction) bool { return !keeps(in) })
	}
	keeps = func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.IndexAddr, *ssa.FieldAddr:
			return all(in.(ssa.Value))
		case *ssa.UnOp:
			return !isSlice(in.Type()) || all(in)
		case *ssa.BinOp, *ssa.DebugRef:
			return true
		case *ssa.Call:
			b, ok := in.Call.Value.(*ssa.Builtin)
			return ok && (b.Name() == "len" || b.Name() == "cap")
		}
		return false
	}
	for _, in := range l.b.program.uses[g] {
		if in.Parent() == l.fn && !keeps(in) {
			l.refuse(diag.LangString, "index it where it is named", "a kernel cannot slice the table of strings %s, pass it on or store its address", g.Name())
		}
	}
}

// loadTexts loads a value of type t, which contains strings, from a table.
func (l *lowerer) loadTexts(from *table, t types.Type, p *ir.Value) *ir.Value {
	typ := l.irType(t)
	part := func(i int, t types.Type) *ir.Value { return l.loadTexts(from, t, l.offset(p, typ.PartOffset(i))) }
	var parts []*ir.Value
	switch u := t.Underlying().(type) {
	case *types.Array:
		for i := range int(u.Len()) {
			parts = append(parts, part(i, u.Elem()))
		}
	case *types.Struct:
		for i := range u.NumFields() {
			parts = append(parts, part(i, u.Field(i).Type()))
		}
	default:
		if !isString(t) {
			return l.emit(ir.OpLoad, typ, p)
		}
		first := l.emit(ir.OpLoad, ir.I64, p)
		n := l.emit(ir.OpLoad, ir.I64, l.offset(p, 8))
		parts = []*ir.Value{l.element(l.emitAux(ir.OpVar, ir.Ptr, from.texts), first, ir.I8), n}
	}
	return l.emit(ir.OpStruct, typ, parts...)
}

// onlyIndexed reports whether v is an array that is used by index expressions alone.
func onlyIndexed(v ssa.Value) bool {
	_, isArray := v.Type().Underlying().(*types.Array)
	return isArray && !slices.ContainsFunc(referrers(v), func(in ssa.Instruction) bool {
		switch in.(type) {
		case *ssa.Index, *ssa.DebugRef:
			return false
		}
		return true
	})
}
