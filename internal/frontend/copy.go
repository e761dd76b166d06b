package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// copies lowers copy: a loop that runs backwards where forwards it would overwrite what it
// has still to read.
func (l *lowerer) copies(v *ssa.Call) *ir.Value {
	dst, src := l.value(v.Call.Args[0]), l.value(v.Call.Args[1])
	elem := l.elemType(v.Call.Args[0])
	to, from := l.part(dst, 0), l.part(src, 0)
	n, m := l.part(dst, 1), l.part(src, 1)
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpSLt, ir.I1, m, n), m, n)
	back := l.emit(ir.OpULt, ir.I1, from, to)
	last := l.emit(ir.OpSub, ir.I64, n, l.int64(1))
	l.count(n, func(i *ir.Value) {
		i = l.emit(ir.OpSelect, ir.I64, back, l.emit(ir.OpSub, ir.I64, last, i), i)
		x := l.emit(ir.OpLoad, elem, l.element(from, i, elem))
		l.emit(ir.OpStore, ir.Void, l.element(to, i, elem), x)
	})
	return n
}

// clears lowers clear of a slice.
func (l *lowerer) clears(v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[0])
	elem := l.elemType(v.Call.Args[0])
	p, zero := l.part(x, 0), l.zero(elem)
	l.count(l.part(x, 1), func(i *ir.Value) {
		l.emit(ir.OpStore, ir.Void, l.element(p, i, elem), zero)
	})
	return nil
}

func (l *lowerer) elemType(v ssa.Value) *ir.Type {
	return l.irType(v.Type().Underlying().(*types.Slice).Elem())
}

// count emits a loop that runs body for i from 0 to n-1.
func (l *lowerer) count(n *ir.Value, body func(i *ir.Value)) {
	head, inside, after := l.f.NewBlock(), l.f.NewBlock(), l.f.NewBlock()
	l.jump(head)
	l.cur = head
	i := l.emit(ir.OpPhi, ir.I64, l.int64(0))
	l.emit(ir.OpIf, ir.Void, l.emit(ir.OpSLt, ir.I1, i, n))
	head.AddEdge(inside)
	head.AddEdge(after)
	l.cur = inside
	body(i)
	i.Args = append(i.Args, l.emit(ir.OpAdd, ir.I64, i, l.int64(1)))
	l.jump(head)
	l.cur = after
}
