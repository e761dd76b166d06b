package race

import (
	"math/rand/v2"
	"testing"
)

// bench is blocks of a launch with a word of memory each way.
type bench struct {
	order          *Order
	blocks         []*Block
	global, shared *Shadow
}

func newBench(blocks, threads int) *bench {
	b := &bench{order: NewOrder(), global: &Shadow{}, shared: &Shadow{Shared: true}}
	b.order.Launch(false)
	for n := range blocks {
		b.blocks = append(b.blocks, b.order.NewBlock(threads, false))
		b.blocks[n].Start(uint32(n))
	}
	return b
}

// do notes an access of a thread to the first word of a shadow.
func (b *bench) do(s *Shadow, block, thread int, k Kind) Found {
	return found(b.blocks[block].Access(s, Range{0, 4}, Access{uint32(thread), k, uint32(100*block + thread)}))
}

func found(f *Found) Found {
	if f == nil {
		return Found{}
	}
	return *f
}

const all = 0xffffffff

const word = 64 // an address

func release(b *bench, block, thread int) {
	b.blocks[block].Synchronise(Sync{Thread: thread, Address: word, Writes: true, Release: true})
}

func acquire(b *bench, block, thread int) {
	b.blocks[block].Synchronise(Sync{Thread: thread, Address: word, Reads: true, Acquire: true})
}

// add is a relaxed atomic operation.
func add(b *bench, block, thread int) {
	b.blocks[block].Synchronise(Sync{Thread: thread, Address: word, Reads: true, Writes: true})
}

// orders is what may be between the accesses of TestOrder.
var orders = []struct {
	name          string
	between       func(b *bench)
	block, thread int
	ordered       bool
}{
	{"itself", func(*bench) {}, 0, 0, true},
	{"nothing, in the warp", func(*bench) {}, 0, 5, false},
	{"nothing, in the block", func(*bench) {}, 0, 40, false},
	{"nothing, in another block", func(*bench) {}, 1, 0, false},
	{"barrier", func(b *bench) { b.blocks[0].Meet([]uint32{all, all}, []uint32{all, all}) }, 0, 40, true},
	{"barrier, in another block", func(b *bench) { b.blocks[0].Meet([]uint32{all, all}, []uint32{all, all}) }, 1, 0, false},
	{"barrier of a warp", func(b *bench) { b.blocks[0].Meet([]uint32{all, 0}, []uint32{all, 0}) }, 0, 5, true},
	{"barrier of a warp, in the other", func(b *bench) { b.blocks[0].Meet([]uint32{all, 0}, []uint32{all, 0}) }, 0, 40, false},
	{"barrier of the other warp", func(b *bench) { b.blocks[0].Meet([]uint32{0, all}, []uint32{0, all}) }, 0, 40, false},
	{"arrival without waiting", func(b *bench) { b.blocks[0].Meet([]uint32{all, all}, []uint32{0, all}) }, 0, 40, true},
	{"who arrives does not know", func(b *bench) { b.blocks[0].Meet([]uint32{all, all}, []uint32{0, all}) }, 0, 5, false},
	{"warp barrier", func(b *bench) { b.blocks[0].MeetWarp(0, 0xff) }, 0, 7, true},
	{"warp barrier, outside the mask", func(b *bench) { b.blocks[0].MeetWarp(0, 0xff) }, 0, 8, false},
	{"two warp barriers", func(b *bench) { b.blocks[0].MeetWarp(0, 3); b.blocks[0].MeetWarp(0, 6) }, 0, 2, true},
	{"two warp barriers, in the wrong order", func(b *bench) { b.blocks[0].MeetWarp(0, 6); b.blocks[0].MeetWarp(0, 3) }, 0, 2, false},
	{"release and acquire", func(b *bench) { release(b, 0, 0); acquire(b, 1, 9) }, 1, 9, true},
	{"release and acquire, another thread", func(b *bench) { release(b, 0, 0); acquire(b, 1, 9) }, 1, 8, false},
	{"acquire before release", func(b *bench) { acquire(b, 1, 9); release(b, 0, 0) }, 1, 9, false},
	{"relaxed", func(b *bench) { add(b, 0, 0); add(b, 1, 9) }, 1, 9, false},
	{"fences around relaxed", func(b *bench) { b.blocks[0].Fence(0); add(b, 0, 0); add(b, 1, 9); b.blocks[1].Fence(9) }, 1, 9, true},
	{"no fence after", func(b *bench) { b.blocks[0].Fence(0); add(b, 0, 0); add(b, 1, 9) }, 1, 9, false},
	{"no fence before", func(b *bench) { add(b, 0, 0); add(b, 1, 9); b.blocks[1].Fence(9) }, 1, 9, false},
	{"barrier, release, acquire, barrier", func(b *bench) {
		b.blocks[0].Meet([]uint32{all, all}, []uint32{all, all})
		release(b, 0, 33)
		acquire(b, 1, 9)
		b.blocks[1].Meet([]uint32{all, all}, []uint32{all, all})
	}, 1, 50, true},
	{"release through a third one's atomic", func(b *bench) { release(b, 0, 0); add(b, 2, 1); acquire(b, 1, 9) }, 1, 9, true},
	{"release hidden by a third one's store", func(b *bench) {
		release(b, 0, 0)
		b.blocks[2].Synchronise(Sync{Thread: 1, Address: word, Writes: true})
		acquire(b, 1, 9)
	}, 1, 9, false},
	{"another address", func(b *bench) {
		release(b, 0, 0)
		b.blocks[1].Synchronise(Sync{Thread: 9, Address: word + 4, Reads: true, Acquire: true})
	}, 1, 9, false},
	{"shared address", func(b *bench) {
		b.blocks[0].Synchronise(Sync{Address: word, Shared: true, Writes: true, Release: true})
		b.blocks[0].Synchronise(Sync{Thread: 40, Address: word, Shared: true, Reads: true, Acquire: true})
	}, 0, 40, true},
	{"shared address of another block", func(b *bench) {
		b.blocks[0].Synchronise(Sync{Address: word, Shared: true, Writes: true, Release: true})
		b.blocks[1].Synchronise(Sync{Thread: 9, Address: word, Shared: true, Reads: true, Acquire: true})
	}, 1, 9, false},
	{"next launch", func(b *bench) { b.order.Launch(false); b.blocks[1].Start(1) }, 1, 0, true},
}

