package cpu

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// On this device, all memory is host memory: pinned, mapped, registered and managed memory are
// ordinary memory, so that programs for a GPU run unchanged.

// AllocateHost implements driver.HostAllocator.
func (b *backend) AllocateHost(size int, _ driver.Access) (driver.HostMemory, error) {
	return b.AllocateManaged(size)
}

// AllocateManaged implements driver.Manager.
func (b *backend) AllocateManaged(size int) (driver.HostMemory, error) {
	allocated, err := b.heap.allocate(size)
	if err != nil {
		return nil, err
	}
	m := allocated.(*memory)
	m.host = true
	return m, nil
}

// RegisterHost implements driver.HostAllocator.
func (b *backend) RegisterHost(host []byte, _ driver.Access) (driver.HostMemory, error) {
	return b.heap.register(host)
}

// Advise implements driver.Manager.
func (b *backend) Advise(address uintptr, n int, _ driver.Advice) error {
	_, err := b.heap.find(address, n)
	return err
}

// Bytes implements driver.HostMemory.
func (m *memory) Bytes() []byte { return m.bytes }

// register makes memory of the program known to the device, so that kernels can use it.
func (h *heap) register(host []byte) (*memory, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("cpu: device %w", driver.ErrClosed)
	}
	m := &memory{heap: h, bytes: host}
	at, known := h.search(m.Address())
	if known || at > 0 && h.live[at-1].Address()+uintptr(len(h.live[at-1].bytes)) > m.Address() ||
		at < len(h.live) && m.Address()+uintptr(len(host)) > h.live[at].Address() {
		return nil, fmt.Errorf("cpu: the memory is already registered: %w", driver.ErrOverlap)
	}
	h.live = slices.Insert(h.live, at, m)
	h.used += int64(len(host))
	return m, nil
}

// Fill implements driver.Filler.
func (q *queue) Fill(dst uintptr, value []byte, n int) error {
	q.turn.Take()
	defer q.turn.Give()
	to, err := q.find(dst, n)
	if err != nil {
		return err
	}
	for done := copy(to, value); done > 0 && done < n; {
		done += copy(to[done:], to[:done])
	}
	return nil
}

// CopyRows implements driver.StridedCopier.
func (q *queue) CopyRows(dst, src driver.Rows, width, rows int) error {
	q.turn.Take()
	defer q.turn.Give()
	to, err := q.find(dst.Address, (rows-1)*dst.Pitch+width)
	if err != nil {
		return err
	}
	from, err := q.find(src.Address, (rows-1)*src.Pitch+width)
	if err != nil {
		return err
	}
	for y := range rows {
		copy(to[y*dst.Pitch:][:width], from[y*src.Pitch:])
	}
	return nil
}
