package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// results makes the registers of an operation with several results.
func (s *selector) results(v *ir.Value) (first reg, more []reg) {
	for i := range v.Type.NumParts() {
		s.parts[v.ID] = append(s.parts[v.ID], s.out.newReg(classOf(v.Type.Part(i))))
	}
	return s.parts[v.ID][0], s.parts[v.ID][1:]
}

// sharedAddress returns where pointer v points in shared memory, where the frontend has made sure
// that it does.
func (s *selector) sharedAddress(v *ir.Value) address {
	if v.Type.Space == ir.Shared {
		return s.addressOf(v)
	}
	return address{base: s.fromGeneric(ir.Shared, s.operand(v))}
}

func (s *selector) loadMatrix(v *ir.Value) {
	op := fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d", v.Type.Len)
	if v.Imm == 1 {
		op += ".trans"
	}
	at := s.sharedAddress(v.Args[0])
	in := inst{op: op + ".shared.b16", form: spread, args: []operand{at.base}, offset: at.offset}
	in.dst, in.more = s.results(v)
	s.emit(in)
}

func (s *selector) storeMatrix(v *ir.Value) {
	at := s.sharedAddress(v.Args[0])
	in := inst{op: "stmatrix.sync.aligned.m8n8.x4.shared.b16", form: vector, args: []operand{at.base}, offset: at.offset}
	for _, a := range v.Args[1:] {
		in.args = append(in.args, s.inReg(b32, s.operand(a)))
	}
	s.emit(in)
}

// mma selects a product of 16x16 by 16x8 elements.
func (s *selector) mma(v *ir.Value) {
	typ := map[ir.Format]string{ir.FormatF16: ".f16", ir.FormatBF16: ".bf16"}[ir.Format(v.Imm)]
	in := inst{op: "mma.sync.aligned.m16n8k16.row.col.f32" + typ + typ + ".f32", form: matrix, groups: [3]int{4, 2, 4}}
	for _, a := range v.Args {
		in.args = append(in.args, s.inReg(classOf(a.Type), s.operand(a)))
	}
	in.dst, in.more = s.results(v)
	s.emit(in)
}