// TestOrder goes through what orders a write of thread 0 of block 0 before an access of
// another thread, and what does not.
func TestOrder(t *testing.T) {
	for _, c := range orders {
		for _, later := range []Kind{0, Write, Write | Strong} {
			b := newBench(3, 64)
			if f := b.do(b.global, 0, 0, Write); !f.None() {
				t.Fatalf("%s: the first access: %v", c.name, f)
			}
			c.between(b)
			f := b.do(b.global, c.block, c.thread, later)
			if f.Write.None() != c.ordered || !f.Other.None() {
				t.Errorf("%s: kind %d found %v, ordered should be %v", c.name, later, f, c.ordered)
			}
			if !c.ordered && (f.Write.Block() != 0 || f.Write.Access() != Access{0, Write, 0}) {
				t.Errorf("%s: the earlier access is %v of block %d", c.name, f.Write.Access(), f.Write.Block())
			}
		}
	}
}

// TestKinds demands that only accesses of which one writes and not both are atomic conflict.
func TestKinds(t *testing.T) {
	kinds := []Kind{0, Write, Strong, Write | Strong}
	for _, first := range kinds {
		for _, second := range kinds {
			b := newBench(2, 32)
			b.do(b.global, 0, 0, first)
			f := b.do(b.global, 1, 0, second)
			want := (first|second)&Write != 0 && (first&Strong == 0 || second&Strong == 0)
			if f.None() == want {
				t.Errorf("%d then %d: %v", first, second, f)
			}
		}
	}
}

// TestReaders demands that a write finds a reader of each sort after later ones that are ordered.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name    string
		readers [][2]int // block and thread
		barrier []uint32 // of block 0, after them
		writer  int      // thread of block 0
		want    bool
	}{
		{"only itself", [][2]int{{0, 3}}, nil, 3, false},
		{"another, then itself", [][2]int{{0, 2}, {0, 3}}, nil, 3, true},
		{"another block, then two of its own after a barrier", [][2]int{{1, 0}, {0, 2}, {0, 40}}, []uint32{all, all}, 3, true},
		{"all ordered", [][2]int{{0, 2}, {0, 40}, {0, 5}}, []uint32{all, all}, 3, false},
		{"another warp, then two of its own after a barrier of the warp", [][2]int{{0, 40}, {0, 2}, {0, 4}}, []uint32{all, 0}, 3, true},
	} {
		b := newBench(2, 64)
		for _, r := range c.readers {
			if f := b.do(b.global, r[0], r[1], 0); !f.None() {
				t.Errorf("%s: reads conflict: %v", c.name, f)
			}
		}
		if c.barrier != nil {
			b.blocks[0].Meet(c.barrier, c.barrier)
		}
		if f := b.do(b.global, 0, c.writer, Write); f.Other.None() == c.want {
			t.Errorf("%s: %v", c.name, f)
		}
	}
}

