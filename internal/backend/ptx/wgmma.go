package ptx

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Fields of a matrix descriptor, a register of 64 bits (PTX ISA, "Matrix Descriptor Format"): in the lower half the
// address and the leading byte offset, in the upper one the stride byte offset and the swizzle, all
// offsets in units of 16 bytes.
const (
	addressBits = 14
	besides     = 8192 / 16 << 16 // leading offset: from a panel to the one beside it
	group       = 1024 / 16       // stride offset: eight rows of a panel
	swizzle128  = 1 << 30
)

const wgmmaFence = "wgmma.fence.sync.aligned"

// descriptor returns the descriptor of the operand at p, an address in shared memory. Panels are
// groups of eight rows, one after the other, whether they count as one below the other or side by side. For a sum along the rows
// the leading offset is not used (ISA, "Strides": K-major with a swizzle); for one down the columns it leads to the next 64 of them.
func (s *selector) descriptor(p *ir.Value, down bool) operand {
	at := s.sharedAddress(p)
	base := s.inReg(b32, at.base)
	if at.offset%16 != 0 {
		base, at.offset = s.def(b32, "add.s32", base, imm(at.offset)), 0
	}
	more := at.offset / 16
	if down {
		more += besides
	}
	low := s.def(b32, "add.s32", s.def(b32, "bfe.u32", base, imm(4), imm(addressBits)), imm(more))
	d := s.out.newReg(b64)
	s.emit(inst{op: "mov.b64", form: pack, pure: true, dst: d, args: []operand{low, imm(group | swizzle128)}})
	return operand{reg: d}
}

var formatNames = map[ir.Format]string{
	ir.FormatF16: "f16", ir.FormatBF16: "bf16", ir.FormatTF32: "tf32", ir.FormatE4M3: "e4m3", ir.FormatE5M2: "e5m2",
}

// wgmma selects an asynchronous product, or an operation that orders products.
func (s *selector) wgmma(v *ir.Value) {
	switch v.Op {
	case ir.OpWGMMAFence:
		s.emit(inst{op: wgmmaFence})
	case ir.OpWGMMACommit:
		s.emit(inst{op: "wgmma.commit_group.sync.aligned"})
	case ir.OpWGMMAWait:
		s.wgmmaWait(v)
	default:
		s.product(v)
	}
}

// product selects an asynchronous product.
func (s *selector) product(v *ir.Value) {
	p, name := v.Product(), formatNames[v.Product().Format]
	in := inst{op: fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s", 2*v.Type.Len, 32/p.Format.Size(), name, name), form: product}
	var elements []*ir.Value
	if v.Op == ir.OpWGMMATiles {
		elements, in.tiles = v.Args[5:], len(v.Args[1:5])
		for _, a := range v.Args[1:5] {
			in.args = append(in.args, s.inReg(b32, s.operand(a)))
		}
		in.args = append(in.args, s.descriptor(v.Args[0], p.RightDown))
	} else {
		elements = v.Args[2:]
		in.args = append(in.args, s.descriptor(v.Args[0], p.LeftDown), s.descriptor(v.Args[1], p.RightDown))
	}
	in.args = append(in.args, s.truth(len(elements) > 0), imm(1), imm(1))
	if p.Format.Size() == 2 {
		if in.tiles == 0 {
			in.args = append(in.args, imm(one(p.LeftDown)))
		}
		in.args = append(in.args, imm(one(p.RightDown)))
	}
	for _, a := range elements {
		in.args = append(in.args, s.operand(a))
	}
	in.tied = len(elements)
	in.dst, in.more = s.results(v)
	s.emit(in)
}

// wgmmaWait selects the wait for products of an accumulator. Tiles that they read until then are arguments too.
func (s *selector) wgmmaWait(v *ir.Value) {
	in := inst{op: fmt.Sprintf("wgmma.wait_group.sync.aligned %d", v.Imm), form: held, tied: len(v.Args)}
	for _, a := range slices.Concat(s.tiles.Awaited[v], v.Args) {
		in.args = append(in.args, s.operand(a))
	}
	in.dst, in.more = s.results(v)
	s.emit(in)
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// setMaxNReg selects a change of the warp's share of the registers.
func (s *selector) setMaxNReg(v *ir.Value) {
	if v.Imm > 0 {
		s.emit(inst{op: "setmaxnreg.inc.sync.aligned.u32", args: []operand{imm(v.Imm)}})
	} else {
		s.emit(inst{op: "setmaxnreg.dec.sync.aligned.u32", args: []operand{imm(-v.Imm)}})
	}
}
