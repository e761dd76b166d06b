package race

// Found holds the conflicting accesses that an access is not ordered after: an earlier write, and
// an earlier read or atomic operation. Either may be absent.
type Found struct{ Write, Other Stamp }

// None reports whether there is no conflict.
func (f *Found) None() bool { return f.Write.None() && f.Other.None() }

// Range is a range of bytes of a memory.
type Range struct{ Offset, Size uint64 }

// Access records an access to memory, aligned to its size. It returns the accesses that it
// conflicts with, valid until the next call, or nil.
func (b *Block) Access(s *Shadow, at Range, a Access) *Found {
	since := b.order.since
	if s.Shared {
		since = b.since
	}
	now := a.stamp(b.number, b.order.now)
	if a.Kind == 0 && at.Size == 1<<s.shift {
		if p := s.page(at.Offset >> s.shift / pageCells); p != nil && b.familiar(p, at.Offset>>s.shift%pageCells, now, since) {
			return nil
		}
	}
	p, i, n := s.cells(at)
	b.found = Found{}
	for end := i + n; i < end; i++ {
		b.visit(p, i, now, since)
	}
	if b.found.None() {
		return nil
	}
	return &b.found
}

// Unfinished reports whether an access to memory that all blocks see, by a thread that has not waited for earlier launches,
// conflicts with one of a launch that may still be running.
func (b *Block) Unfinished(s *Shadow, at Range, k Kind) bool {
	p, i, n := s.cells(at)
	for end := i + n; i < end; i++ {
		if p.writes != nil && b.order.early(p.writes[i], k) || p.reads != nil && b.order.early(p.reads[i], k) {
			return true
		}
	}
	return false
}

// early reports whether an access of an earlier launch that may still be running conflicts with a later access.
func (o *Order) early(earlier Stamp, later Kind) bool {
	return earlier.when >= o.whole && earlier.when < o.since && conflicts(earlier.kind(), later)
}

// familiar reports whether a plain read adds no information: two threads of the same kin have read the cell since
// the last synchronisation. Most reads are so, of what all threads of a block read. Of those two one is not who
// wrote the cell, and was ordered after the write like this thread, or reported.
func (b *Block) familiar(p *page, i uint64, now Stamp, since Time) bool {
	if p.more == nil || p.atomics || p.writes != nil && b.kin != blockBit && p.writes[i].when >= since {
		return false
	}
	last, other := &p.reads[i], &p.more[i][sameKin]
	return last.when == now.when && last.block == now.block && (last.what^now.what)>>b.kin == 0 &&
		other.when == now.when && other.block == now.block && (other.what^now.what)>>b.kin == 0
}

// visit adds to what was found what an access to one cell finds, and notes the access. Stamps
// from before since do not count.
func (b *Block) visit(p *page, i uint64, now Stamp, since Time) {
	if p.writes != nil {
		if w := &p.writes[i]; w.when >= since && b.unordered(w, now) {
			b.found.Write = *w
		}
	}
	writes := now.kind()&Write != 0
	if p.reads != nil && (writes || p.atomics) {
		b.among(p, i, now, since)
	}
	if writes {
		b.write(p, i, now, since)
	} else {
		b.read(p, i, now, since)
	}
}

// among looks for a conflict with reads, and atomic operations among them.
func (b *Block) among(p *page, i uint64, now Stamp, since Time) {
	if r := &p.reads[i]; r.when >= since && b.unordered(r, now) {
		b.found.Other = *r
	}
	if p.more == nil {
		return
	}
	for k := range p.more[i] {
		if r := &p.more[i][k]; r.when >= since && b.unordered(r, now) {
			b.found.Other = *r
		}
	}
}

// unordered reports whether an access is in conflict with a later one and not ordered before it.
func (b *Block) unordered(earlier *Stamp, later Stamp) bool {
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
func (b *Block) read(p *page, i uint64, now Stamp, since Time) {
	if p.reads == nil {
		p.reads = new([pageCells]Stamp)
	}
	last := &p.reads[i]
	switch {
	case last.when < since:
		if p.more != nil {
			p.more[i] = more{}
		}
	case last.block != now.block:
		p.others()[i][otherBlock] = *last
	case last.thread() == now.thread():
	case (last.what^now.what)>>b.kin == 0:
		p.others()[i][sameKin] = *last
	default:
		p.others()[i][sameBlock] = *last
	}
	*last = now
}

// others returns the earlier reads of the page's cells.
func (p *page) others() *[pageCells]more {
	if p.more == nil {
		p.more = new([pageCells]more)
	}
	return p.more
}

// write notes a write. A plain one takes the place of all that came before: who is in
// conflict with those is so with it. One that is atomic leaves the others standing.
func (b *Block) write(p *page, i uint64, now Stamp, since Time) {
	if p.writes == nil {
		p.writes = new([pageCells]Stamp)
	}
	before := p.writes[i]
	p.writes[i] = now
	if now.kind()&Strong != 0 {
		p.atomics = true
		if before.when >= since && before.kind() == now.kind() {
			b.read(p, i, before, since)
		}
		return
	}
	if p.reads != nil {
		p.reads[i] = Stamp{}
	}
	if p.more != nil {
		p.more[i] = more{}
	}
}
