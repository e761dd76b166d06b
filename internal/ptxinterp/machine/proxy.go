package machine

import "fmt"

// What threads write to shared memory reaches bulk copies and products of panels only past a
// fence.proxy.async of the writer (section "Proxies"). For every 16 bytes the block notes the thread, plus 1, whose
// last write is not after such a fence.

const proxyGrain = 16

// unfenced notes a write of a thread.
func (b *block) wrote(thread int, offset, n uint64) {
	for i := offset / proxyGrain; i <= (offset+n-1)/proxyGrain; i++ {
		b.unfenced[i] = uint16(thread) + 1
	}
}

// fenced notes that a copy wrote some bytes.
func (b *block) fenced(offset, n uint64) {
	if b.unfenced != nil {
		clear(b.unfenced[offset/proxyGrain : (offset+n+proxyGrain-1)/proxyGrain])
	}
}

// execProxyFence is fence.proxy.async.
func execProxyFence(w *warp, _ *instr, mask uint32) {
	first := w.id*warpSize + 1
	for i, by := range w.block.unfenced {
		if l := int(by) - first; by > 0 && l >= 0 && l < warpSize && mask>>l&1 == 1 {
			w.block.unfenced[i] = 0
		}
	}
}

// proxied reports bytes that a copy or a product reads although a thread's write to them has not been fenced.
func (w *warp) proxied(t memoryAccess, n uint64) {
	b, in := w.block, t.in
	if b.unfenced == nil {
		return
	}
	offset := t.at - t.region.base
	for i := offset / proxyGrain; i < (offset+n)/proxyGrain; i++ {
		by := b.unfenced[i]
		s := findingKey{-2, int32(in.mem.place)}
		if by == 0 || b.launch.seen(s) {
			continue
		}
		e := w.errorAt(int32(in.mem.place), 1<<t.lane)
		writer := b.launch.thread(int(by) - 1)
		e.Err, e.Count = ErrProxy, 1
		e.Text = fmt.Sprintf("byte %d of shared memory, which thread %s wrote", i*proxyGrain, commas(writer))
		b.launch.report(s, e)
	}
}
