package frontend

import (
	"encoding/binary"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// pendingStore is a store of a value that is not a constant, and is computed once a kernel uses the variable.
type pendingStore struct {
	offset int64
	val    ssa.Value
}

// isComputed reports whether v, of which the initialiser knows no more, may be computed.
func isComputed(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Call, *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.Extract:
		return true
	}
	return false
}

// compute computes the pending stores of a variable. All kernels share the result.
func (b *builder) compute(r *region) {
	pending := r.pending
	r.pending = nil
	e := evaluator{known: map[ssa.Value]any{}, global: b.tableValue, local: b.localValue}
	for _, p := range pending {
		v, why := e.evaluate(p.val)
		if why == nil {
			why = r.fill(p, v)
		}
		if why != nil {
			r.unknown, r.why = true, why
			return
		}
	}
	if r.backing != nil {
		b.compute(r.backing)
		r.why = r.backing.why
	}
}

// fill stores a value in the variable.
func (r *region) fill(p pendingStore, v any) *misfit {
	s, ok := v.(slice)
	if !ok {
		t, _ := irType(p.val.Type())
		r.encode(p.offset, t, v)
		return nil
	}
	elem, lack := irType(elemOfSlice(p.val.Type()))
	switch {
	case lack != nil:
		return &misfit{text: "it contains " + lack.what}
	case len(s) == 0:
		return &misfit{text: "it is an empty slice"}
	}
	t := ir.ArrayOf(int64(len(s)), elem)
	r.backing = &region{typ: t, bytes: make([]byte, t.Size())}
	r.backing.encode(0, t, list(s))
	return nil
}

// tableValue returns the value of another variable that is a table.
func (b *builder) tableValue(g *ssa.Global) (any, *misfit) {
	t := b.table(g)
	if t.texts != nil {
		return nil, &misfit{text: "it uses the table of strings " + g.Name()}
	}
	if t.problem != "" {
		return nil, &misfit{text: "it uses the package-level variable " + g.Name() + ": " + t.problem, unseen: t.unseen}
	}
	typ := pointee(g.Type())
	if !isSlice(typ) {
		return (&region{bytes: t.variable.Init}).decode(0, typ), nil
	}
	return slice((&region{bytes: t.variable.Init}).decode(0, types.NewArray(elemOfSlice(typ), t.variable.Type.Len)).(list)), nil
}

// localValue returns what an init function leaves in one of its variables.
func (b *builder) localValue(a *ssa.Alloc) (any, *misfit) {
	r := b.initial(a.Parent())[a]
	if r == nil {
		return nil, &misfit{text: "it uses a value that is not a constant"}
	}
	b.compute(r)
	switch {
	case r.why != nil:
		return nil, r.why
	case r.unknown || r.typ == nil || holdsAddresses(pointee(a.Type())):
		return nil, &misfit{text: "it uses a value that is not a constant"}
	}
	return r.decode(0, pointee(a.Type())), nil
}

// setText notes a string in the variable.
func (r *region) setText(at int64, s string) {
	if r.texts == nil {
		r.texts = map[int64]string{}
	}
	r.texts[at] = s
}

// encode stores a value as memory holds it.
func (r *region) encode(at int64, t *ir.Type, v any) {
	to := r.bytes[at:]
	switch v := v.(type) {
	case list:
		for i, x := range v {
			r.encode(at+t.PartOffset(i), t.Part(i), x)
		}
	case string:
		r.setText(at, v)
	case bool:
		if v {
			to[0] = 1
		}
	case float32:
		binary.LittleEndian.PutUint32(to, math.Float32bits(v))
	case float64:
		binary.LittleEndian.PutUint64(to, math.Float64bits(v))
	case int64:
		copy(to[:t.Size()], binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
}

// decode loads a value without addresses other than those of strings.
func (r *region) decode(at int64, typ types.Type) any {
	t, _ := irType(typ)
	switch u := typ.Underlying().(type) {
	case *types.Array:
		l := make(list, u.Len())
		for i := range l {
			l[i] = r.decode(at+t.PartOffset(i), u.Elem())
		}
		return l
	case *types.Struct:
		l := make(list, u.NumFields())
		for i := range l {
			l[i] = r.decode(at+t.PartOffset(i), u.Field(i).Type())
		}
		return l
	}
	if isString(typ) {
		return r.texts[at]
	}
	var all [8]byte
	copy(all[:], r.bytes[at:at+t.Size()])
	bits := binary.LittleEndian.Uint64(all[:])
	switch t.Kind {
	case ir.KindI1:
		return bits != 0
	case ir.KindF32:
		return math.Float32frombits(uint32(bits))
	case ir.KindF64:
		return math.Float64frombits(bits)
	}
	return wrapped(typ, int64(bits))
}
