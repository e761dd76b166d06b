package device

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// accounts keeps track of a device's memory.
type accounts struct {
	mu     sync.Mutex
	blocks map[*block]struct{} // open, or kept by the arena
	arena  arena
	opened int   // number of open blocks
	used   int64 // of the device
	peak   int64
	host   int64 // pinned memory of the host
	limit  int64 // 0 means no limit
	lost   map[string]Owner

	pressure   sync.Mutex   // held by the goroutine that frees memory for an allocation
	abandoning sync.RWMutex // held for reading while a lost block is freed
}

// MemoryStats describes the memory in use, in bytes.
type MemoryStats struct {
	Used     int64 // total size of the open buffers and of the memory that graphs own
	Peak     int64 // maximum of Used so far
	Reserved int64 // taken from the device, for current and later buffers; 0 if unknown
	Limit    int64 // set by SetMemoryLimit; 0 means no limit
	Pinned   int64 // pinned host memory
	Buffers  int   // number of open buffers and of allocations that graphs own
}

// MemoryStats returns the current memory use.
func (d *Device) MemoryStats() (MemoryStats, error) {
	m := &d.memory
	m.mu.Lock()
	s := MemoryStats{Used: m.used, Peak: m.peak, Reserved: m.used + m.arena.bytes, Limit: m.limit, Pinned: m.host, Buffers: m.opened}
	m.mu.Unlock()
	if p, ok := d.backend.(driver.Pooler); ok {
		reserved, err := p.Pool()
		if err != nil {
			return s, err
		}
		s.Reserved = reserved
	}
	return s, nil
}

// Room returns how many bytes buffers can still take: the free memory of the device plus the memory that the device's
// pool keeps for later buffers, but no more than SetMemoryLimit allows. The result is math.MaxInt64 if there is no
// limit and the free memory is unknown. Other programs may take the memory at any time.
func (d *Device) Room() (int64, error) {
	s, err := d.MemoryStats()
	room := int64(math.MaxInt64)
	if g, ok := d.backend.(driver.Gauge); ok && err == nil {
		room, err = g.FreeMemory()
		room += max(0, s.Reserved-s.Used)
	}
	if err != nil {
		return 0, err
	}
	if s.Limit > 0 {
		room = min(room, max(0, s.Limit-s.Used))
	}
	return room, nil
}

// SetMemoryLimit limits the total size of all buffers in bytes. Existing buffers may exceed the limit.
// A limit of 0 means no limit.
func (d *Device) SetMemoryLimit(bytes int64) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	d.memory.limit = bytes
}

// Trim returns unused memory to the system: the memory of unreachable buffers, and the memory that the device
// keeps for later buffers.
func (d *Device) Trim() error {
	d.memory.pressure.Lock()
	defer d.memory.pressure.Unlock()
	d.collect()
	return d.drain()
}

// Owner is a line of the program, with the number and the total size of buffers that the line allocated.
type Owner struct {
	Site    string // "main.go:42"
	Kind    string // "buffer", "pinned", "managed" or "graph" (memory that a graph owns)
	Bytes   int64
	Buffers int
}

// Owners returns the lines of the program that made the open buffers. The line with the most bytes
// comes first.
func (d *Device) Owners() []Owner { return d.memory.owners() }

// Leaks returns the lines of the program that made leaked memory, which became unreachable without Close. The garbage collector has freed leaked
// buffers; leaked pinned memory that NewPinned allocated remains until the device is closed. The line with the most bytes comes first.
func (d *Device) Leaks() []Owner {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return sorted(d.memory.lost)
}

func (m *accounts) owners() []Owner {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := map[string]Owner{}
	for b := range m.blocks {
		if b.open {
			count(sums, b)
		}
	}
	return sorted(sums)
}

// count adds a block to the sum of the line that made it.
func count(sums map[string]Owner, b *block) {
	site := b.made.Line()
	o := sums[site+b.kind]
	sums[site+b.kind] = Owner{site, b.kind, o.Bytes + int64(b.size), o.Buffers + 1}
}

func sorted(sums map[string]Owner) []Owner {
	return slices.SortedFunc(maps.Values(sums), func(a, b Owner) int {
		if a.Bytes != b.Bytes {
			return int(max(-1, min(1, b.Bytes-a.Bytes)))
		}
		return strings.Compare(a.Site, b.Site)
	})
}

// leaked records an unreachable block.
func (m *accounts) leaked(b *block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count(m.lost, b)
}

// take counts size bytes of the device as used, or returns ErrMemory. It returns memory that the arena
// must not keep under the limit.
func (m *accounts) take(size int) ([]surplus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.limit > 0 && int64(size) > m.limit-m.used:
		return nil, fmt.Errorf("the limit of %s for the device is reached: %w", bytesText(m.limit), ErrMemory)
	case int64(size) > math.MaxInt64-m.used:
		return nil, fmt.Errorf("more than %s in use: %w", bytesText(math.MaxInt64), ErrMemory)
	}
	m.used += int64(size)
	return m.surplus(), nil
}

// retake opens a block that the arena kept, for size bytes of work on s, and returns it with its handle. It
// returns nil if there is none, or the limit is reached.
func (m *accounts) retake(s *Stream, size int) (*block, *allocation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit > 0 && int64(size) > m.limit-m.used {
		return nil, nil
	}
	b := m.arena.take(s, size)
	if b == nil {
		return nil, nil
	}
	handle := b.kept.handle
	b.size, b.kept.handle, b.zeros = size, nil, false
	b.made.Take()
	b.open = true
	m.opened++
	m.arena.lend(b)
	m.used += int64(size)
	m.peak = max(m.peak, m.used)
	return b, handle
}

