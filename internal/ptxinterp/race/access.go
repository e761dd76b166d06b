package race

// Found is what an access is in conflict with and not ordered behind: an earlier write, and an
// earlier read or atomic operation. Either may be none.
type Found struct{ Write, Other Stamp }

// None reports whether there is no conflict.
func (f *Found) None() bool { return f.Write.None() && f.Other.None() }

// Access notes an access to size bytes at an offset of memory, aligned to their size, and
// returns what it is in conflict with.
func (b *Block) Access(s *Shadow, at Range, a Access) (f Found) {
	since := b.order.since
	if s.Shared {
		since = b.since
	}
	now := a.stamp(b.number, b.order.now)
	cells := s.cells(at.Offset, at.Size)
	for i := range cells {
		c := &cells[i]
		if c.write.when >= since && c.write.kind()&Write != 0 && b.unordered(c.write, now) {
			f.Write = c.write
		}
		if a.Kind&Write == 0 && !c.atomics {
			c.read(now, since)
			continue
		}
		for _, r := range c.readers {
			if r.when >= since && b.unordered(r, now) {
				f.Other = r
			}
		}
		if a.Kind&Write == 0 {
			c.read(now, since)
		} else {
			c.written(now, since)
		}
	}
	return f
}

// Range is some bytes of a memory.
type Range struct{ Offset, Size uint64 }

// unordered reports whether an access is in conflict with a later one and not ordered before it.
func (b *Block) unordered(earlier, later Stamp) bool {
	if !conflicts(earlier.kind(), later.kind()) {
		return false
	}
	thread := earlier.thread()
	if earlier.block == later.block && thread == later.thread() {
		return false
	}
	return !b.threads[later.thread()].view.knows(earlier.block, thread, earlier.when)
}

// read notes a reader, and keeps the last one where it stands for others.
func (c *cell) read(now Stamp, since Time) {
	last := &c.readers[latest]
	switch {
	case last.when < since:
		c.readers = [readers]Stamp{latest: now}
		c.atomics = false
		return
	case last.block != now.block:
		c.readers[otherBlock] = *last
	case last.thread() == now.thread():
	case last.thread()/lanes == now.thread()/lanes:
		c.readers[sameWarp] = *last
	default:
		c.readers[sameBlock] = *last
	}
	*last = now
}

// written notes a write. A plain one takes the place of all that came before: who is in
// conflict with those is so with it. One that is atomic leaves the others standing.
func (c *cell) written(now Stamp, since Time) {
	before := c.write
	c.write = now
	if now.kind()&Strong == 0 {
		c.readers, c.atomics = [readers]Stamp{}, false
		return
	}
	if before.when >= since && before.kind() == now.kind() && (before.block != now.block || before.thread() != now.thread()) {
		c.read(before, since)
		c.atomics = true
	}
}
