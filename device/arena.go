package device

import (
	"errors"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// arena keeps the memory of closed buffers for later ones, so that Make and Close need no call of the back
// end. It keeps whole allocations, with their handles, and neither divides nor joins them.
//
// Order: memory that one stream used last is on that stream's shelf, and free for that stream's later work.
// Memory whose work is done is on the ready shelf, and free for all streams. Memory that several streams
// may still use is not kept: the back end frees it after the work of all of them.
//
// Size: sizes that a program no longer uses would pile up. Beyond spare bytes, the arena therefore keeps at
// most twice as much as buffers have had at the same time, and no block that stayed unused while buffers with
// four times the arena's size were closed.
//
// The lock of the accounts protects an arena.
type arena struct {
	ready  shelf
	age    blockList // all blocks, the one that was closed last first
	spare  int64     // bytes that are kept in any case
	bytes  int64     // capacity of all blocks
	closed int64     // sum of the capacities of all blocks that were ever put into the arena
	lent   int64     // capacity of the blocks that buffers have
	most   int64     // maximum of lent so far
}

// lend counts a block that a buffer gets.
func (a *arena) lend(b *block) {
	a.lent += int64(b.kept.capacity)
	a.most = max(a.most, a.lent)
}

// shelf has the blocks that are free in the order of one stream, or of all. A bin has the blocks of similar
// capacity, the one that was closed last first.
type shelf struct {
	stream *Stream // nil for all
	bins   []blockList
}

// kept is what the arena knows of a block.
type kept struct {
	handle   *allocation // nil while a buffer has it
	shelf    *shelf
	capacity int   // bytes of the memory, of which the buffer may use fewer
	closed   int64 // the arena's closed when the block was put there
	links    [2]links
}

const (
	unit      = 256 // sizes of memory are multiples of it
	smallBins = 16  // bins of a single size; each further power of two has stepBins
	stepBins  = 8
	// A block serves a buffer if it is larger by at most an eighth of the buffer's size.
	slackShift = 3
	// probes bounds the search in a bin.
	probes = 8
	// The bounds of the arena's size.
	mostTimes  = 2
	staleTimes = 4
	spareShare = 16 // of the device's memory
)

// capacityFor returns the capacity for a buffer of size bytes.
func capacityFor(size int) int { return (size + unit - 1) &^ (unit - 1) }

// binOf returns the bin of blocks with a capacity.
func binOf(capacity int) int {
	units := capacity / unit
	if units < smallBins {
		return units
	}
	power := bits.Len(uint(units)) - 1
	const first = 4 // the power of two that follows the small bins
	return smallBins + (power-first)*stepBins + units>>(power-3)&(stepBins-1)
}

// take removes a block for size bytes of work on s from the arena, or returns nil.
func (a *arena) take(s *Stream, size int) *block {
	need := capacityFor(size)
	b := s.shelf.find(need)
	if b == nil {
		b = a.ready.find(need)
	}
	if b != nil {
		a.remove(b)
	}
	return b
}

// find returns a block for need bytes, or nil.
func (sh *shelf) find(need int) *block {
	if sh == nil {
		return nil
	}
	most := need + need>>slackShift
	for bin := binOf(need); bin < len(sh.bins) && bin <= binOf(most); bin++ {
		b := sh.bins[bin].first
		for range probes {
			if b == nil {
				break
			}
			if c := b.kept.capacity; c >= need && c <= most {
				return b
			}
			b = b.kept.links[byBin].next
		}
	}
	return nil
}

// keep puts a block that is being freed into the arena, unless several streams may have work on it, or its
// handle, which would be reused, is unreachable. Because the accounts are locked, a stream that is not idle
// has not retired.
func (a *arena) keep(b *block, users []*Stream) bool {
	handle := b.handle.Value()
	if handle == nil || b.kind != kindBuffer {
		return false
	}
	var last *Stream
	for _, s := range users {
		if s.later == nil || s.idle() {
			continue
		}
		if last != nil {
			return false
		}
		last = s
	}
	a.put(b, handle, last)
	return true
}

// put adds a block. It is free in the order of s, or of all streams if s is nil.
func (a *arena) put(b *block, handle *allocation, s *Stream) {
	sh := &a.ready
	if s != nil {
		if s.shelf == nil {
			s.shelf = &shelf{stream: s}
		}
		sh = s.shelf
	}
	b.kept.handle = handle
	sh.add(b)
	a.age.push(b, byAge)
	a.bytes += int64(b.kept.capacity)
	a.closed += int64(b.kept.capacity)
	b.kept.closed = a.closed
}

func (sh *shelf) add(b *block) {
	bin := binOf(b.kept.capacity)
	if missing := bin + 1 - len(sh.bins); missing > 0 {
		sh.bins = append(sh.bins, make([]blockList, missing)...)
	}
	b.kept.shelf = sh
	sh.bins[bin].push(b, byBin)
}

func (a *arena) remove(b *block) {
	b.kept.shelf.bins[binOf(b.kept.capacity)].remove(b, byBin)
	a.age.remove(b, byAge)
	a.bytes -= int64(b.kept.capacity)
}

// retire makes the blocks of a stream whose work is done free for all streams.
func (a *arena) retire(s *Stream) {
	if s.shelf == nil {
		return
	}
	for i := range s.shelf.bins {
		for from := &s.shelf.bins[i]; from.first != nil; {
			b := from.first
			from.remove(b, byBin)
			a.ready.add(b)
		}
	}
	s.shelf = nil
}

// surplus is a block that leaves the arena, and the stream in whose order it is free, or nil.
type surplus struct {
	*block
	stream *Stream
}

// shrink removes the blocks that were closed first, as long as the arena is too large, or has more than
// limit bytes.
func (a *arena) shrink(limit int64) (all []surplus) {
	for b := a.age.last; b != nil && (a.bytes > limit || a.excessive(b)); b = a.age.last {
		a.remove(b)
		b.kept.handle = nil
		all = append(all, surplus{b, b.kept.shelf.stream})
	}
	return all
}

// excessive reports whether the arena is too large to keep b, the block that was closed first.
func (a *arena) excessive(b *block) bool {
	return a.bytes > a.spare && (a.bytes > mostTimes*a.most || a.closed-b.kept.closed > staleTimes*a.bytes)
}

// freeAll gives memory that left the arena back to the back end.
func (d *Device) freeAll(all []surplus) error {
	var errs []error
	for _, x := range all {
		var users []*Stream
		if x.stream != nil {
			users = append(users, x.stream)
		}
		errs = append(errs, d.discard(x.block, users))
	}
	return errors.Join(errs...)
}

// empty gives all memory of the arena back to the back end.
func (d *Device) empty() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed.Load() {
		return nil // the back end has freed it
	}
	return d.freeAll(d.memory.clear())
}

// discard gives memory back to the back end, after the work of the streams that used it.
func (d *Device) discard(b *block, users []*Stream) error {
	pooled, ok := b.memory.(driver.PooledMemory)
	if !ok {
		return b.memory.Free()
	}
	queues := make([]driver.Queue, len(users))
	for i, s := range users {
		queues[i] = s.queue
	}
	return pooled.FreeAfter(queues)
}

// The lists that a block is in.
const (
	byBin = iota
	byAge
)

// links are the neighbours of a block in a list.
type links struct{ next, prev *block }

// blockList is a list of blocks, linked through one of their links.
type blockList struct{ first, last *block }

func (l *blockList) push(b *block, by int) {
	b.kept.links[by] = links{next: l.first}
	if l.first == nil {
		l.last = b
	} else {
		l.first.kept.links[by].prev = b
	}
	l.first = b
}

func (l *blockList) remove(b *block, by int) {
	at := &b.kept.links[by]
	if at.prev == nil {
		l.first = at.next
	} else {
		at.prev.kept.links[by].next = at.next
	}
	if at.next == nil {
		l.last = at.prev
	} else {
		at.next.kept.links[by].prev = at.prev
	}
	*at = links{}
}
