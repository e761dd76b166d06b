package machine

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// pendingCopy is a cp.async (section 9.7.9.25) that a thread has started. It may be done at any
// time until the thread waits for its group; here it is done then, and what it overwrites is
// all ones and unwritten meanwhile, so that a program that does not wait is found out.
type pendingCopy struct {
	to, from []byte
	offset   uint64 // of to in shared memory
	group    int
}

// asyncCopies are the copies of the threads of a warp.
type asyncCopies struct {
	pending [warpSize][]pendingCopy
	groups  [warpSize]int    // that the thread has committed
	source  [warpSize][]byte // of the copy that is being started
}

func (c *asyncCopies) start() {
	for l := range c.pending {
		c.pending[l], c.groups[l] = c.pending[l][:0], 0
	}
}

// finishCopies does a thread's copies of the groups before the given one.
func (w *warp) finishCopies(l, group int) {
	c, written := w.copies, w.block.shared.written
	kept := c.pending[l][:0]
	for _, p := range c.pending[l] {
		if p.group < group {
			copy(p.to, p.from)
			if written != nil {
				written.set(p.offset, uint64(len(p.to)))
			}
		} else {
			kept = append(kept, p)
		}
	}
	c.pending[l] = kept
}

// finishAllCopies does all copies of some threads.
func (w *warp) finishAllCopies(mask uint32) {
	for l := range lanes(mask) {
		w.finishCopies(l, w.copies.groups[l]+1)
	}
}

// copyAsync decodes cp.async and what belongs to it.
func (d *decoder) copyAsync() {
	d.need(d.m.has("async"))
	d.prog.copies = true
	if d.m.has("bulk") {
		d.prog.proxies = true
		d.bulkCopy()
		return
	}
	switch d.m.oneOf("commit_group", "wait_group", "wait_all") {
	case "commit_group":
		d.emit(instr{exec: execCommitCopies})
	case "wait_all":
		d.emit(instr{exec: func(w *warp, _ *instr, mask uint32) { w.finishAllCopies(mask) }})
	case "wait_group":
		if d.args(1, 1) {
			bits, ok := d.arg(0).As(ptx.U32)
			d.need(ok)
			d.emit(instr{exec: execWaitCopies, imm: bits})
		}
	default:
		d.startCopy()
	}
}

// startCopy decodes the copy itself: an instruction that looks at the source, and one for the
// destination.
func (d *decoder) startCopy() {
	cache := d.m.oneOf("ca", "cg")
	to, from := d.m.space(), d.m.space()
	d.m.drop(func(s string) bool { return s == "L2::64B" || s == "L2::128B" || s == "L2::256B" })
	d.need(cache != "" && to == ptx.Shared && from == ptx.Global)
	if !d.args(3, 4) {
		return
	}
	n, ok := d.arg(2).As(ptx.U32)
	d.need(ok && (n == 16 || cache == "ca" && (n == 4 || n == 8)))
	source := &access{space: from, count: 1, size: n, total: n, near: d.near(), reads: true}
	target := &access{space: to, count: 1, size: n, total: n, near: d.near(), write: true, rows: [4]int32{-1}}
	in := instr{exec: execCopySource, mem: source, b: d.constant(n)}
	if len(d.in.Args) == 4 { // of the source; the other bytes are zero
		in.b = d.src(3, ptx.U32)
	}
	in.a, in.imm, source.space = d.place(1, from)
	d.emit(in)
	in = instr{exec: execCopyTarget, mem: target}
	in.a, in.imm, target.space = d.place(0, to)
	d.emit(in)
}

func execCopySource(w *warp, in *instr, mask uint32) {
	a, b := w.row(in.a), w.row(in.b)
	w.count(in, mask)
	for l := range lanes(mask) {
		switch n := b[l]; n {
		case in.mem.total:
			w.copies.source[l] = w.bytes(in, l, a[l]+in.imm)
		case 0:
			w.copies.source[l] = make([]byte, in.mem.total)
		default:
			w.fail(in, 1<<l, ErrUndefined, fmt.Sprintf("copy of %d out of %d bytes, which is not supported here", n, in.mem.total))
		}
		if w.fault != nil {
			return
		}
	}
}

func execCopyTarget(w *warp, in *instr, mask uint32) {
	a, c := w.row(in.a), w.copies
	w.count(in, mask)
	for l := range lanes(mask) {
		to := w.bytes(in, l, a[l]+in.imm)
		if to == nil {
			return
		}
		to = to[:in.mem.total]
		poison(to)
		offset := a[l] + in.imm - spaceBase
		if written := w.block.shared.written; written != nil {
			written.unset(offset, in.mem.total)
		}
		c.pending[l] = append(c.pending[l], pendingCopy{to, c.source[l][:in.mem.total], offset, c.groups[l]})
	}
}

func execCommitCopies(w *warp, _ *instr, mask uint32) {
	for l := range lanes(mask) {
		w.copies.groups[l]++
	}
}

func execWaitCopies(w *warp, in *instr, mask uint32) {
	for l := range lanes(mask) {
		w.finishCopies(l, w.copies.groups[l]-int(in.imm))
	}
}
