package vasm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Machine describes the registers of a processor.
type Machine struct {
	registers [classes][]string // by class
	parts     [3]string         // how the names of a whole vector register, of its half and of its lowest part begin
	size      int64             // of a vector register, in bytes
}

var integers = []string{"AX", "BX", "CX", "DX", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

// AVX512 has 512-bit vector registers and mask registers.
var AVX512 = Machine{[classes][]string{Integer: integers, Vector: numbered(32), Mask: {"K1", "K2", "K3", "K4", "K5", "K6", "K7"}}, [3]string{"Z", "Y", "X"}, 64}

// AVX2 has 256-bit vector registers and no mask registers.
var AVX2 = Machine{[classes][]string{Integer: integers, Vector: numbered(16)}, [3]string{"Y", "X", "X"}, 32}

// mostSpare is how many registers, the last of the class, an instruction may need for what lives in the frame.
const mostSpare = 3

func numbered(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

// slotSize returns how many bytes a register has in the frame.
func (m *Machine) slotSize(c Class) int64 {
	if c == Vector {
		return m.size
	}
	return 8
}

// allocate gives registers to intervals. Of each class as few are left out as the code then needs to bring in what lives in
// the frame. It returns the size of the frame.
func (p *printer) allocate(code []inst) (frame int64) {
	var lists [classes][]*interval
	for _, v := range p.all {
		if v != nil {
			lists[p.f.class[v.reg]] = append(lists[p.f.class[v.reg]], v)
		}
	}
	for c, list := range lists {
		slices.SortFunc(list, func(a, b *interval) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.reg, b.reg)) })
		for p.spare[c] = 0; ; p.spare[c]++ {
			end := p.scan(Class(c), list, frame)
			if !slices.ContainsFunc(list, func(v *interval) bool { return v.place < 0 }) || p.spare[c] == mostSpare || p.suffices(Class(c), code) {
				frame = end
				break
			}
		}
	}
	return frame
}

// suffices reports whether there are enough spare registers of a class.
func (p *printer) suffices(c Class, code []inst) bool {
	return p.spare[c] > 0 && !slices.ContainsFunc(code, func(in inst) bool { return p.spares(&in, c) > p.spare[c] })
}

// scan gives registers to intervals of a class in the order in which they begin. Where there is
// none, the one that is used least for its length goes to the frame (after Poletto and Sarkar, "Linear
// Scan Register Allocation"). It returns the size of the frame, which had one before.
func (p *printer) scan(c Class, list []*interval, frame int64) int64 {
	n := len(p.f.machine.registers[c]) - p.spare[c]
	var active []*interval
	for _, v := range list {
		active = slices.DeleteFunc(active, func(w *interval) bool { return w.end < v.start })
		active = append(active, v)
		v.place = -1
		if v.place = free(active, n); v.place >= 0 {
			continue
		}
		worst := slices.MinFunc(active, func(a, b *interval) int { return cmp.Or(cmp.Compare(a.value(), b.value()), cmp.Compare(a.reg, b.reg)) })
		v.place, worst.place = worst.place, -1
		if p.params[worst.reg] == "" {
			worst.slot = frame
			frame += p.f.machine.slotSize(c)
		}
		active = slices.DeleteFunc(active, func(w *interval) bool { return w == worst })
	}
	return frame
}

// value describes how much a register is worth to the interval.
func (v *interval) value() float64 { return v.weight / float64(v.end-v.start+2) }

// free returns a register that no active interval has, or -1.
func free(active []*interval, n int) int {
	for r := range n {
		if !slices.ContainsFunc(active, func(w *interval) bool { return w.place == r }) {
			return r
		}
	}
	return -1
}

// Signature returns the declaration of the function in Go.
func (f *Func) Signature() string {
	var list []string
	for _, p := range f.params {
		list = append(list, p.name+" "+p.typ)
	}
	return fmt.Sprintf("func %s(%s) (done int)", f.name, strings.Join(list, ", "))
}

