package vasm

import (
	"math/bits"
	"slices"
	"strings"
)

// paramRegs returns the registers that are written once, with a parameter of 8 bytes. Such a register needs no place in
// the frame, because the parameter has one.
func paramRegs(code []inst) map[Reg]string {
	list, writes := map[Reg]string{}, map[Reg]int{}
	for _, in := range code {
		for _, o := range in.ops {
			if o.kind == register && o.defs {
				writes[o.reg]++
			}
		}
		if in.op == "MOVQ" && in.ops[0].kind == text && in.ops[1].kind == register {
			list[in.ops[1].reg] = in.ops[0].text
		}
	}
	for r := range list {
		if writes[r] > 1 {
			delete(list, r)
		}
	}
	return list
}

// addresses makes one LEAQ of a copy, a shift by at most 3 and an addition:
//
//	MOVQ BX,R13; SHLQ $2,R13; ADDQ DX,R13    is    LEAQ (DX)(BX*4),R13
func addresses(code []inst) {
	for i := range code[:max(0, len(code)-2)] {
		in, shift, sum := &code[i], &code[i+1], &code[i+2]
		if in.op != "MOVQ" || shift.op != "SHLQ" || sum.op != "ADDQ" || in.ops[0].kind != register || in.ops[1].kind != register ||
			shift.ops[0].kind != number || shift.ops[0].n < 1 || shift.ops[0].n > 3 || sum.ops[0].kind != register {
			continue
		}
		index, base, to := in.ops[0].reg, sum.ops[0].reg, in.ops[1].reg
		if shift.ops[1].reg == to && sum.ops[1].reg == to && index != to && base != to && !flagsRead(code[i+3:]) {
			*sum = inst{"LEAQ", []Operand{Indexed(base, index, 1<<shift.ops[0].n), Def(to)}, sum.depth, sum.pos}
			*in, *shift = inst{depth: in.depth, pos: in.pos}, inst{depth: in.depth, pos: in.pos}
		}
	}
}

// flagsRead reports whether code may read the flags that it finds. No flags stay alive across a label.
func flagsRead(code []inst) bool {
	for _, in := range code {
		if reads, ends := flagsUsed(in.op); ends {
			return reads
		}
	}
	return false
}

// flagsReadAfter returns what flagsRead reports of the code after each instruction.
func flagsReadAfter(code []inst) []bool {
	after, read := make([]bool, len(code)), false
	for i, in := range slices.Backward(code) {
		after[i] = read
		if reads, ends := flagsUsed(in.op); ends {
			read = reads
		}
	}
	return after
}

// flagsUsed reports whether an instruction reads flags, and whether it ends the search for those that do: it reads flags, replaces them or jumps.
func flagsUsed(op string) (reads, ends bool) {
	switch {
	case op == "" || strings.HasPrefix(op, "MOV") || strings.HasPrefix(op, "LEA") || op[0] == 'V' && op != "VPTEST" || op[0] == 'K' && !strings.HasPrefix(op, "KORTEST"):
		return false, false
	case op == "JMP":
		return false, true
	}
	return isJump(op) || strings.HasPrefix(op, "CMOV") || strings.HasPrefix(op, "SET") || op == "ADCQ" || op == "SBBQ", true
}

// modifying are the instructions that may modify memory as they modify a register.
var modifying = map[string]bool{"ADDQ": true, "SUBQ": true, "ANDQ": true, "ORQ": true, "XORQ": true, "SHLQ": true, "SHRQ": true, "SARQ": true}

// commutative are the instructions whose first two operands may change places. Floating-point instructions are not among
// them, because the first of two NaNs is the result.
var commutative = map[string]bool{
	"VPADDD": true, "VPADDQ": true, "VPMULLD": true, "VPMULLQ": true, "VPMULUDQ": true, "VPAND": true, "VPOR": true, "VPXOR": true,
	"VPANDD": true, "VPANDQ": true, "VPORD": true, "VPORQ": true, "VPXORD": true, "VPXORQ": true, "VPCMPEQD": true, "VPCMPEQQ": true,
}

