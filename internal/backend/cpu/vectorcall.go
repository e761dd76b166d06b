package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vector"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// vectorCall returns the calls of functions for different units, of which one sets a variable to how many threads it has done.
func (e *emitter) vectorCall(list []*vector.Routine, first string) []line {
	scope := e.out.scope
	e.out.scope = e.rows
	defer func() { e.out.scope = scope }()
	begun, condition, length, call := e.firstThread(), "", e.last(), "%s"
	if e.spans() {
		blocks := e.word("blocks")
		begun, condition, length, call = blocks+".Begun()", fmt.Sprintf(" && %s == 0", first), blocks+".Span()", blocks+".Done(%s)"
	}
	lines := []line{{text: fmt.Sprintf("%s := %s", first, begun)}}
	for i, f := range list {
		args := []string{length}
		if e.Warps {
			args = append(args, e.firstThread())
		}
		for _, in := range f.Inputs {
			args = append(args, e.inputText(in))
		}
		start := "if"
		if i > 0 {
			start = "} else if"
		}
		lines = append(lines,
			line{text: fmt.Sprintf("%s %s == %d%s {", start, e.word("lanes"), f.Lanes, condition), pos: e.here.Place()},
			line{text: fmt.Sprintf("%s = "+call, first, fmt.Sprintf("%s.%s(%s)", e.imported(e.o.Vector.Path), f.Code.Name(), strings.Join(args, ", "))), pos: e.here.Place()})
	}
	return append(lines, line{text: "}"})
}

// spans reports whether blocks along x continue each other's rows: a thread then asks of its number and its block's along x
// only what its index in the grid is, and nothing stays from one piece of the code to another.
func (e *emitter) spans() bool {
	if len(e.List) != 1 || e.AnyLeaves() || e.memory.size > 0 {
		return false
	}
	for _, b := range e.f.Blocks {
		for _, v := range b.Values {
			if v.Imm == 0 && (v.Op == ir.OpTid || v.Op == ir.OpCtaid) && !e.onlyIndexes(v, v.Op) {
				return false
			}
		}
	}
	return true
}

// onlyIndexes reports whether v, a thread's or block's number along x, is used for the thread's index in the grid alone.
func (e *emitter) onlyIndexes(v *ir.Value, op ir.Op) bool {
	return !slices.ContainsFunc(e.Users[v.ID], func(u *ir.Value) bool {
		switch {
		case u.Op == ir.OpSExt || u.Op == ir.OpZExt:
			return !e.onlyIndexes(u, op)
		case u.Op == ir.OpAdd && op == ir.OpTid:
			return !e.isRowStart(u.Args[0]) && !e.isRowStart(u.Args[1])
		case e.isRowStart(u) && op == ir.OpCtaid:
			return slices.ContainsFunc(e.Users[u.ID], func(w *ir.Value) bool { return w.Op != ir.OpAdd || !isThread(w.Args[0]) && !isThread(w.Args[1]) })
		}
		return true
	})
}

// isRowStart reports whether v is the index in the grid along x of the block's first thread.
func (e *emitter) isRowStart(v *ir.Value) bool {
	if v.Type.Kind != ir.KindI64 || len(v.Args) != 2 || !isAlong(v.Args[0], ir.OpCtaid) && !isAlong(v.Args[1], ir.OpCtaid) {
		return false
	}
	width := int64(e.f.Block[0])
	switch {
	case v.Op == ir.OpMul && (isAlong(v.Args[0], ir.OpNTid) || isAlong(v.Args[1], ir.OpNTid)):
		return true
	case v.Args[1].Op != ir.OpConst || width == 0:
		return false
	case v.Op == ir.OpMul:
		return v.Args[1].Imm == width
	}
	return v.Op == ir.OpShl && uint64(v.Args[1].Imm) < 32 && width == 1<<v.Args[1].Imm
}

func isThread(v *ir.Value) bool { return isAlong(v, ir.OpTid) }

// isAlong reports whether v is an index or a size along x.
func isAlong(v *ir.Value, op ir.Op) bool {
	for v.Op == ir.OpSExt || v.Op == ir.OpZExt {
		v = v.Args[0]
	}
	return v.Op == op && v.Imm == 0
}

// inputText returns what the caller passes.
func (e *emitter) inputText(in vector.Input) string {
	switch in.What {
	case vector.InputRoot:
		return e.pointer(in.Of).text
	case vector.InputElement:
		return e.elementAt(in.Of, in.Of.Type.Size(), e.rowNumber())
	case vector.InputBrought:
		return e.elementAt(brought(in.Of), in.Of.Args[0].Type.Size(), e.rowNumber())
	case vector.InputSpecial:
		return e.special(in.Of).text
	}
	x := e.ref(in.Of)
	if in.Of.Type.IsInt() && in.Of.Type.Kind != ir.KindI1 && e.typeName(in.Of.Type, false) != "int" {
		x = convert("int", x)
	}
	return x.text
}

// rowNumber returns the number of the row's first thread.
func (e *emitter) rowNumber() expr {
	if e.isLine() {
		return number(0)
	}
	return operand("%s", e.word("row"))
}

// vectorCode returns the functions of all regions.
func (e *emitter) vectorCode() []VectorCode {
	var list []VectorCode
	for _, g := range e.List {
		for _, f := range e.vectors.RoutinesOf(g) {
			list = append(list, VectorCode{f.Code.Signature(), f.Code.Text()})
		}
	}
	return list
}

// vectorKernel returns what vector code has to know.
func (e *emitter) vectorKernel() *vector.Kernel {
	k := vector.Kernel{Placement: e.Placement, F: e.f, Array: e.array, Apart: e.memory.apart}
	if e.o.Vector != nil {
		k.Name = func(unit string) string { return e.o.Vector.Declare(e.o.Func + unit) }
	}
	return vector.NewKernel(k)
}