// Text returns the function in Go's assembly language. It contains line directives for profiles and debuggers.
// Instructions of one source line are on one line of the text, because the assembler increments the line number at
// each newline.
func (f *Func) Text() string {
	code := straighten(slices.Concat(f.entry, f.code))
	mergeLines(code)
	addresses(code)
	p := &printer{f: f, all: intervals(code, len(f.class)), params: paramRegs(code)}
	frame := p.allocate(code)
	p.nameSpares()
	p.at(f.start.before())
	p.end(fmt.Sprintf("TEXT ·%s(SB), 0, $%d-%d", f.name, frame, f.resultAt()+8))
	read := flagsReadAfter(code)
	for i, in := range code {
		for _, in := range p.direct(in, read[i]) {
			p.inst(in)
		}
	}
	p.flush()
	if p.label != "" {
		p.end(strings.TrimSpace(p.label))
	}
	return p.out.String()
}

// nameSpares lists the spare registers.
func (p *printer) nameSpares() {
	for c, list := range p.f.machine.registers {
		for i := range p.spare[c] {
			p.cached[c][i].name = list[len(list)-1-i]
		}
	}
}

type printer struct {
	f      *Func
	all    []*interval
	out    strings.Builder
	line   strings.Builder // the instructions of the current line
	first  string          // the operation of the first of them
	label  string          // the labels of the next instruction
	pos    Pos             // of the current line
	next   Pos             // that the assembler gives the next line of the text
	spare  [classes]int    // how many registers, the last, take what lives in the frame
	cached [classes][mostSpare]spare
	held   map[Reg]*spare // what the current instruction has in spare registers
	params map[Reg]string // the parameters that are all that registers ever hold
	count  int            // of the instructions up to the current one
}

// spare is a register for what lives in the frame.
type spare struct {
	name  string
	holds Reg // whose value it has, as the frame does; 0 for none
	used  int // the count of the last instruction that used it
}

// maxLine is the length of a line from which on the next instruction is in another one.
const maxLine = 3000

// maxGap is the largest number of newlines that take the place of a #line.
const maxGap = 16

// at writes where the next line comes from, if the assembler's count differs. Go's assembler (1.26) counts from after the line that follows a #line as if that
// had the number: the number is one more, and TestLines sees to it.
func (p *printer) at(place Pos) {
	switch gap := place.Line - p.next.Line; {
	case place == (Pos{}):
	case place.File == p.next.File && gap >= 0 && gap <= maxGap:
		p.out.WriteString(strings.Repeat("\n", gap))
		p.next = place
	default:
		fmt.Fprintf(&p.out, "#line %d %q\n", place.Line+1, place.File)
		p.next = place
	}
}

// end writes a line of the text.
func (p *printer) end(line string) {
	p.out.WriteString(line + "\n")
	p.next.Line++
}

// write adds an instruction to the current line.
func (p *printer) write(op, operands string) {
	if p.line.Len() > maxLine || p.pos == (Pos{}) {
		p.flush()
	}
	if p.line.Len() > 0 {
		p.line.WriteString("; ")
	} else {
		p.first = op
	}
	p.line.WriteString(p.label)
	p.label = ""
	p.line.WriteString(strings.TrimSpace(op + " " + operands))
}

// compact removes spaces, which are a tenth of the text, and offsets of 0.
var compact = strings.NewReplacer("; ", ";", ", 0(", ",(", ", ", ",", ": ", ":", " 0(", " (")

// flush ends the current line.
func (p *printer) flush() {
	if p.line.Len() > 0 {
		p.at(p.pos)
		p.end(compact.Replace(p.line.String()))
		p.line.Reset()
	}
}

var moves = [classes]string{Integer: "MOVQ", Vector: "VMOVUPS", Mask: "KMOVQ"}

func (p *printer) inst(in inst) {
	switch {
	case strings.HasSuffix(in.op, ":"):
		p.label += in.op + " "
		p.forget()
		return
	case in.op == "":
		return
	}
	if in.pos != p.pos {
		p.flush()
		p.pos = in.pos
	}
	p.count, p.held = p.count+1, map[Reg]*spare{}
	folded := p.folded(&in)
	for i := range in.ops {
		if i != folded {
			in.ops[i].reads(p.load)
		}
	}
	var words []string
	for i := range in.ops {
		if i == folded {
			words = append(words, p.slot(in.ops[i].reg))
		} else {
			words = append(words, p.operand(&in.ops[i]))
		}
	}
	isCopy := p.isCopy(&in)
	if isCopy && folded >= 0 {
		in.op = moves[p.f.class[in.ops[0].reg]]
	}
	if !isCopy || words[0] != words[1] {
		p.instruction(&in, words)
	}
	for i, o := range in.ops {
		if v := p.all[max(0, o.reg)]; o.kind == register && o.defs && v.place < 0 && !slices.ContainsFunc(in.ops[:i], func(w Operand) bool { return w.kind == register && w.reg == o.reg && w.defs }) {
			p.store(o.reg, i == folded)
		}
	}
}

