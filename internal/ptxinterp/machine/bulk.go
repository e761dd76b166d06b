package machine

import (
	"encoding/binary"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// tensorMap is a tensor map as package gpu writes it where no driver does (gpu.MapPlan).
type tensorMap struct {
	address uint64
	size    [3]int
	box     [2]int
	element int
	panels  bool
	stride  [2]int
}

const tensorMapBytes = 128

func decodeMap(p []byte) tensorMap {
	i32 := func(at int) int { return int(int32(binary.LittleEndian.Uint32(p[at:]))) }
	i64 := func(at int) int { return int(binary.LittleEndian.Uint64(p[at:])) }
	return tensorMap{
		address: binary.LittleEndian.Uint64(p), size: [3]int{i32(8), i32(12), i32(16)}, box: [2]int{i32(20), i32(24)},
		element: i32(28), panels: p[32] != 0, stride: [2]int{i64(40), i64(48)},
	}
}

// bytes returns the size of a tile.
func (t *tensorMap) bytes() int { return t.box[0] * t.box[1] * t.element }

// each calls f for each element of the tile at a place: its offset in the tile, the swizzle applied that an
// address which is a multiple of 1024 has, and its address, or 0 if the matrix has none.
func (t *tensorMap) each(at [3]int, f func(offset int, address uint64)) {
	for i := range t.box[1] {
		for j := range t.box[0] {
			offset := (i*t.box[0] + j) * t.element
			if t.panels {
				offset ^= offset >> 7 & 7 << 4
			}
			x, y, z := at[0]+j, at[1]+i, at[2]
			address := uint64(0)
			if uint(x) < uint(t.size[0]) && uint(y) < uint(t.size[1]) && uint(z) < uint(t.size[2]) {
				address = t.address + uint64(x*t.element+y*t.stride[0]+z*t.stride[1])
			}
			f(offset, address)
		}
	}
}

// bulkFetch is a copy to shared memory that has begun. It may be done at any time; here it is
// when somebody asks its barrier, and what it overwrites is all ones and unwritten meanwhile, so
// that a program which does not wait is found out.
type bulkFetch struct {
	tile   tensorMap
	at     [3]int
	to     uint64 // offset in shared memory
	warp   *warp
	lane   int
	in     *instr
	thread int
}

// bulkStore is a copy from shared memory that has begun. It is done when the thread waits for its group, or leaves.
type bulkStore struct {
	bulkFetch
	group int
}

// bulkStores are those of the threads of a warp.
type bulkStores struct {
	pending [warpSize][]bulkStore
	groups  [warpSize]int
}

func (s *bulkStores) start() {
	for l := range s.pending {
		s.pending[l], s.groups[l] = nil, 0
	}
}

// bulkCopy decodes cp.async.bulk and what belongs to it.
func (d *decoder) bulkCopy() {
	switch d.m.oneOf("commit_group", "wait_group", "tensor") {
	case "commit_group":
		d.emit(instr{exec: func(w *warp, _ *instr, mask uint32) {
			for l := range lanes(mask) {
				w.stores.groups[l]++
			}
		}})
	case "wait_group":
		d.m.has("read")
		if d.args(1, 1) {
			bits, ok := d.arg(0).As(ptx.U32)
			d.need(ok)
			d.emit(instr{imm: bits, exec: func(w *warp, in *instr, mask uint32) {
				for l := range lanes(mask) {
					w.finishStores(l, w.stores.groups[l]-int(in.imm))
				}
			}})
		}
	case "tensor":
		d.tensorCopy()
	default:
		d.stretchCopy()
	}
}

// stretchCopy decodes the copy of a stretch of memory.
func (d *decoder) stretchCopy() {
	fetch := d.m.has("shared::cluster")
	d.need(d.m.has("global"))
	operands := 3
	if fetch {
		d.need(d.m.has("mbarrier::complete_tx::bytes"))
		operands++
	} else {
		d.need(d.m.has("shared::cta") && d.m.has("bulk_group"))
	}
	if !d.args(operands, operands) {
		return
	}
	globalAt, sharedAt := 0, 1
	if fetch {
		globalAt, sharedAt = 1, 0
	}
	x := &access{space: ptx.Shared, size: 16, count: 1, total: 16, near: d.near(), rows: [4]int32{-1}, write: fetch, reads: !fetch, each: true}
	in := instr{mem: x}
	var offset uint64
	in.b, offset, _ = d.place(globalAt, ptx.Global)
	d.need(offset == 0)
	in.q = d.src(2, ptx.U32)
	in.a, in.imm, x.space = d.place(sharedAt, ptx.Shared)
	in.exec = execStoreTile
	if fetch {
		in.c, offset, _ = d.place(3, ptx.Shared)
		in.d = d.constant(offset)
		in.exec = execFetch
	}
	d.emit(in)
}

// stretchOf returns the copy of a stretch, as that of a tile of one row.
func (w *warp) stretchOf(in *instr, l int) (f bulkFetch, ok bool) {
	n, from := int(w.row(in.q)[l]), w.row(in.b)[l]
	f = bulkFetch{to: w.row(in.a)[l] + in.imm - spaceBase, warp: w, lane: l, in: in, thread: w.id*warpSize + l}
	f.tile = tensorMap{address: from, size: [3]int{n / 16, 1, 1}, box: [2]int{n / 16, 1}, element: 16}
	switch {
	case n%16 != 0 || n == 0 || n >= 1<<20 || from%16 != 0 || (f.to+spaceBase)%16 != 0:
		w.fail(in, 1<<l, ErrAlignment, fmt.Sprintf("%d bytes at %#x to byte %d of shared memory", n, from, f.to))
	case w.block.shared.window(f.to+spaceBase, uint64(n)) == nil:
		w.fail(in, 1<<l, ErrAddress, fmt.Sprintf("%d bytes at byte %d of %v", n, f.to, &w.block.shared))
	default:
		return f, true
	}
	return f, false
}

// tensorCopy decodes the copy of a tile, of a tensor of rank 3.
func (d *decoder) tensorCopy() {
	fetch := d.m.has("shared::cluster")
	d.need(d.m.has("3d") && d.m.has("global") && d.m.has("tile"))
	if fetch {
		d.need(d.m.has("mbarrier::complete_tx::bytes"))
	} else {
		d.need(d.m.has("shared::cta") && d.m.has("bulk_group"))
	}
	operands := 2
	multicast := d.m.has("multicast::cluster")
	d.need(fetch || !multicast)
	if fetch {
		operands++
	}
	if multicast {
		operands++
	}
	if !d.args(operands, operands) {
		return
	}
	mapAt, sharedAt := 0, 1
	if fetch {
		mapAt, sharedAt = 1, 0
	}
	x := &access{space: ptx.Shared, size: 16, count: 1, total: 16, near: d.near(), rows: [4]int32{-1}, write: fetch, reads: !fetch, each: true}
	in := instr{mem: x, b: d.mapOperand(mapAt)}
	for _, o := range d.coordinates(mapAt) {
		in.list = append(in.list, d.source(o, ptx.S32, false))
	}
	in.a, in.imm, x.space = d.place(sharedAt, ptx.Shared)
	if fetch {
		var offset uint64
		in.c, offset, _ = d.place(2, ptx.Shared)
		in.d = d.constant(offset)
		in.exec = execFetch
		if multicast {
			in.q = d.src(3, ptx.U16)
			in.exec = execMulticast
		}
	} else {
		in.exec = execStoreTile
	}
	d.emit(in)
}

// mapOperand returns the row of the address of a tensor map, the first of the operands in brackets.
func (d *decoder) mapOperand(i int) int32 {
	o := d.arg(i)
	if o.Kind != ptx.AddressOperand || len(o.Elems) != 2 {
		d.fail("%s where a tensor map and coordinates are expected", describe(o))
		return 0
	}
	return d.source(o.Elems[0], ptx.U64, false)
}

func (d *decoder) coordinates(i int) []ptx.Operand {
	o := d.arg(i)
	if o.Kind != ptx.AddressOperand || len(o.Elems) != 2 || o.Elems[1].Kind != ptx.VectorOperand || len(o.Elems[1].Elems) != 3 {
		d.fail("%s where three coordinates are expected", describe(o))
		return nil
	}
	return o.Elems[1].Elems
}

// tileOf reads the operands that both directions have. It returns false after a fault.
func (w *warp) tileOf(in *instr, l int) (f bulkFetch, ok bool) {
	if in.list == nil {
		return w.stretchOf(in, l)
	}
	address := w.row(in.b)[l]
	space := spaceAt(address)
	at := address - window(space)
	r := w.block.region(space, at)
	p := r.window(at, tensorMapBytes)
	if p == nil || at%64 != 0 {
		w.fail(in, 1<<l, ErrAddress, "no tensor map at "+hex(address))
		return f, false
	}
	f = bulkFetch{tile: decodeMap(p), to: w.row(in.a)[l] + in.imm - spaceBase, warp: w, lane: l, in: in, thread: w.id*warpSize + l}
	for i, c := range in.list {
		f.at[i] = int(int32(w.row(c)[l]))
	}
	n, align := uint64(f.tile.bytes()), uint64(128)
	if f.tile.panels {
		align = 1024
	}
	switch {
	case n == 0 || n > 1<<20:
		w.fail(in, 1<<l, ErrUndefined, "what lies at "+hex(address)+" is no tensor map")
	case w.block.shared.window(f.to+spaceBase, n) == nil:
		w.fail(in, 1<<l, ErrAddress, fmt.Sprintf("%d bytes at byte %d of %v", n, f.to, &w.block.shared))
	case (f.to+spaceBase)%align != 0:
		w.fail(in, 1<<l, ErrAlignment, fmt.Sprintf("a tile at byte %d of shared memory, no multiple of %d", f.to, align))
	case f.at[0]*f.tile.element%16 != 0 || min(f.at[0], f.at[1], f.at[2]) < 0:
		w.fail(in, 1<<l, ErrAlignment, fmt.Sprintf("a tile at %v of elements of %d bytes", f.at, f.tile.element))
	default:
		return f, true
	}
	return f, false
}

func execFetch(w *warp, in *instr, mask uint32) {
	for l := range lanes(mask) {
		f, ok := w.tileOf(in, l)
		if !ok {
			return
		}
		if !w.fetchTo(w.block, &f, w.row(in.c)[l]+w.row(in.d)[l]) {
			return
		}
	}
}

// execMulticast starts copies to some blocks of the cluster.
func execMulticast(w *warp, in *instr, mask uint32) {
	for l := range lanes(mask) {
		f, ok := w.tileOf(in, l)
		if !ok {
			return
		}
		blocks, ranks := w.block.cluster.blocks, w.row(in.q)[l]
		if ranks == 0 || ranks>>len(blocks) != 0 {
			w.fail(in, 1<<l, ErrUndefined, fmt.Sprintf("ranks %#x in a cluster of %d blocks", ranks, len(blocks)))
			return
		}
		for rank, to := range blocks {
			if ranks>>rank&1 == 0 {
				continue
			}
			if !to.running {
				w.fail(in, 1<<l, ErrFreed, fmt.Sprintf("shared memory of block %v of the cluster, which has ended", to.index))
				return
			}
			if !w.fetchTo(to, &f, w.row(in.c)[l]+w.row(in.d)[l]) {
				return
			}
		}
	}
}

// fetchTo starts a copy to a block of the cluster, whose barrier is at an address. It returns false after a fault.
func (w *warp) fetchTo(b *block, f *bulkFetch, at uint64) bool {
	m := b.mbarriers[at]
	if m == nil {
		w.fail(f.in, 1<<f.lane, ErrUndefined, "no mbarrier.init made a barrier of byte "+decimal(at-spaceBase)+" of shared memory")
		return false
	}
	n := uint64(f.tile.bytes())
	if b == w.block {
		b.noteTile(f, true)
	}
	poison(b.shared.data[f.to : f.to+n])
	if b.shared.written != nil {
		b.shared.written.unset(f.to, n)
	}
	m.coming = append(m.coming, *f)
	return true
}

// noteTile looks whether others' accesses to a tile are in order with the copy.
func (b *block) noteTile(f *bulkFetch, write bool) {
	n := uint64(f.tile.bytes())
	if b.order != nil {
		a := race.Access{Thread: uint32(f.thread), Kind: f.in.mem.kind, Place: f.in.mem.place}
		for at := f.to; at < f.to+n; at += 16 {
			if found := b.order.Access(b.shared.shadow, race.Range{Offset: at, Size: 16}, a); found != nil {
				f.warp.raced(memoryAccess{f.in, f.lane, &b.shared, at + spaceBase}, found)
			}
		}
	}
	if write {
		b.fenced(f.to, n)
	}
}

// deliver does the copies that tell a barrier of their bytes.
func (b *block) deliver(m *mbarrier, at uint64) {
	b.receive(m)
	coming := m.coming
	m.coming = nil
	for _, f := range coming {
		to := b.shared.data[f.to:]
		f.tile.each(f.at, func(offset int, address uint64) {
			clear(to[offset : offset+f.tile.element])
			if address == 0 || f.warp.fault != nil {
				return
			}
			if p := f.warp.global(&f, address); p != nil {
				copy(to[offset:], p[:f.tile.element])
			}
		})
		n := uint64(f.tile.bytes())
		if b.shared.written != nil {
			b.shared.written.set(f.to, n)
		}
		if b.order != nil && b == f.warp.block {
			b.order.Synchronise(race.Sync{Thread: f.thread, Address: at, Shared: true, Reads: true, Writes: true, Release: true})
		}
		m.bytes -= int(n)
		m.settle(b)
	}
}

// global returns an element of the matrix of a copy, or nil after a fault.
func (w *warp) global(f *bulkFetch, address uint64) []byte {
	r := w.block.launch.mem.find(address)
	p := r.window(address, uint64(f.tile.element))
	if p == nil {
		text, err := explain(r, address, uint64(f.tile.element))
		w.fail(f.in, 1<<f.lane, err, text)
	}
	return p
}

func execStoreTile(w *warp, in *instr, mask uint32) {
	for l := range lanes(mask) {
		f, ok := w.tileOf(in, l)
		if !ok {
			return
		}
		w.block.noteTile(&f, false)
		w.proxied(memoryAccess{in, l, &w.block.shared, f.to + spaceBase}, uint64(f.tile.bytes()))
		w.stores.pending[l] = append(w.stores.pending[l], bulkStore{f, w.stores.groups[l]})
	}
}

// finishStores does a thread's stores of the groups before the given one.
func (w *warp) finishStores(l, group int) {
	s := w.stores
	kept := s.pending[l][:0]
	for _, p := range s.pending[l] {
		if p.group >= group {
			kept = append(kept, p)
			continue
		}
		from := w.block.shared.data[p.to:]
		p.tile.each(p.at, func(offset int, address uint64) {
			if address == 0 || w.fault != nil {
				return
			}
			if to := w.global(&p.bulkFetch, address); to != nil {
				copy(to[:p.tile.element], from[offset:])
				if r := w.block.launch.mem.find(address); r.written != nil {
					r.written.set(address-r.base, uint64(p.tile.element))
				}
			}
		})
	}
	s.pending[l] = kept
}

// finishAllStores does all stores of some threads.
func (w *warp) finishAllStores(mask uint32) {
	for l := range lanes(mask) {
		if len(w.stores.pending[l]) > 0 {
			w.finishStores(l, w.stores.groups[l]+1)
		}
	}
}
