package race

import "math/bits"

// Order holds the clock of a memory and the state that its launches left. It is not safe for
// concurrent use.
type Order struct {
	now   Time
	since Time // when the launch began
	whole Time // when the last launch began that started after all earlier ones
	// What was released at addresses of memory that all blocks see.
	released map[uint64]*View
}

// NewOrder returns an Order whose clock is zero.
func NewOrder() *Order { return &Order{now: 1} }

// lateTime is when a clock is so late that the next launch could use it up.
const lateTime = 1 << 31

// Launch begins a launch, which is ordered after all earlier ones, or, if it overlaps with the preceding one, whose threads order
// themselves (see Unfinished). It returns false if the clock may overflow; the caller must then discard all shadows and create a
// new Order.
func (o *Order) Launch(overlaps bool) bool {
	o.tick()
	o.since, o.released = o.now, map[uint64]*View{}
	if !overlaps {
		o.whole = o.now
	}
	return o.now < lateTime
}

// tick returns a time after everything so far and not after what comes.
func (o *Order) tick() Time {
	o.now++
	return o.now
}

// Block holds the state of the threads of a block. It is reused for the blocks that a slot of the
// machine executes one after another.
type Block struct {
	order    *Order
	number   uint32
	since    Time
	threads  []thread
	released map[uint64]*View // at addresses of shared memory
	kin      uint8            // threads that differ only in bits of a stamp below this one are ordered alike
	alone    []uint32         // the masks of a view of one thread
	found    Found            // what Access returns
}

// thread is what the memory model needs to know of one.
type thread struct {
	view    *View
	fenced  *View // the view at its last fence: what a write then releases
	pending *View // what its reads have seen released; known after a fence
}

// NewBlock returns the state for blocks with the given number of threads. With onlyBarriers, which
// is valid if only barriers of the whole block order its threads, the state is smaller.
func (o *Order) NewBlock(threads int, onlyBarriers bool) *Block {
	b := &Block{order: o, kin: warpBit, threads: make([]thread, threads), alone: make([]uint32, (threads+lanes-1)/lanes)}
	if onlyBarriers {
		b.kin = blockBit
	}
	return b
}

// Start begins the block with the given number. Its threads have empty views.
func (b *Block) Start(number uint32) {
	b.number, b.since = number, b.order.tick()
	clear(b.threads)
	clear(b.released)
}

// Meet is a barrier at which the threads of from arrive and those of to, which are among them, wait.
// Both have a mask for each warp. A thread that has exited may be among them.
func (b *Block) Meet(from, to []uint32) {
	var known, last *View
	n := 0
	for t := range members(from) {
		n++
		if v := b.threads[t].view; v != last {
			known, last = join(known, v), v
		}
	}
	now := b.order.tick()
	if n == len(b.threads) {
		known = join(known, everyone(b.number, now))
	} else {
		known = join(known, some(b.number, from, now))
	}
	for t := range members(to) {
		b.threads[t].view = known
	}
}

// MeetBlocks is a barrier of all threads of some blocks, including those that have exited.
func MeetBlocks(blocks []*Block) {
	if len(blocks) == 0 {
		return
	}
	var known, last *View
	now := blocks[0].order.tick()
	for _, b := range blocks {
		for t := range b.threads {
			if v := b.threads[t].view; v != last {
				known, last = join(known, v), v
			}
		}
		known = join(known, everyone(b.number, now))
	}
	for _, b := range blocks {
		for t := range b.threads {
			b.threads[t].view = known
		}
	}
}

// members yields the threads of masks.
func members(masks []uint32) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for w, m := range masks {
			for ; m != 0; m &= m - 1 {
				if !yield(w*lanes + bits.TrailingZeros32(m)) {
					return
				}
			}
		}
	}
}

// MeetWarp is a barrier of some threads of a warp.
func (b *Block) MeetWarp(warp int, mask uint32) {
	b.alone[warp] = mask
	b.Meet(b.alone, b.alone)
	b.alone[warp] = 0
}

// Fence orders the accesses that the thread made or observed before it: section 8.8 of the manual.
func (b *Block) Fence(t int) {
	x := &b.threads[t]
	x.view, x.pending = join(x.view, x.pending), nil
	b.alone[t/lanes] = 1 << (t % lanes)
	x.fenced = join(x.view, some(b.number, b.alone, b.order.tick()))
	b.alone[t/lanes] = 0
}

// Sync is an access to a memory word that may order others: an atomic, or a load or store that
// is relaxed, acquire, release or volatile.
type Sync struct {
	Thread           int
	Address          uint64
	Shared           bool   // the address is in the block's shared memory
	Of               *Block // the block whose shared memory it is; nil for the thread's own block
	Reads, Writes    bool
	Acquire, Release bool
}

// Synchronise orders accesses around a strong one. Later writes of a thread that has released, and
// atomic operations, continue the release sequence.
func (b *Block) Synchronise(s Sync) {
	if s.Release {
		b.Fence(s.Thread)
	}
	x := &b.threads[s.Thread]
	at := b.order.released
	if s.Shared {
		of := b
		if s.Of != nil {
			of = s.Of
		}
		if of.released == nil {
			of.released = map[uint64]*View{}
		}
		at = of.released
	}
	if len(at) == 0 && x.fenced == nil {
		return
	}
	there := at[s.Address]
	if s.Reads {
		x.pending = join(x.pending, there)
	}
	if s.Acquire {
		x.view, x.pending = join(x.view, x.pending), nil
	}
	if !s.Writes {
		return
	}
	left := x.fenced
	if s.Reads {
		left = join(there, x.fenced)
	}
	if left != there {
		at[s.Address] = left
	}
}
