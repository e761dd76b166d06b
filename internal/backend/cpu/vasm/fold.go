package vasm

import "slices"

// folds has the operands of instructions that may be memory in place of a register: what lives in the frame is then not
// loaded first. Instructions that want it aligned are not here.
var folds = foldTable()

func foldTable() map[string][]int {
	t := map[string][]int{"CMPQ": {0, 1}, "CMPL": {0, 1}, "CMPB": {0}, "VBLENDVPS": {1}}
	for _, op := range []string{
		"ADDQ", "SUBQ", "ANDQ", "ORQ", "XORQ", "IMULQ", "ADDL", "SUBL", "ANDL", "ORL", "XORL", "IMULL", "MOVL", "MOVLQSX", "CMOVQGT", "CMOVQLT",
		"VADDPS", "VADDPD", "VSUBPS", "VSUBPD", "VMULPS", "VMULPD", "VDIVPS", "VDIVPD", "VSQRTPS", "VSQRTPD", "VFMADD231PS", "VFMADD231PD",
		"VMINPS", "VMINPD", "VMAXPS", "VMAXPD", "VPADDD", "VPADDQ", "VPSUBD", "VPSUBQ", "VPMULLD", "VPMULLQ", "VPMULUDQ",
		"VPAND", "VPANDN", "VPOR", "VPXOR", "VPANDD", "VPANDQ", "VPORD", "VPORQ", "VPXORD", "VPXORQ",
		"VPSLLVD", "VPSLLVQ", "VPSRLVD", "VPSRLVQ", "VPSRAVD", "VPSRAVQ", "VPCMPEQD", "VPCMPEQQ", "VPCMPGTD", "VPCMPGTQ",
		"VPBLENDMD", "VPBLENDMQ", "VPTESTMD", "VCVTDQ2PS", "VCVTTPS2DQ",
	} {
		t[op] = []int{0}
	}
	for _, op := range []string{
		"VCMPPS", "VCMPPD", "VPCMPD", "VPCMPQ", "VPCMPUD", "VPCMPUQ", "VRANGEPS", "VRANGEPD", "VRNDSCALEPS", "VRNDSCALEPD", "VROUNDPS", "VROUNDPD",
		"VSHUFPS", "VPSHUFD", "VPBLENDD", "VPERMQ",
	} {
		t[op] = []int{1}
	}
	return t
}

// copies are the instructions that copy a register, by class.
var copies = [classes]string{Integer: "MOVQ", Vector: "VMOVUPS", Mask: "KMOVW"}

// isCopy reports whether in copies a whole register to another one.
func (p *printer) isCopy(in *inst) bool {
	if len(in.ops) != 2 || in.ops[0].kind != register || in.ops[1].kind != register || in.ops[0].part != whole || in.ops[1].part != whole {
		return false
	}
	c := p.f.class[in.ops[0].reg]
	return c == p.f.class[in.ops[1].reg] && in.op == copies[c]
}

// folded returns which operand of in is taken from the frame as it is, or written there; -1 for none.
func (p *printer) folded(in *inst) int {
	if p.isCopy(in) {
		switch from, to := p.all[in.ops[0].reg].place < 0, p.all[in.ops[1].reg].place < 0; {
		case from && !to:
			return 0
		case to && !from:
			return 1
		}
		return -1
	}
	if p.inPlace(in) {
		return 1
	}
	for _, i := range folds[in.op] {
		o := in.ops[i]
		if !p.inFrame(&o) || o.defs || p.params[o.reg] != "" && vetSize(in.op) != 0 && vetSize(in.op) != 8 {
			continue
		}
		if !slices.ContainsFunc(in.ops, func(w Operand) bool { return w.kind == memory }) && !p.reads(in, i) {
			return i
		}
	}
	return -1
}

// reads reports whether in needs the register of operand i for another one, too.
func (p *printer) reads(in *inst, i int) bool {
	for k, o := range in.ops {
		if k != i && o.kind == register && o.reg == in.ops[i].reg {
			return true
		}
	}
	return false
}

// spares returns how many registers of a class in needs for what lives in the frame.
func (p *printer) spares(in *inst, c Class) int {
	folded := p.folded(in)
	var loaded []Reg
	written := 0
	for i := range in.ops {
		if i == folded {
			continue
		}
		o := &in.ops[i]
		o.reads(func(r Reg) {
			if p.f.class[r] == c && p.all[r].place < 0 && !slices.Contains(loaded, r) {
				loaded = append(loaded, r)
			}
		})
		if o.kind == register && o.defs && p.f.class[o.reg] == c && p.all[o.reg].place < 0 {
			written = 1
		}
	}
	return max(len(loaded), written)
}
