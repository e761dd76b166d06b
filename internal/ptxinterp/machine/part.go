package machine

import "github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"

// wordBytes is the size of the smallest number that an atomic operation updates. To update a byte or a half of a word,
// code rounds its address down to that of the word, and swaps the whole word:
//
//	and.b64 %rd2, %rd1, -4;
//	ld.relaxed.gpu.global.u32 %r1, [%rd2];
//	atom.relaxed.gpu.global.cas.b32 %r3, [%rd2], %r1, %r2;
//
// The access is one to the part only: the rest of the word may belong to others, be uninitialized, or lie past the end
// of an allocation.
const wordBytes = 4

// part is a part of a word that an access means.
type part struct {
	size uint64 // bytes; 0 if the access means all of the word
	row  int32  // of the part's address
}

// roundsDown notes the result of an instruction that rounds an address down to a word's.
func (d *decoder) roundsDown() {
	if d.err != nil || d.arg(1).Kind != ptx.RegOperand {
		return
	}
	if to, size := d.arg(0), roundedSize(d.in); to.Kind == ptx.RegOperand && size > 0 {
		d.parts[d.fn.regs[to.Reg]] = part{size, d.fn.regs[d.arg(1).Reg]}
	}
}

// roundedSize returns the bytes of the part of a word whose address an instruction rounds down, or 0 if it does something else: it
// clears the lowest bit of the address of a half, or the two lowest of a byte's.
func roundedSize(in *ptx.Instr) uint64 {
	if in.Op != "and" || len(in.Args) != 3 || in.Args[2].Kind != ptx.IntOperand {
		return 0
	}
	if size := 5 + int64(in.Args[2].Bits); size == 1 || size == 2 {
		return uint64(size)
	}
	return 0
}

// partOf notes which part of a word the access means.
func (d *decoder) partOf(in *instr) {
	if in.mem.total == wordBytes && in.mem.strong && in.imm == 0 {
		in.mem.part = d.parts[in.a]
	}
}

// meant returns how many bytes the access means.
func (x *access) meant() uint64 {
	if x.part.size > 0 {
		return x.part.size
	}
	return x.total
}

// within returns the offset in the word of what an access of thread l means.
func (w *warp) within(in *instr, l int) uint64 {
	if in.mem.part.size == 0 {
		return 0
	}
	return w.row(in.mem.part.row)[l] & (wordBytes - 1)
}

// word returns the word at an address if the region contains the n bytes at another address in it, or nil.
func (r *region) word(at, part, n uint64) []byte {
	if r.window(part, n) == nil {
		return nil
	}
	return r.data[at-r.base:][:wordBytes]
}
