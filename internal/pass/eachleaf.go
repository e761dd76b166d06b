package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// eachLeaf calls do for every leaf of a large type, with the addresses of the leaf in each of the
// objects that begin at ends, before value at. Arrays become loops, of which each counts
// the elements of one array: passes count on an index to stay in its array.
func eachLeaf(at *ir.Value, t *ir.Type, ends []*ir.Value, do func(e *editor, t *ir.Type, ends []*ir.Value)) {
	if t.Kind == ir.KindArray && isLarge(t) {
		at, ends = loopOver(at, t, ends)
		eachLeaf(at, t.Elem, ends, do)
		return
	}
	if isLarge(t) {
		for i := range t.NumParts() {
			eachLeaf(at, t.Part(i), offsets(at, ends, t.PartOffset(i)), do)
		}
		return
	}
	for _, l := range leavesOf(t, 0, nil) {
		to := offsets(at, ends, l.off)
		e := &editor{b: at.Block, pos: at.Pos}
		do(e, l.t, to)
		insertBefore(at, e.out)
	}
}

// offsets inserts the addresses n bytes after each of ends, before value at.
func offsets(at *ir.Value, ends []*ir.Value, n int64) []*ir.Value {
	e := &editor{b: at.Block, pos: at.Pos}
	var to []*ir.Value
	for _, p := range ends {
		to = append(to, e.offset(p, n))
	}
	insertBefore(at, e.out)
	return to
}

func insertBefore(at *ir.Value, values []*ir.Value) {
	b := at.Block
	b.Values = slices.Insert(b.Values, slices.Index(b.Values, at), values...)
}

// loopOver inserts a loop over the elements of an array type before value at. It returns a value at the
// end of the loop's body, and the addresses of the iteration's element relative to each of ends.
func loopOver(at *ir.Value, t *ir.Type, ends []*ir.Value) (*ir.Value, []*ir.Value) {
	b := at.Block
	done := b.Split(slices.Index(b.Values, at))
	loop := b.Func.NewBlock()

	h := &editor{b: b, out: b.Values, pos: at.Pos}
	start, one := h.constant(ir.I32, 0), h.constant(ir.I32, 1)
	count := h.constant(ir.I32, int64(t.Len))
	h.make(ir.OpJump, ir.Void)
	b.Values = h.out
	b.AddEdge(loop)

	e := &editor{b: loop, pos: at.Pos}
	i := e.make(ir.OpPhi, ir.I32)
	var elements []*ir.Value
	for _, p := range ends {
		elements = append(elements, e.makeImm(ir.OpIndex, p.Type, t.Elem.Size(), p, i))
	}
	next := e.make(ir.OpAdd, ir.I32, i, one)
	e.make(ir.OpIf, ir.Void, e.make(ir.OpULt, ir.I1, next, count))
	loop.Values = e.out
	loop.AddEdge(loop)
	loop.AddEdge(done)
	i.Args = []*ir.Value{start, next}
	return next, elements
}

// copyLeaves copies an object of a large type from src to dst, before value at.
func copyLeaves(at *ir.Value, t *ir.Type, dst, src *ir.Value) {
	eachLeaf(at, t, []*ir.Value{dst, src}, func(e *editor, t *ir.Type, ends []*ir.Value) {
		e.make(ir.OpStore, ir.Void, ends[0], e.make(ir.OpLoad, t, ends[1]))
	})
}

// clearLeaves stores zeros to an object of a large type at p, before value at.
func clearLeaves(at *ir.Value, t *ir.Type, p *ir.Value) {
	eachLeaf(at, t, []*ir.Value{p}, func(e *editor, t *ir.Type, ends []*ir.Value) {
		e.make(ir.OpStore, ir.Void, ends[0], e.constant(t, 0))
	})
}