// TestAtomicsThenRead demands that a plain read finds an atomic that another one hides.
func TestAtomicsThenRead(t *testing.T) {
	b := newBench(2, 32)
	b.do(b.global, 0, 1, Write|Strong)
	b.do(b.global, 1, 2, Write|Strong)
	if f := b.do(b.global, 1, 2, 0); f.Other.None() || f.Other.Block() != 0 {
		t.Errorf("found %v", f)
	}
}

// TestSharedIsTheBlocks demands that what a block did in shared memory does not count for the next.
func TestSharedIsTheBlocks(t *testing.T) {
	b := newBench(1, 64)
	b.do(b.shared, 0, 1, Write)
	b.blocks[0].Start(7)
	if f := b.do(b.shared, 0, 2, Write); !f.None() {
		t.Errorf("found %v", f)
	}
	if f := b.do(b.shared, 0, 3, Write); f.Write.Block() != 7 || f.Write.Access().Thread != 2 {
		t.Errorf("found %v", f)
	}
}

// TestGrain demands that neighbours in a word do not conflict, and that accesses of different sizes do.
func TestGrain(t *testing.T) {
	b := newBench(1, 64)
	block := b.blocks[0]
	at := func(offset, size uint64, thread uint32, k Kind) Found {
		return found(block.Access(b.shared, Range{offset, size}, Access{Thread: thread, Kind: k}))
	}
	if f := at(0, 16, 1, Write); !f.None() {
		t.Error(f)
	}
	if f := at(12, 4, 2, 0); f.Write.None() {
		t.Error("part of a vector: no conflict")
	}
	for i := range uint64(8) {
		if f := at(16+i, 1, uint32(i), Write); !f.None() {
			t.Error(i, f)
		}
	}
	if f := at(16, 8, 0, 0); f.Write.None() {
		t.Error("eight bytes of eight threads: no conflict")
	}
	if f := at(3000, 2, 0, 0); !f.None() {
		t.Error(f)
	}
}

// TestJoin compares views with maps of all that they say.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type who struct{ block, thread uint32 }
	views, maps := []*View{nil}, []map[who]Time{{}}
	for range 3000 {
		var v *View
		m := map[who]Time{}
		if r.IntN(3) == 0 { // something new
			block, now := uint32(r.IntN(6))*0x1999_9999, Time(1+r.IntN(100))
			masks := []uint32{r.Uint32() & 5, r.Uint32() & 6}
			v = some(block, masks, now)
			if r.IntN(2) == 0 {
				v, masks = everyone(block, now), []uint32{7, 7}
			}
			for i := range members(masks) {
				m[who{block, uint32(i)}] = now
			}
		} else {
			i, j := r.IntN(len(views)), r.IntN(len(views))
			v = join(views[i], views[j])
			for _, from := range []map[who]Time{maps[i], maps[j]} {
				for k, when := range from {
					m[k] = max(m[k], when)
				}
			}
		}
		for block := range uint32(6) {
			for _, thread := range []uint32{0, 1, 2, 32, 33, 34} {
				k := who{block * 0x1999_9999, thread}
				if when := m[k]; v.knows(k.block, thread, when) || when > 0 && !v.knows(k.block, thread, when-1) {
					t.Fatalf("view of %v should know until %d", k, when)
				}
			}
		}
		if len(views) < 40 {
			views, maps = append(views, v), append(maps, m)
		} else {
			i := r.IntN(40)
			views[i], maps[i] = v, m
		}
	}
}

// TestJoinShares demands that joining what is known already makes nothing new.
func TestJoinShares(t *testing.T) {
	var v *View
	for block := range uint32(1000) {
		v = join(v, everyone(block, 5))
	}
	part := join(everyone(17, 5), join(everyone(400, 2), some(3, []uint32{1}, 5)))
	if got := join(v, part); got != v {
		t.Error("a new view")
	}
	if n := testing.AllocsPerRun(10, func() { join(part, v) }); n > 60 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAccess(b *testing.B) {
	m := newBench(2, 64)
	for b.Loop() {
		for i := range uint32(64) {
			m.blocks[0].Access(m.global, Range{uint64(4 * i), 4}, Access{Thread: i, Kind: Kind(i & 1)})
		}
	}
}