// store updates what the frame has of r, which was defined in a spare register or already in the frame.
func (p *printer) store(r Reg, inFrame bool) {
	c := p.f.class[r]
	for i := range p.cached[c] {
		if p.cached[c][i].holds == r {
			p.cached[c][i].holds = 0
		}
	}
	if !inFrame {
		p.held[r].holds = r
		p.write(moves[c], p.full(c, p.held[r].name)+", "+p.slot(r))
	}
}

// forget is called where several ways meet: what the spare registers hold depends on the way.
func (p *printer) forget() {
	for c := range p.cached {
		for i := range p.cached[c] {
			p.cached[c][i].holds = 0
		}
	}
}

// instruction writes an instruction with its operands.
func (p *printer) instruction(in *inst, words []string) {
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "(FP)") }) {
		p.param(in.op)
	}
	p.write(in.op, strings.Join(words, ", "))
}

// param ends the current line if an operation on a parameter must not follow in it. go vet takes the first operation of a
// line for that of all the line's parameters, and compares its size, if it knows that, with theirs.
func (p *printer) param(op string) {
	if p.line.Len() > 0 && vetSize(p.first) != 0 && vetSize(p.first) != vetSize(op) {
		p.flush()
	}
}

// vetSize returns how many bytes go vet believes the operands of an operation have, 0 for unknown. It reads the letters
// before the first digit.
func vetSize(op string) int {
	if digit := strings.IndexAny(op, "0123456789"); digit > 0 {
		op = op[:digit]
	}
	switch op[len(op)-1] {
	case 'B':
		return 1
	case 'W':
		return 2
	case 'L':
		return 4
	case 'D', 'Q':
		return 8
	case 'S':
		if strings.HasSuffix(op, "SS") {
			return 4
		}
	}
	return 0
}

// full returns the name of a whole register.
func (p *printer) full(c Class, name string) string {
	if c == Vector {
		return p.f.machine.parts[whole] + name
	}
	return name
}

// load brings what lives in the frame into a spare register, unless it is in one.
func (p *printer) load(r Reg) {
	v := p.all[r]
	if v.place >= 0 || p.held[r] != nil {
		return
	}
	c := p.f.class[r]
	for i := range p.cached[c] {
		if x := &p.cached[c][i]; x.holds == r {
			x.used, p.held[r] = p.count, x
			return
		}
	}
	x := p.take(r)
	if p.params[r] != "" {
		p.param(moves[c])
	}
	p.write(moves[c], p.slot(r)+", "+p.full(c, x.name))
	x.holds = r
}

// slot returns where r lives in the frame.
func (p *printer) slot(r Reg) string {
	return cmp.Or(p.params[r], fmt.Sprintf("%d(SP)", p.all[r].slot))
}

// take gives r the spare register that was used least recently. What is only written may share one that the instruction
// has read.
func (p *printer) take(r Reg) *spare {
	c := p.f.class[r]
	var best *spare
	for i := range p.spare[c] {
		x := &p.cached[c][i]
		if best == nil || x.used < best.used {
			best = x
		}
	}
	best.holds, best.used, p.held[r] = 0, p.count, best
	return best
}

func (p *printer) name(r Reg) string {
	if v := p.all[r]; v.place >= 0 {
		return p.f.machine.registers[p.f.class[r]][v.place]
	}
	if p.held[r] == nil {
		p.take(r)
	}
	return p.held[r].name
}

func (p *printer) operand(o *Operand) string {
	switch o.kind {
	case number:
		return fmt.Sprintf("$%d", o.n)
	case text, target:
		return o.text
	case memory:
		s := fmt.Sprintf("%d(%s)", o.n, p.name(o.reg))
		if o.scale > 0 {
			s += fmt.Sprintf("(%s*%d)", p.partName(o.index, o.part), o.scale)
		}
		return s
	}
	return p.partName(o.reg, o.part)
}

// partName returns the name of a part of r, or of r itself where that is not a vector.
func (p *printer) partName(r Reg, o part) string {
	if p.f.class[r] == Vector {
		return p.f.machine.parts[o] + p.name(r)
	}
	return p.name(r)
}
