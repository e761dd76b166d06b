package machine

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// bytes returns the memory that an access of thread l touches, or nil after a fault.
func (w *warp) bytes(in *instr, l int, address uint64) []byte {
	x := in.mem
	r := w.block.near[x.near]
	if p := r.aligned(address, x.total); p != nil && (!x.write || !r.readOnly) {
		if r.watched {
			w.watch(in, l, r, address)
		}
		return p
	}
	return w.locate(in, l, address)
}

// aligned is window for an address that is a multiple of n.
func (r *region) aligned(address, n uint64) []byte {
	off, size := address-r.base, uint64(len(r.data))
	if off >= size || size-off < n || address&(n-1) != 0 {
		return nil
	}
	return r.data[off:]
}

// locate is bytes where the region that the instruction met last does not hold the address.
func (w *warp) locate(in *instr, l int, address uint64) []byte {
	x := in.mem
	if address&(x.total-1) != 0 {
		w.fail(in, 1<<l, ErrAlignment, hex(address)+" for an access of "+decimal(x.total)+" bytes")
		return nil
	}
	space, at := x.space, address
	if space == ptx.Generic {
		space = spaceAt(address)
		at -= window(space)
	}
	if space == ptx.Local {
		return w.locateLocal(in, l, at)
	}
	owner, whole := w.block, at
	if space == ptx.Shared {
		if owner, at = w.peer(in, l, at); owner == nil {
			return nil
		}
	}
	r := owner.region(space, at)
	p := r.window(at, x.total)
	if x.part.size > 0 {
		p = r.word(at, at+w.within(in, l), x.part.size)
	}
	switch {
	case p == nil:
		text, err := explain(r, at, x.total)
		w.fail(in, 1<<l, err, text)
		return nil
	case x.write && r.readOnly:
		w.fail(in, 1<<l, ErrReadOnly, hex(address)+" in "+r.String())
		return nil
	}
	if owner == w.block && whole == at && (space == x.space || space == ptx.Global) {
		w.block.near[x.near] = r
	}
	if r.watched {
		w.watchOf(owner, memoryAccess{in, l, r, at})
	}
	return p
}

// locateLocal returns memory of thread l. What lies next to it in w.local is another thread's.
func (w *warp) locateLocal(in *instr, l int, at uint64) []byte {
	size := w.prog.local
	own := &w.own
	*own = region{base: spaceBase, data: w.local[l*size : (l+1)*size], size: uint64(size), name: "local memory"}
	p := own.window(at, in.mem.total)
	if p == nil {
		text, err := explain(own, at, in.mem.total)
		w.fail(in, 1<<l, err, text)
		return nil
	}
	if w.localMarks != nil {
		stride := w.prog.localStride()
		own.written = w.localMarks[l*stride/bytesPerWord : (l+1)*stride/bytesPerWord]
		w.watchWrites(in, l, own, at)
	}
	return p
}

// region returns the memory that an address within a space may be in, or nil.
func (b *block) region(s ptx.Space, at uint64) *region {
	switch s {
	case ptx.Shared:
		return &b.shared
	case ptx.Param:
		return &b.launch.params
	}
	return b.launch.mem.find(at)
}

func read(p []byte, size uint64) uint64 {
	switch size {
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	case 8:
		return binary.LittleEndian.Uint64(p)
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	}
	return uint64(p[0])
}

func write(p []byte, size, v uint64) {
	switch size {
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(p, v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	default:
		p[0] = byte(v)
	}
}

// Every thread reads its operands before it writes its results, so that a destination may
// be the address too.

func execLoad(w *warp, in *instr, mask uint32) {
	x, a := in.mem, w.row(in.a)
	w.count(in, mask)
	w.polled = w.polled || x.polls
	one := x.count == 1 && x.rows[0] >= 0 && !x.signed
	var p []byte
	var near uint64 // address of the thread before
	alike := 0      // threads before that had it too
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		if address := a[l] + in.imm; alike < 2 || address != near {
			if address != near {
				near, alike = address, 0
			}
			if p = w.bytes(in, l, address); p == nil {
				return
			}
			if !x.each {
				alike++ // two readers stand for all others of the warp
			}
		}
		if one {
			w.regs[int(x.rows[0])+l] = read(p, x.size)
		} else {
			w.loadElements(x, l, p)
		}
	}
}

// loadElements gives thread l the elements of p.
func (w *warp) loadElements(x *access, l int, p []byte) {
	shift := 64 - 8*x.size
	for i, r := range x.rows[:x.count] {
		if r < 0 {
			continue
		}
		v := read(p[uint64(i)*x.size:], x.size)
		if x.signed {
			v = uint64(int64(v<<shift)>>shift) & x.mask
		}
		w.regs[int(r)+l] = v
	}
}

func execStore(w *warp, in *instr, mask uint32) {
	x, a := in.mem, w.row(in.a)
	w.count(in, mask)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		p := w.bytes(in, l, a[l]+in.imm)
		if p == nil {
			return
		}
		for i := range x.count {
			write(p[uint64(i)*x.size:], x.size, w.regs[int(x.rows[i])+l])
		}
	}
}

// execAtomic serves the threads one after another, lowest first.
func execAtomic(w *warp, in *instr, mask uint32) {
	x, a, b, c := in.mem, w.row(in.a), w.row(in.b), w.row(in.c)
	w.count(in, mask)
	w.polled = w.polled || x.polls
	for l := range lanes(mask) {
		address := a[l] + in.imm
		p := w.bytes(in, l, address)
		if p == nil {
			return
		}
		f := in.f2
		if x.global != nil && (x.space == ptx.Global || x.space == ptx.Generic && spaceAt(address) == ptx.Global) {
			f = x.global
		}
		old := read(p, x.size)
		switch {
		case !x.swap:
			write(p, x.size, f(old, b[l]))
		case old == b[l]:
			write(p, x.size, c[l])
		}
		if !x.noResult {
			w.regs[int(in.d)+l] = old
		}
	}
}

// execCopyLocal copies a parameter of a call within each thread's local memory.
func execCopyLocal(w *warp, in *instr, mask uint32) {
	d, a := w.row(in.d), w.row(in.a)
	for l := range lanes(mask) {
		own := w.local[l*w.prog.local:]
		copy(own[d[l]-spaceBase:][:in.imm], own[a[l]-spaceBase:])
		if w.localMarks != nil {
			m := w.localMarks[l*w.prog.localStride()/bytesPerWord:]
			m.copy(d[l]-spaceBase, m, a[l]-spaceBase, in.imm)
		}
	}
}
