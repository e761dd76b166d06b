package machine

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Predicates that every program has.
const (
	predFalse = 0
	predTrue  = 1
)

// decoder turns a kernel's PTX into a program. The first error ends it.
type decoder struct {
	mod      *Module
	prog     *program
	funcs    map[*ptx.Func]*function
	consts   map[uint64]int32
	specials map[string]int32
	addrs    map[*ptx.Var]uint64 // of shared, local and entry parameter variables, within the space

	scratch int32 // a row that nothing needs after the PTX instruction that writes it
	pending []pendingCall
	parts   map[int32]part // of words, by the row that holds the word's address

	fn  *function
	in  *ptx.Instr
	m   mods
	err error
}

// function is a PTX function in a program. It has registers and local memory of its own,
// which is all that a call needs where there is no recursion.
type function struct {
	f      *ptx.Func
	start  int32
	regs   []int32 // place of each register: a row, or a predicate
	ret    int32   // row of the places to return to
	places []int32 // in the code, of each PTX instruction
}

// fail records an error at the instruction that is being decoded.
func (d *decoder) fail(format string, args ...any) {
	if d.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if d.in == nil {
		d.err = fmt.Errorf("ptx: %s: %s", d.prog.name, text)
		return
	}
	d.err = fmt.Errorf("ptx: %s: line %d: %v: %s", d.prog.name, d.in.Line, d.in, text)
}

// row makes a register of the given bytes.
func (d *decoder) row(size int) int32 {
	r := int32(d.prog.rows * warpSize)
	d.prog.rows++
	d.prog.widths = append(d.prog.widths, mask(size))
	return r
}

func mask(size int) uint64 { return ^uint64(0) >> (64 - 8*min(size, 8)) }

func (d *decoder) pred() int32 {
	d.prog.preds++
	return int32(d.prog.preds - 1)
}

// constant returns the row of a value that all threads share.
func (d *decoder) constant(v uint64) int32 {
	r, ok := d.consts[v]
	if !ok {
		r = d.row(8)
		d.consts[v] = r
		d.prog.consts = append(d.prog.consts, fill{r, v})
	}
	return r
}

// code decodes a function's instructions after those that are there.
func (d *decoder) code(fn *function) {
	d.fn = fn
	fn.start = int32(len(d.prog.code))
	fn.places = make([]int32, len(fn.f.Code)+1)
	var left []string
	for i := range fn.f.Code {
		fn.places[i] = int32(len(d.prog.code))
		d.in = &fn.f.Code[i]
		left = append(left[:0], d.in.Mods...)
		d.m = mods{left}
		d.instruction()
		if d.err == nil && len(d.m.left) > 0 {
			d.fail("modifier .%s is not supported here", strings.Join(d.m.left, "."))
		}
		if d.err != nil {
			return
		}
	}
	fn.places[len(fn.f.Code)] = int32(len(d.prog.code))
	d.in = &ptx.Instr{Name: "ret", Op: "ret", Guard: ptx.Guard{Reg: -1}, Line: fn.f.Line}
	if n := len(fn.f.Code); n > 0 {
		d.in.Line, d.in.Loc = fn.f.Code[n-1].Line, fn.f.Code[n-1].Loc
	}
	d.emit(instr{kind: ret, a: fn.ret}) // a body without a return
	d.in = nil
	d.targets(fn)
}

// targets turns indices of PTX instructions, which branches hold until now, into places in
// the code.
func (d *decoder) targets(fn *function) {
	for i := fn.start; i < int32(len(d.prog.code)); i++ {
		switch in := &d.prog.code[i]; in.kind {
		case branch:
			in.target = fn.places[in.target]
		case indexBranch:
			for j, t := range in.list {
				in.list[j] = fn.places[t]
			}
		}
	}
}

// emit appends an instruction, under the guard of the PTX instruction.
func (d *decoder) emit(in instr) {
	in.guard = -1
	if g := d.in.Guard; g.Reg >= 0 {
		in.guard, in.negate = d.fn.regs[g.Reg], g.Negate
	}
	if x := in.mem; x != nil {
		x.settle(uint32(len(d.prog.code)))
		d.prog.fineGrained = d.prog.fineGrained || x.acquire || x.release
	}
	d.prog.fineGrained = d.prog.fineGrained || in.fineGrained()
	d.prog.code = append(d.prog.code, in)
	d.prog.positions = append(d.prog.positions, position{d.in.Line, d.in.Loc, d.in.String()})
}

// args checks the number of operands.
func (d *decoder) args(least, most int) bool {
	if n := len(d.in.Args); n < least || n > most {
		d.fail("%d operands", n)
		return false
	}
	return d.err == nil
}

// need fails unless the combination exists in the ISA.
func (d *decoder) need(ok bool) {
	if !ok {
		d.fail("no such instruction")
	}
}
