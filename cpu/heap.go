package cpu

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// heap is the device's memory: byte slices of Go's heap, found by their addresses.
//
// Lifetimes: an address is a uintptr, which the garbage collector does not see. The entry in live keeps the
// memory alive until Free; the collector does not move it. If the entry is removed while a kernel runs (on a
// stream that was not waited for), the kernel's slices keep the memory alive. Every address that a caller
// passes is looked up, so an address of freed memory causes an error and is never dereferenced.
type heap struct {
	mu     sync.RWMutex
	live   []*memory // by address
	used   int64
	limit  int64
	closed bool
}

// memory implements driver.Memory.
type memory struct {
	heap  *heap
	bytes []byte
	host  bool // the program can access the bytes, but the device does not own them
}

// align is the alignment of allocations. Each allocation also has that many extra bytes: so its
// end, which is the address of an empty slice there, is still inside the collector's object, not at
// the start of the next one.
const align = 256

// allocate returns size bytes.
func (h *heap) allocate(size int) (driver.Memory, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("cpu: device %w", driver.ErrClosed)
	}
	if int64(size) > h.limit-h.used {
		return nil, fmt.Errorf("cpu: allocating %d bytes: %d of %d are in use: %w", size, h.used, h.limit, driver.ErrMemory)
	}
	if !available(size + align) {
		return nil, fmt.Errorf("cpu: allocating %d bytes: the system refused; %d are in use: %w", size, h.used, driver.ErrMemory)
	}
	raw := make([]byte, size+align)
	hugePages(raw)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))) & (align - 1)
	m := &memory{heap: h, bytes: raw[skip : skip+size : skip+size]}
	at, _ := h.search(m.Address())
	h.live = slices.Insert(h.live, at, m)
	h.used += int64(size)
	return m, nil
}

// search returns the index in live of the memory that starts at address, or the index where it
// would be inserted.
func (h *heap) search(address uintptr) (int, bool) {
	return slices.BinarySearchFunc(h.live, address, func(m *memory, a uintptr) int {
		return cmp.Compare(m.Address(), a)
	})
}

// find returns the n bytes at address, which must lie in one allocation.
func (h *heap) find(address uintptr, n int) ([]byte, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	at, exact := h.search(address)
	if !exact {
		at--
	}
	if at >= 0 {
		m := h.live[at]
		if from := int(address - m.Address()); from <= len(m.bytes) && n >= 0 && n <= len(m.bytes)-from {
			return m.bytes[from : from+n], nil
		}
	}
	return nil, fmt.Errorf("cpu: %d bytes at %#x: memory %w", n, address, driver.ErrClosed)
}

// open returns an error if the device is closed.
func (h *heap) open() error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return fmt.Errorf("cpu: device %w", driver.ErrClosed)
	}
	return nil
}

// close releases all memory, except for kernels that are still running.
func (h *heap) close(running bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("cpu: device %w", driver.ErrClosed)
	}
	for _, m := range h.live {
		m.poison()
	}
	h.closed = true
	if !running {
		h.live, h.used = nil, 0
	}
	return nil
}

// Address implements driver.Memory.
func (m *memory) Address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes))) }

// Free implements driver.Memory.
func (m *memory) Free() error {
	h := m.heap
	h.mu.Lock()
	defer h.mu.Unlock()
	at, found := h.search(m.Address())
	if !found || h.live[at] != m {
		return fmt.Errorf("cpu: memory %w", driver.ErrClosed)
	}
	h.live = slices.Delete(h.live, at, at+1)
	h.used -= int64(len(m.bytes))
	m.poison()
	return nil
}

// poison overwrites freed memory that the program can still access, to reveal its use.
func (m *memory) poison() {
	if m.host {
		driver.Poison(m.bytes)
	}
}