// inPlace reports whether the second operand of in is written in the frame: a constant, or the result of a modification.
func (p *printer) inPlace(in *inst) bool {
	if len(in.ops) != 2 || !p.inFrame(&in.ops[1]) || !in.ops[1].defs {
		return false
	}
	from := &in.ops[0]
	small := from.kind == number && from.n == int64(int32(from.n))
	if in.ops[1].uses {
		return modifying[in.op] && (small || from.kind == register && !strings.HasPrefix(in.op, "S") || from.kind == register && in.op == "SUBQ")
	}
	return in.op == "MOVQ" && small
}

// inFrame reports whether o is a register of integers or vectors that lives in the frame.
func (p *printer) inFrame(o *Operand) bool {
	return o.kind == register && o.part == whole && p.all[o.reg].place < 0
}

// direct returns in, or a shorter form that takes operands from the frame where they are. Its results may destroy the
// flags, unless these are needed.
func (p *printer) direct(in inst, flags bool) []inst {
	switch same := len(in.ops) == 2 && in.ops[0].kind == register && in.ops[0].reg == in.ops[1].reg; {
	case in.op == "XORQ" && same && !in.ops[1].uses && p.inFrame(&in.ops[1]):
		in.op, in.ops = "MOVQ", []Operand{Imm(0), in.ops[1]}
	case in.op == "TESTB" && same && p.inFrame(&in.ops[0]):
		in.op, in.ops = "CMPB", []Operand{in.ops[0], Imm(0)}
	case in.op == "MOVQ" && in.ops[0].kind == text && in.ops[1].kind == register && p.params[in.ops[1].reg] != "" && p.inFrame(&in.ops[1]):
		return nil
	case in.op == "LEAQ" && !flags:
		return p.sum(in)
	case in.op == "IMUL3Q" && in.ops[0].n > 0 && bits.OnesCount64(uint64(in.ops[0].n)) == 1 && p.samePlace(in.ops[1].reg, in.ops[2].reg):
		in.op, in.ops = "SHLQ", []Operand{Imm(int64(bits.TrailingZeros64(uint64(in.ops[0].n)))), Mod(in.ops[2].reg)}
	case commutative[in.op] && len(in.ops) == 3 && p.inFrame(&in.ops[1]) && in.ops[0].kind == register && in.ops[0].uses && !p.inFrame(&in.ops[0]):
		in.ops = []Operand{in.ops[1], in.ops[0], in.ops[2]}
	}
	return []inst{in}
}

// samePlace reports whether two registers are one of the machine's.
func (p *printer) samePlace(a, b Reg) bool {
	return p.all[a].place >= 0 && p.all[a].place == p.all[b].place
}

// sum returns in, a LEAQ, or an ADDQ of what lives in the frame.
func (p *printer) sum(in inst) []inst {
	from, to := in.ops[0], in.ops[1]
	if from.kind != memory || p.inFrame(&to) || from.n != int64(int32(from.n)) {
		return []inst{in}
	}
	add, rest := Use(from.reg), Use(from.index)
	switch {
	case from.scale == 0:
		add, rest = Imm(from.n), add
		if from.n == 0 || !p.inFrame(&rest) {
			return []inst{in}
		}
	case from.scale == 1 && from.n == 0 && p.inFrame(&rest) && !p.inFrame(&add):
		add, rest = rest, add
	case from.scale > 1 || from.n != 0 || !p.inFrame(&add) || p.inFrame(&rest):
		return []inst{in}
	}
	if p.isCached(from.reg) || from.scale > 0 && p.isCached(from.index) {
		return []inst{in}
	}
	return []inst{{"MOVQ", []Operand{rest, Def(to.reg)}, in.depth, in.pos}, {"ADDQ", []Operand{add, Mod(to.reg)}, in.depth, in.pos}}
}

// isCached reports whether a spare register has the value of r.
func (p *printer) isCached(r Reg) bool {
	return slices.ContainsFunc(p.cached[Integer][:], func(s spare) bool { return s.holds == r })
}
