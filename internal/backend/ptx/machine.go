package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// class is a kind of register.
type class uint8

const (
	pred class = iota
	b16        // between a conversion and the register of 32 bits that holds the number
	b32
	b64
	f32
	f64
	numClasses
)

// classes describes how registers are declared, named and moved.
var classes = [numClasses]struct{ typ, prefix, move string }{
	pred: {".pred", "%p", "mov.pred"},
	b16:  {".b16", "%rs", "mov.u16"},
	b32:  {".b32", "%r", "mov.u32"},
	b64:  {".b64", "%rd", "mov.u64"},
	f32:  {".f32", "%f", "mov.f32"},
	f64:  {".f64", "%fd", "mov.f64"},
}

// classOf returns the class of registers that hold values of type t.
func classOf(t *ir.Type) class {
	switch t.Kind {
	case ir.KindI1:
		return pred
	case ir.KindI64:
		return b64
	case ir.KindF32:
		return f32
	case ir.KindF64:
		return f64
	case ir.KindPtr:
		if short(t.Space) {
			return b32
		}
		return b64
	}
	return b32
}

// reg is a virtual register; 0 is none. Up to copies.go a register is written once.
type reg int

// operand is a register or the text of a constant, a symbol or a special register.
type operand struct {
	reg  reg
	text string
}

// form describes how an instruction is printed.
type form uint8

const (
	plain    form = iota // op dst, args...
	access               // op dst, [args[0]+offset], args[1:]...
	vector               // op [args[0]+offset], {args[1], args[2]}
	pack                 // op dst, {args...}
	transfer             // op [args[0]+offset], [args[1]+offset2], args[2:]...
	spread               // op {dst, more...}, [args[0]+offset]
	matrix               // op {dst, more...}, {args...}, {args...}, {args...}; the last three groups as long as groups says
	product              // op {dst, more...}, {tiles}, args...; the first args are the tiles, the last ones what dst and more hold before
	held                 // op; the last args are what dst and more hold before, the others only stay in their registers until here
	brackets             // op texts and args: see tile.go
	check                // @!args[0] bra to the stub; the other args are live there
	hop                  // @args[0] bra to the exit or, without args, bra to the label in op
)

// inst is an instruction. A pure one may be dropped or merged with its equal.
type inst struct {
	op      string
	form    form
	pure    bool
	dst     reg
	args    []operand
	offset  int64
	offset2 int64
	more    []reg  // of spread and matrix
	groups  [3]int // of matrix
	tiles   int    // of product: how many of args, the first ones, are tiles
	tied    int    // how many of args, the last ones, are in the registers that dst and more replace: one of each pair
	pattern string // of brackets: the text, in which each % stands for an argument
	stub    *stub
	pos     ir.Pos
}

// phi is a register whose value depends on where its block is entered from: args
// stands in the order of the block's preds.
type phi struct {
	dst  reg
	args []operand
}

// ending describes how a block is left.
type ending uint8

const (
	toNext  ending = iota // to succs[0]
	branch                // to succs[0] where cond holds, else to succs[1]
	toExit                // to the kernel's exit
	toFault               // to the stub
)

// block is a basic block of instructions.
type block struct {
	phis         []phi
	insts        []inst
	preds, succs []*block
	end          ending
	cond         operand
	stub         *stub
	stubRegs     []reg  // that the stub at the end reads
	pos          ir.Pos // of the end
	rolled       bool   // ptxas must not unroll the loop that begins here

	index int // place in the layout
	label string
}

// function is a kernel in instructions.
type function struct {
	blocks []*block // in layout order
	cold   []*block // after the exit: reached by checks, left by hops
	regs   []class  // by register
}

func (f *function) newReg(c class) reg {
	f.regs = append(f.regs, c)
	return reg(len(f.regs) - 1)
}

// number notes the places in the layout.
func (f *function) number() {
	for i, b := range f.blocks {
		b.index = i
	}
}
