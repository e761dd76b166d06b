package machine

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// Addresses that exist only here. Generic addresses of shared, local and parameter memory are
// the address within the space plus the space's window; those of global memory and constants
// are the same in every space.
const (
	globalBase = 1 << 32
	guardGap   = 1 << 16 // between two allocations, at least

	paramWindow  = 0x7d00_0000_0000
	localWindow  = 0x7e00_0000_0000
	sharedWindow = 0x7f00_0000_0000
	windowSize   = 1 << 32

	// Where the three spaces start, so that a null pointer points nowhere.
	spaceBase = 0x400

	// Freed allocations that are remembered, to say so when they are used.
	maxFreed = 4096
)

// Memory is the global memory of a machine. Addresses of allocations are never reused. It is not
// safe for concurrent use.
type Memory struct {
	regions []*region // by address
	next    uint64
	used    int
	freed   int
	checks  Checks
	order   *race.Order // nil unless races are looked for
	kept    warpMemory  // of the launch before, for the next one
}

// region is a stretch of memory with one owner.
type region struct {
	base     uint64
	data     []byte // nil once freed
	size     uint64
	name     string // of a variable
	readOnly bool

	watched bool         // one of the following is there
	shadow  *race.Shadow // nil if races are not looked for
	written byteSet      // nil if everything has been written or nobody asks
}

// NewMemory returns a memory without allocations.
func NewMemory() *Memory { return NewCheckedMemory(Checks{}) }

// NewCheckedMemory returns a memory without allocations, in which accesses are checked for more than bounds.
func NewCheckedMemory(c Checks) *Memory {
	m := &Memory{next: globalBase, checks: c}
	if c.Races {
		m.order = race.NewOrder()
	}
	return m
}

// Allocate returns the address of size bytes, aligned to 256, all ones.
func (m *Memory) Allocate(size int) (uint64, error) {
	at, err := m.AllocateClear(size)
	if err == nil {
		poison(m.regions[len(m.regions)-1].data)
	}
	return at, err
}

// AllocateClear is like Allocate, but clears the memory.
func (m *Memory) AllocateClear(size int) (uint64, error) {
	if size < 1 {
		return 0, fmt.Errorf("allocation of %d bytes: %w", size, ErrAddress)
	}
	r := m.add(&region{data: make([]byte, size, align(size, wordBytes))})
	if m.checks.Unwritten {
		r.written, r.watched = newByteSet(size), true
	}
	return r.base, nil
}

// add places r after all others.
func (m *Memory) add(r *region) *region {
	r.base, r.size = m.next, uint64(len(r.data))
	m.next += (r.size + 2*guardGap - 1) &^ (guardGap - 1)
	m.regions = append(m.regions, r)
	m.used += len(r.data)
	if m.checks.Races && !r.readOnly {
		r.shadow, r.watched = &race.Shadow{}, true
	}
	return r
}

// Free frees the allocation at address.
func (m *Memory) Free(address uint64) error {
	r := m.find(address)
	switch {
	case r == nil || r.base != address:
		return fmt.Errorf("free of %#x, which is not an allocation: %w", address, ErrAddress)
	case r.data == nil:
		return fmt.Errorf("free of %#x: %w", address, ErrFreed)
	}
	m.used -= len(r.data)
	r.data, r.shadow, r.written, r.watched = nil, nil, nil, false
	if m.freed++; m.freed > maxFreed {
		m.forget()
	}
	return nil
}

// forget drops the older half of what was freed.
func (m *Memory) forget() {
	drop := m.freed / 2
	m.freed -= drop
	m.regions = slices.DeleteFunc(m.regions, func(r *region) bool {
		if r.data == nil && drop > 0 {
			drop--
			return true
		}
		return false
	})
}

// Used returns the bytes that are allocated.
func (m *Memory) Used() int { return m.used }

// Bytes returns the n bytes at address, which must be in one allocation. While no kernel runs, they
// may be read and written until the allocation is freed. After writing, the caller must call
// Written.
func (m *Memory) Bytes(address uint64, n int) ([]byte, error) {
	r := m.find(address)
	if p := r.window(address, uint64(n)); p != nil || n == 0 {
		return p[:n:n], nil
	}
	text, err := explain(r, address, uint64(n))
	return nil, fmt.Errorf("%w: %s", err, text)
}

// find returns the region that starts at or below address, or nil.
func (m *Memory) find(address uint64) *region {
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].base > address })
	if i == 0 {
		return nil
	}
	return m.regions[i-1]
}

// window returns the region's bytes from address on if n of them are there, or nil.
func (r *region) window(address, n uint64) []byte {
	if r == nil {
		return nil
	}
	off, size := address-r.base, uint64(len(r.data))
	if off >= size || size-off < n {
		return nil
	}
	return r.data[off:]
}

// explain describes why n bytes at address are not accessible, r being the nearest region.
func explain(r *region, address, n uint64) (string, error) {
	access := fmt.Sprintf("%d bytes at %#x", n, address)
	switch {
	case r == nil:
		return access + ", below all memory", ErrAddress
	case address < r.base:
		return fmt.Sprintf("%s, %d bytes before %s", access, r.base-address, r), ErrAddress
	case r.data == nil && address-r.base < r.size:
		return fmt.Sprintf("%s, %d bytes into %s", access, address-r.base, r), ErrFreed
	case address-r.base < r.size:
		return fmt.Sprintf("%s, %d bytes before the end of %s", access, r.base+r.size-address, r), ErrAddress
	}
	return fmt.Sprintf("%s, %d bytes past the end of %s", access, address-r.base-r.size, r), ErrAddress
}

// String describes the region for an error.
func (r *region) String() string {
	what := "an allocation"
	if r.name != "" {
		what = r.name
	}
	return fmt.Sprintf("%s of %d bytes at %#x", what, r.size, r.base)
}

// poison makes of p what nobody has written: all ones, which is a NaN in every format.
func poison(p []byte) {
	if len(p) > 0 {
		p[0] = 0xff
		spread(p, 1)
	}
}
