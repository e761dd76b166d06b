package ptx

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const exitLabel = "$EXIT"

// preferPositive turns branches back to a loop on a negated predicate into ones on the
// predicate itself: ptxas unrolls only the latter (1.7 times on an H200).
func preferPositive(f *function) {
	uses, def := make([]int, len(f.regs)), make([]*inst, len(f.regs))
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			def[in.dst] = in
			for _, a := range in.args {
				uses[a.reg]++
			}
		}
		uses[b.cond.reg]++
	}
	for i, b := range f.blocks {
		if b.end != branch || i+1 == len(f.blocks) || b.succs[0] != f.blocks[i+1] || b.succs[1].index > i {
			continue
		}
		b.succs[0], b.succs[1] = b.succs[1], b.succs[0]
		r := b.cond.reg
		if d := def[r]; d != nil && uses[r] == 1 {
			if op, ok := opposite(d.op); ok {
				d.op = op
				continue
			}
		}
		not := f.newReg(pred)
		b.insts = append(b.insts, inst{op: "not.pred", dst: not, args: []operand{b.cond}, pos: b.pos})
		b.cond = operand{reg: not}
	}
}

// writer prints instructions.
type writer struct {
	f        *function
	out      strings.Builder
	names    []string // by register
	counts   [numClasses]int
	files    []string // of .loc, numbered from 1
	line     ir.Pos   // of the last .loc
	exitUsed bool
	leave    string // what a thread does at the exit
}

// body prints f and returns the text.
func (w *writer) body(f *function) string {
	w.f, w.names = f, make([]string, len(f.regs))
	w.labels()
	for i, b := range f.blocks {
		var next *block
		if i+1 < len(f.blocks) {
			next = f.blocks[i+1]
		}
		w.block(b)
		w.end(b, next)
	}
	w.exit()
	for _, b := range f.cold {
		w.block(b)
	}
	return w.out.String()
}

// labels names the blocks that something goes to other than by falling through.
func (w *writer) labels() {
	for i, b := range w.f.blocks {
		for _, s := range b.succs {
			if s.index != i+1 {
				s.label = "$B"
			}
		}
		w.exitUsed = w.exitUsed || b.end == toExit && i+1 < len(w.f.blocks)
	}
	w.exitUsed = w.exitUsed || len(w.f.cold) > 0
	n := 0
	for _, b := range w.f.blocks {
		if b.label != "" {
			b.label = fmt.Sprintf("$B%d", n)
			n++
		}
	}
}

func (w *writer) block(b *block) {
	if b.label != "" {
		fmt.Fprintf(&w.out, "%s:\n", b.label)
	}
	if b.rolled {
		w.out.WriteString("\t.pragma \"nounroll\";\n")
	}
	for i := range b.insts {
		w.loc(b.insts[i].pos)
		fmt.Fprintf(&w.out, "\t%s;\n", w.inst(&b.insts[i]))
	}
}

// loc describes where the next instruction comes from, at every change of line.
func (w *writer) loc(p ir.Pos) {
	if !p.Known() || p.File == w.line.File && p.Line == w.line.Line {
		return
	}
	w.line = p
	file := 0
	for file < len(w.files) && w.files[file] != p.File {
		file++
	}
	if file == len(w.files) {
		w.files = append(w.files, p.File)
	}
	fmt.Fprintf(&w.out, "\t.loc %d %d %d\n", file+1, p.Line, p.Col)
}

func (w *writer) inst(in *inst) string {
	switch in.form {
	case check:
		return fmt.Sprintf("@!%s bra %s", w.operand(in.args[0]), in.stub.label)
	case hop:
		if len(in.args) > 0 {
			return fmt.Sprintf("@%s bra %s", w.operand(in.args[0]), in.op)
		}
		return "bra " + in.op
	}
	switch in.form {
	case spread:
		return fmt.Sprintf("%s {%s}, %s", in.op, w.results(in), w.address(in.args[0], in.offset))
	case matrix:
		return w.matrix(in)
	case product, held:
		return w.tied(in)
	case brackets:
		return w.brackets(in)
	}
	var parts []string
	if in.dst != 0 {
		parts = append(parts, w.name(in.dst))
	}
	args := in.args
	if in.form == access || in.form == vector || in.form == transfer {
		parts = append(parts, w.address(args[0], in.offset))
		args = args[1:]
	}
	if in.form == transfer {
		parts = append(parts, w.address(args[0], in.offset2))
		args = args[1:]
	}
	rest := w.operands(args)
	if in.form == vector || in.form == pack {
		rest = []string{"{" + strings.Join(rest, ", ") + "}"}
	}
	return strings.TrimSuffix(in.op+" "+strings.Join(append(parts, rest...), ", "), " ")
}