// surplus removes from the arena what it must not keep: no more than the limit leaves. The lock is held.
func (m *accounts) surplus() []surplus {
	if m.limit > 0 {
		return m.shrink(max(0, m.limit-m.used))
	}
	return m.shrink(math.MaxInt64)
}

// clear removes everything from the arena.
func (m *accounts) clear() []surplus {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shrink(0)
}

// shrink shrinks the arena. The lock is held.
func (m *accounts) shrink(limit int64) []surplus {
	all := m.arena.shrink(limit)
	for _, x := range all {
		delete(m.blocks, x.block)
	}
	return all
}

// retire makes the memory of a stream whose work is done available to all streams.
func (m *accounts) retire(s *Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arena.retire(s)
}

// enter registers a block. The size of device memory has been taken before.
func (m *accounts) enter(b *block) *allocation {
	a := newAllocation(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks[b] = struct{}{}
	b.open = true
	m.opened++
	m.arena.lend(b)
	m.peak = max(m.peak, m.used)
	if b.kind == kindPinned {
		m.host += int64(b.size)
	}
	return a
}

// give undoes take.
func (m *accounts) give(size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= int64(size)
}

// leave removes a block that is being freed, and puts it into the arena if it can be reused. It returns
// memory that the arena must not keep.
func (m *accounts) leave(b *block, users []*Stream) (isKept bool, unused []surplus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.open = false
	m.opened--
	m.arena.lent -= int64(b.kept.capacity)
	if b.kind == kindPinned {
		m.host -= int64(b.size)
	} else {
		m.used -= int64(b.size)
	}
	if !b.device.recycles() || !m.arena.keep(b, users) {
		delete(m.blocks, b)
		return false, nil
	}
	return true, m.surplus()
}

// Kinds of blocks.
const (
	kindBuffer  = "buffer"
	kindPinned  = "pinned"
	kindManaged = "managed"
	kindGraph   = "graph" // a region of a graph's memory
)

// MemoryError is the error of an allocation for which there is not enough memory. It wraps ErrMemory
// and the back end's error.
type MemoryError struct {
	Bytes  int64 // requested
	Used   int64 // by open buffers
	Owners []Owner
	Err    error
}

// shownOwners is the maximum number of owners in the text of an error.
const shownOwners = 5

// Error returns the sizes and the largest owners.
func (e *MemoryError) Error() string {
	s := fmt.Sprintf("device: no room for %s: %v; open buffers hold %s", bytesText(e.Bytes), e.Err, bytesText(e.Used))
	for i, o := range e.Owners {
		switch {
		case i == shownOwners:
			return s + fmt.Sprintf(", and %d more lines", len(e.Owners)-i)
		case i == 0:
			s += ": "
		default:
			s += ", "
		}
		s += fmt.Sprintf("%s made %d with %s", o.Site, o.Buffers, bytesText(o.Bytes))
	}
	return s
}

// Unwrap returns the back end's error and ErrMemory.
func (e *MemoryError) Unwrap() []error { return []error{e.Err, ErrMemory} }

// LeakError is the error of Device.Close if the device records callers (see RecordCallers) and buffers
// were not closed.
type LeakError struct {
	Open   []Owner // buffers that were open when the device was closed
	Leaked []Owner // memory that became unreachable before the device was closed: see Device.Leaks
}

// Error lists the lines of the program that made the buffers.
func (e *LeakError) Error() string {
	var lines []string
	for _, o := range slices.Concat(e.Leaked, e.Open) {
		lines = append(lines, fmt.Sprintf("%s made %d with %s", o.Site, o.Buffers, bytesText(o.Bytes)))
	}
	return "device: memory was not closed: " + strings.Join(lines, ", ")
}

// Is reports whether target is ErrLeak.
func (e *LeakError) Is(target error) bool { return target == ErrLeak }

// roomy calls allocate. As long as allocate returns ErrMemory, roomy frees memory, in one way after
// the other, and tries again.
func (d *Device) roomy(size int, allocate func() error) error {
	err := allocate()
	if !errors.Is(err, ErrMemory) {
		return err
	}
	d.memory.pressure.Lock()
	defer d.memory.pressure.Unlock()
	for _, relieve := range []func() error{func() error { return nil }, d.empty, d.drain, func() error { d.collect(); return nil }, d.drain} {
		if relieved := relieve(); relieved != nil {
			return errors.Join(err, relieved)
		}
		if err = allocate(); !errors.Is(err, ErrMemory) {
			return err
		}
	}
	stats, owners := d.memory.usedNow(), d.memory.owners()
	return &MemoryError{Bytes: int64(size), Used: stats, Owners: owners, Err: err}
}

func (m *accounts) usedNow() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// collect runs Go's garbage collector and frees the unreachable blocks, unless no block is open.
func (d *Device) collect() {
	d.memory.mu.Lock()
	none := d.memory.opened == 0
	d.memory.mu.Unlock()
	if none {
		return
	}
	runtime.GC()
	d.memory.mu.Lock()
	var lost []*block
	for b := range d.memory.blocks {
		if b.open && b.handle.Value() == nil && !b.keepLost {
			lost = append(lost, b)
		}
	}
	d.memory.mu.Unlock()
	for _, b := range lost {
		b.abandon()
	}
}

// settle waits for unreachable blocks that are being freed.
func (m *accounts) settle() {
	m.abandoning.Lock()
	defer m.abandoning.Unlock()
}

// drain waits until freed memory is available, including the blocks that the collector is freeing.
func (d *Device) drain() error {
	d.memory.settle()
	if err := d.empty(); err != nil {
		return err
	}
	if p, ok := d.backend.(driver.Pooler); ok {
		return p.Drain()
	}
	return nil
}

// bytesText formats a number of bytes, as "64 MiB".
func bytesText(n int64) string {
	units := []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
	for _, u := range units {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
