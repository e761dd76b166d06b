package machine

import (
	"encoding/binary"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// sentWord is a store to shared memory that has begun. As a bulkFetch, it is done when somebody asks its barrier.
type sentWord struct{ to, value uint64 }

const sentBytes = 8

// send decodes st.async, of 64 bits.
func (d *decoder) send() {
	d.m.drop(func(s string) bool { return s == "weak" || s == "b64" })
	d.need(d.m.has("shared::cluster") && d.m.has("mbarrier::complete_tx::bytes"))
	if !d.args(3, 3) {
		return
	}
	x := &access{space: ptx.Shared, size: sentBytes, count: 1, total: sentBytes, near: d.near(), rows: [4]int32{-1}, write: true, strong: true, each: true}
	in := instr{mem: x, b: d.src(1, ptx.B64), exec: execSend}
	in.a, in.imm, x.space = d.place(0, ptx.Shared)
	var offset uint64
	in.c, offset, _ = d.place(2, ptx.Shared)
	in.d = d.constant(offset)
	d.emit(in)
}

// execSend starts stores. Races of them are not looked for; who reads too early reads all ones.
func execSend(w *warp, in *instr, mask uint32) {
	for l := range lanes(mask) {
		b, at := w.peer(in, l, w.row(in.a)[l]+in.imm)
		owner, bar := w.peer(in, l, w.row(in.c)[l]+w.row(in.d)[l])
		if b == nil || owner == nil {
			return
		}
		m, p := owner.mbarriers[bar], b.shared.window(at, sentBytes)
		switch {
		case at%sentBytes != 0:
			w.fail(in, 1<<l, ErrAlignment, fmt.Sprintf("%d bytes at byte %d of shared memory", sentBytes, at-spaceBase))
		case p == nil:
			w.fail(in, 1<<l, ErrAddress, fmt.Sprintf("%d bytes at byte %d of %v", sentBytes, at-spaceBase, &b.shared))
		case m == nil || owner != b:
			w.fail(in, 1<<l, ErrUndefined, "no mbarrier.init made a barrier of byte "+decimal(bar-spaceBase)+" of that block's shared memory")
		}
		if w.fault != nil {
			return
		}
		poison(p[:sentBytes])
		if b.shared.written != nil {
			b.shared.written.unset(at-spaceBase, sentBytes)
		}
		m.sent = append(m.sent, sentWord{at - spaceBase, w.row(in.b)[l]})
		b.phaseOver()
	}
}

// receive does the stores that tell a barrier of their bytes.
func (b *block) receive(m *mbarrier) {
	sent := m.sent
	m.sent = nil
	for _, s := range sent {
		binary.LittleEndian.PutUint64(b.shared.data[s.to:], s.value)
		if b.shared.written != nil {
			b.shared.written.set(s.to, sentBytes)
		}
		m.bytes -= sentBytes
		m.settle(b)
	}
}
