package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// copyAsync selects a copy that runs beside the threads, and what waits for such copies. Where
// there are none the thread copies itself, at once, and waits for nothing.
func (s *selector) copyAsync(v *ir.Value) {
	has := atLeast(s.target, better[ir.OpCopyAsync])
	switch {
	case v.Op == ir.OpFetchAsync:
		s.cpAsync(v)
	case v.Op == ir.OpCopyAsync && has && v.Args[0].Type.Space == ir.Shared && v.Args[1].Type.Space == ir.Global:
		s.cpAsync(v)
	case v.Op == ir.OpCopyAsync:
		s.copyNow(v)
	case v.Op == ir.OpCopyCommit && has:
		s.emit(inst{op: "cp.async.commit_group"})
	case v.Op == ir.OpCopyWait && has:
		s.emit(inst{op: "cp.async.wait_group", args: []operand{imm(v.Imm)}})
	}
}

// cpAsync selects cp.async. Copies of 16 bytes go past the L1 cache (.cg): other threads of the block
// find the data in shared memory.
func (s *selector) cpAsync(v *ir.Value) {
	cache := "ca"
	if v.Imm == 16 {
		cache = "cg"
	}
	to, from := s.sharedAddress(v.Args[0]), s.addressOf(v.Args[1])
	in := inst{
		op: "cp.async." + cache + ".shared.global", form: transfer,
		args: []operand{to.base, from.base, imm(v.Imm)}, offset: to.offset, offset2: from.offset,
	}
	if v.Op == ir.OpFetchAsync {
		in.args = append(in.args, s.operand(v.Args[2]))
	}
	s.emit(in)
}

// copyNow selects loads and stores. The addresses are aligned to the number of bytes.
func (s *selector) copyNow(v *ir.Value) {
	to, from := s.addressOf(v.Args[0]), s.addressOf(v.Args[1])
	size := min(v.Imm, 8)
	c, typ := b64, fmt.Sprintf(".u%d", 8*size)
	if size == 4 {
		c = b32
	}
	var parts []operand
	for at := int64(0); at < v.Imm; at += size {
		parts = append(parts, s.load("ld"+suffix(v.Args[1].Type.Space)+typ, c, address{from.base, from.offset + at}))
	}
	for i, o := range parts {
		s.store("st"+suffix(v.Args[0].Type.Space)+typ, address{to.base, to.offset + int64(i)*size}, o)
	}
}
