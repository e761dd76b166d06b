package vasm

import "fmt"

// Class is a kind of register.
type Class uint8

// The classes.
const (
	Integer Class = iota // 64 bits
	Vector               // as wide as the machine's
	Mask                 // 16 bits, of AVX-512
	classes
)

// Reg is a virtual register.
type Reg int32

// Func is a function under construction.
type Func struct {
	machine *Machine
	name    string
	params  []param
	bytes   int // of the parameters
	class   []Class
	entry   []inst // what is done once, before the code
	code    []inst
	depth   int // of loops around the next instruction
	pos     Pos
	start   Pos
	labels  int
	ahead   bool // what comes now belongs to the entry: code and entry are exchanged
}

// A Pos is the source line of code. The zero value means that it is unknown.
type Pos struct {
	File string // in the folder of the code, or as if it were
	Line int
}

type param struct{ name, typ string }

type inst struct {
	op    string // a label where it ends in a colon
	ops   []Operand
	depth int
	pos   Pos
}

// New returns an empty function for m.
func New(m *Machine) *Func { return &Func{machine: m, class: make([]Class, 1)} }

// SetName names the function.
func (f *Func) SetName(name string) { f.name = name }

// Name returns the function's name.
func (f *Func) Name() string { return f.name }

// Reg returns a new register.
func (f *Func) Reg(c Class) Reg {
	f.class = append(f.class, c)
	return Reg(len(f.class) - 1)
}

// sizes of the types of parameters.
var sizes = map[string]int{"bool": 1, "float32": 4, "float64": 8, "int": 8, "unsafe.Pointer": 8}

// Param adds a parameter of type bool, float32, float64, int or unsafe.Pointer, and returns its operand.
func (f *Func) Param(typ string) Operand {
	name, size := fmt.Sprintf("a%d", len(f.params)), sizes[typ]
	f.params = append(f.params, param{name, typ})
	at := (f.bytes + size - 1) &^ (size - 1)
	f.bytes = at + size
	return Operand{kind: text, text: fmt.Sprintf("%s+%d(FP)", name, at)}
}

// Result returns the operand of the function's result, an int named done. No parameters can be
// added after that.
func (f *Func) Result() Operand {
	return Operand{kind: text, text: fmt.Sprintf("done+%d(FP)", f.resultAt())}
}

func (f *Func) resultAt() int { return (f.bytes + 7) &^ 7 }

// Op appends an instruction.
func (f *Func) Op(op string, ops ...Operand) {
	for _, o := range ops {
		if o.kind == register && o.reg == 0 {
			panic("BUG: vasm: " + op + " of no register")
		}
	}
	f.code = append(f.code, inst{op, ops, f.depth, f.pos})
}

// At sets the source position of the following instructions. The first position is that of the
// function.
func (f *Func) At(p Pos) {
	f.pos = p
	if f.start == (Pos{}) {
		f.start = p
	}
}

// Once appends an instruction to the function's prologue.
func (f *Func) Once(op string, ops ...Operand) { f.Ahead(func() { f.Op(op, ops...) }) }

// Ahead appends the instructions that write adds to the function's prologue.
func (f *Func) Ahead(write func()) {
	if f.ahead {
		write()
		return
	}
	depth, place := f.depth, f.pos
	f.code, f.entry, f.depth, f.pos, f.ahead = f.entry, f.code, 0, f.start, true
	write()
	f.code, f.entry, f.depth, f.pos, f.ahead = f.entry, f.code, depth, place, false
}

// Here returns the source position of the next instruction.
func (f *Func) Here() Pos { return f.pos }

// NewLabel returns a label.
func (f *Func) NewLabel() string {
	f.labels++
	return fmt.Sprintf("l%d", f.labels)
}

// Label places a label at the current position.
func (f *Func) Label(label string) { f.Op(label + ":") }

// Jump appends a jump.
func (f *Func) Jump(op, label string) { f.Op(op, Operand{kind: target, text: label}) }

// Lost returns a label that a jump refers to but that is not placed, or "".
func (f *Func) Lost() string {
	placed := map[string]bool{}
	for _, i := range f.code {
		placed[i.op] = true
	}
	for _, i := range f.code {
		for _, o := range i.ops {
			if o.kind == target && !placed[o.text+":"] {
				return o.text
			}
		}
	}
	return ""
}

// Undefined marks the value of r as undefined at this point.
func (f *Func) Undefined(r Reg) { f.Op("", Def(r)) }

// Deeper changes the loop depth of the following instructions by the given number.
func (f *Func) Deeper(by int) { f.depth += by }

type kind uint8

const (
	register kind = iota
	number
	memory
	text
	target
)

// Operand is an operand of an instruction.
type Operand struct {
	kind             kind
	reg, index       Reg // of memory: the address is reg + index*scale + n
	scale, n         int64
	text             string
	part             part // of a vector register
	uses, defs, soon bool
}

// part is a part of a vector register.
type part uint8

const (
	whole part = iota
	half
	lowest
)

// Use is register r as an operand that is read.
func Use(r Reg) Operand { return Operand{reg: r, uses: true} }

// Def is register r as an operand that is written completely.
func Def(r Reg) Operand { return Operand{reg: r, defs: true} }

// Mod is register r as an operand that is read and written.
func Mod(r Reg) Operand { return Operand{reg: r, uses: true, defs: true} }

// Soon is o as a destination that is written before all sources are read, so that it cannot share
// their registers.
func (o Operand) Soon() Operand { o.soon = true; return o }

// Half is the lower half of a vector register.
func (o Operand) Half() Operand { o.part = half; return o }

// Word is the lowest element of a vector register.
func (o Operand) Word() Operand { o.part = lowest; return o }

// Imm is an immediate operand.
func Imm(n int64) Operand { return Operand{kind: number, n: n} }

// Mem is memory at the address r + n.
func Mem(r Reg, n int64) Operand { return Operand{kind: memory, reg: r, n: n} }

// Indexed is memory at the address r + scale*index; scale is 1, 2, 4 or 8.
func Indexed(r, index Reg, scale int64) Operand {
	return Operand{kind: memory, reg: r, index: index, scale: scale}
}

// Behind is the memory n bytes after o.
func (o Operand) Behind(n int64) Operand { o.n += n; return o }

// Vectored is memory at the address r + index for each lane, with index in bytes.
func Vectored(r, index Reg) Operand {
	return Operand{kind: memory, reg: r, index: index, scale: 1}
}
