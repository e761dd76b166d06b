package machine

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// maxStaticShared is what the variables of a block may take; more has to be dynamic.
const maxStaticShared = 48 << 10

// program decodes entry and all functions that it reaches: places for everything first, then
// the code, because code holds addresses.
func (d *decoder) program(entry *ptx.Func) {
	var order []*ptx.Func
	d.reach(entry, map[*ptx.Func]bool{}, &order)
	d.sharedVars(d.mod.ptx.Vars)
	for _, f := range order {
		d.function(f)
	}
	d.prog.local = align(d.prog.local, 16)
	d.prog.shared = align(d.prog.shared, 16)
	if d.prog.shared > maxStaticShared {
		d.fail("%d bytes of static shared memory, allowed are %d", d.prog.shared, maxStaticShared)
	}
	d.dynamicShared()
	d.room(order)
	for _, f := range order {
		if d.err == nil {
			d.code(d.funcs[f])
		}
	}
	d.calls()
}

// room makes room for the code of functions, most of whose instructions become one.
func (d *decoder) room(order []*ptx.Func) {
	n := 0
	for _, f := range order {
		n += len(f.Code) + 1 // and a return
	}
	d.prog.code, d.prog.positions = make([]instr, 0, n), make([]position, 0, n)
}

// reach lists f and the functions that it calls, each once. A function that is being
// visited and met again is recursive.
func (d *decoder) reach(f *ptx.Func, visiting map[*ptx.Func]bool, order *[]*ptx.Func) {
	if d.err != nil {
		return
	}
	if f.Declared {
		d.fail("function %s has no body", f.Name)
		return
	}
	if visiting[f] {
		d.fail("function %s is recursive, which is not supported", f.Name)
		return
	}
	if _, done := d.funcs[f]; done {
		return
	}
	d.funcs[f] = &function{f: f}
	*order = append(*order, f)
	visiting[f] = true
	for i := range f.Code {
		if callee := d.callee(&f.Code[i]); callee != nil {
			d.reach(callee, visiting, order)
		}
	}
	visiting[f] = false
}

// callee returns the function that a call names, or nil.
func (d *decoder) callee(in *ptx.Instr) *ptx.Func {
	if in.Op != "call" {
		return nil
	}
	for _, o := range in.Args {
		if o.Kind == ptx.FuncOperand {
			return d.mod.ptx.Func(o.Name)
		}
	}
	return nil
}

// function makes the registers of f and places its variables.
func (d *decoder) function(f *ptx.Func) {
	fn := d.funcs[f]
	fn.regs = d.registers(f)
	fn.ret = d.row(8)
	for _, v := range slices.Concat(f.Params, f.Returns) {
		if v.Type == ptx.Pred {
			d.fail("parameter %s of function %s is a predicate", v.Name, f.Name)
		}
	}
	if f.Entry {
		d.entryParams(f)
	} else {
		d.localVars(f.Params)
		d.localVars(f.Returns)
	}
	d.sharedVars(f.Vars)
	d.localVars(f.Vars)
	for _, v := range f.Vars {
		if v.Space == ptx.Global || v.Space == ptx.Const {
			d.fail("variable %s of space %v in a function is not supported", v.Name, v.Space)
		}
	}
}

func align(n, to int) int { return (n + to - 1) &^ (to - 1) }

func (d *decoder) entryParams(f *ptx.Func) {
	for _, v := range f.Params {
		d.prog.paramBytes = align(d.prog.paramBytes, v.Align)
		d.addrs[v] = spaceBase + uint64(d.prog.paramBytes)
		d.prog.paramBytes += v.Size()
	}
}

// localVars places local variables and parameters of functions and calls.
func (d *decoder) localVars(vars []*ptx.Var) {
	for _, v := range vars {
		if v.Space == ptx.Local || v.Space == ptx.Param {
			d.prog.local = align(d.prog.local, v.Align)
			d.addrs[v] = spaceBase + uint64(d.prog.local)
			d.prog.local += v.Size()
		}
	}
}

func (d *decoder) sharedVars(vars []*ptx.Var) {
	for _, v := range vars {
		if v.Space == ptx.Shared && v.Count > 0 {
			d.prog.shared = align(d.prog.shared, v.Align)
			d.addrs[v] = spaceBase + uint64(d.prog.shared)
			d.prog.shared += v.Size()
		}
	}
}

// dynamicShared places the arrays without a size after all others, on top of each other.
func (d *decoder) dynamicShared() {
	for _, v := range d.mod.ptx.Vars {
		if v.Space == ptx.Shared && v.Count == 0 {
			d.addrs[v] = spaceBase + uint64(align(d.prog.shared, max(v.Align, 16)))
		}
	}
}
