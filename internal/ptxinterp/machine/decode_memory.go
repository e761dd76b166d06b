package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// accessTo takes space, vector and type of a load, store or atomic.
func (d *decoder) accessTo() (*access, ptx.Type) {
	x := &access{count: 1, near: d.prog.nears}
	d.hints(x)
	x.space = d.m.space()
	d.prog.nears++
	switch d.m.oneOf("v2", "v4") {
	case "v2":
		x.count = 2
	case "v4":
		x.count = 4
	}
	t := d.m.typ()
	d.need(t.Size() >= 1 && t.Size() <= 8 && t != ptx.Pred)
	x.size = uint64(t.Size())
	x.total = x.size * uint64(x.count)
	x.signed = t.Class() == ptx.Signed
	d.need(x.total <= 16)
	return x, t
}

// elements returns the operands of an access: one, or those of a vector.
func (d *decoder) elements(i int, x *access) []ptx.Operand {
	o := d.arg(i)
	if x.count == 1 && o.Kind != ptx.VectorOperand {
		return []ptx.Operand{o}
	}
	if o.Kind != ptx.VectorOperand || len(o.Elems) != x.count {
		d.fail("%s where %d elements are expected", describe(o), x.count)
		return nil
	}
	return o.Elems
}

func (d *decoder) load() {
	x, t := d.accessTo()
	if !d.args(2, 3) { // a third one is a cache policy
		return
	}
	x.reads = true
	in := instr{exec: execLoad, mem: x}
	for i, o := range d.elements(0, x) {
		x.rows[i] = -1
		if o.Kind != ptx.SinkOperand {
			x.rows[i], x.mask = d.destination(o, t, true)
		}
	}
	in.a, in.imm, x.space = d.place(1, x.space)
	d.partOf(&in)
	d.emit(in)
}

func (d *decoder) store() {
	x, t := d.accessTo()
	d.need(x.space != ptx.Const)
	if !d.args(2, 3) {
		return
	}
	x.write = true
	in := instr{exec: execStore, mem: x}
	in.a, in.imm, x.space = d.place(0, x.space)
	d.need(x.space != ptx.Param) // a kernel's parameters are read-only
	for i, o := range d.elements(1, x) {
		x.rows[i] = d.source(o, t, true)
	}
	d.emit(in)
}

// atomic decodes atom and red.
func (d *decoder) atomic() {
	op := d.m.oneOf("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")
	x, t := d.accessTo()
	d.need(x.count == 1 && (x.space == ptx.Generic || x.space == ptx.Global || x.space == ptx.Shared))
	first := 1 // of the operands after the destination
	if d.in.Op == "red" {
		first = 0
		d.need(op != "exch" && op != "cas")
	}
	n := first + 2
	if op == "cas" {
		n++
	}
	if !d.args(n, n+1) {
		return
	}
	x.write, x.reads, x.strong = true, true, true
	x.swap, x.noResult, x.polls = op == "cas", first == 0, first == 1
	in := instr{exec: execAtomic, mem: x, b: d.src(first+1, t)}
	if first == 1 {
		in.d = d.dst(0, t)
	}
	d.operation(&in, op, t, first)
	in.a, in.imm, x.space = d.place(first, x.space)
	d.partOf(&in)
	d.emit(in)
}

func (d *decoder) operation(in *instr, op string, t ptx.Type, first int) {
	if op == "cas" {
		d.need(t.Class() == ptx.Untyped && t.Size() >= 2)
		in.c = d.src(first+2, t)
		return
	}
	f, ok := scalar.Atomic(op, t, false)
	d.need(ok)
	in.f2 = f
	if t == ptx.F32 { // global memory flushes subnormals, shared memory does not
		flushing, _ := scalar.Atomic(op, t, true)
		in.mem.global = flushing
	}
}