// results prints the destinations of an instruction with several.
func (w *writer) results(in *inst) string {
	names := []string{w.name(in.dst)}
	for _, r := range in.more {
		names = append(names, w.name(r))
	}
	return strings.Join(names, ", ")
}

func (w *writer) matrix(in *inst) string {
	text, args := in.op+" {"+w.results(in)+"}", in.args
	for _, n := range in.groups {
		text, args = text+", {"+strings.Join(w.operands(args[:n]), ", ")+"}", args[n:]
	}
	return text
}

// tied prints an instruction that replaces what is in registers.
func (w *writer) tied(in *inst) string {
	if in.form == held {
		return in.op
	}
	parts := []string{"{" + w.results(in) + "}"}
	if in.tiles > 0 {
		parts = append(parts, "{"+strings.Join(w.operands(in.args[:in.tiles]), ", ")+"}")
	}
	parts = append(parts, w.operands(in.args[in.tiles:len(in.args)-in.tied])...)
	return in.op + " " + strings.Join(parts, ", ")
}

// brackets prints the instruction's pattern with the names of its operands.
func (w *writer) brackets(in *inst) string {
	var b strings.Builder
	b.WriteString(in.op + " ")
	args := in.args
	if in.dst != 0 {
		b.WriteString(w.name(in.dst) + ", ")
	}
	for _, r := range in.pattern {
		if r != '%' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(w.operand(args[0]))
		args = args[1:]
	}
	return b.String()
}

func (w *writer) address(base operand, offset int64) string {
	if offset == 0 {
		return "[" + w.operand(base) + "]"
	}
	return fmt.Sprintf("[%s+%d]", w.operand(base), offset)
}

func (w *writer) operands(all []operand) []string {
	var names []string
	for _, o := range all {
		names = append(names, w.operand(o))
	}
	return names
}

func (w *writer) operand(o operand) string {
	if o.reg == 0 {
		return o.text
	}
	return w.name(o.reg)
}

// name returns the register's name. They are numbered in the order of the text.
func (w *writer) name(r reg) string {
	if w.names[r] == "" {
		c := w.f.regs[r]
		w.counts[c]++
		w.names[r] = fmt.Sprintf("%s%d", classes[c].prefix, w.counts[c])
	}
	return w.names[r]
}

// end prints how b is left when next is after it.
func (w *writer) end(b, next *block) {
	switch b.end {
	case toNext:
		w.bra("", b, b.succs[0], next)
	case branch:
		cond, no := w.operand(b.cond), b.succs[1]
		if b.succs[0] == next {
			w.bra("@!"+cond+" ", b, no, nil)
			return
		}
		w.bra("@"+cond+" ", b, b.succs[0], nil)
		w.bra("", b, no, next)
	case toFault:
		w.loc(b.pos)
		fmt.Fprintf(&w.out, "\tbra %s;\n", b.stub.label)
	case toExit:
		if next != nil {
			w.loc(b.pos)
			fmt.Fprintf(&w.out, "\tbra %s;\n", exitLabel)
		}
	}
}

// bra prints a branch to a block unless that is next.
func (w *writer) bra(guard string, from, to, next *block) {
	if to == next {
		return
	}
	w.loc(from.pos)
	fmt.Fprintf(&w.out, "\t%sbra %s;\n", guard, to.label)
}

// exit prints the kernel's single exit.
func (w *writer) exit() {
	if w.exitUsed {
		fmt.Fprintf(&w.out, "%s:\n", exitLabel)
	}
	w.out.WriteString(w.leave + "\tret;\n")
}

// registers returns the declarations of the registers that were named.
func (w *writer) registers() string {
	var b strings.Builder
	for c, n := range w.counts {
		if n > 0 {
			fmt.Fprintf(&b, "\t.reg %s %s<%d>;\n", classes[c].typ, classes[c].prefix, n+1)
		}
	}
	return b.String()
}
