package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// memory is one allocation of device memory. It implements driver.Memory.
type memory struct {
	backend *backend
	address uintptr
	pooled  bool
}

// Allocate implements driver.Backend. The driver aligns allocations to at least 256 bytes.
func (b *backend) Allocate(size int) (driver.Memory, error) {
	m := &memory{backend: b}
	err := b.do("cuMemAlloc", func() cudasys.Status {
		s := b.driver.MemAlloc(&m.address, uintptr(size))
		if s == cudasys.Success {
			own(b, b.memory, m)
		}
		return s
	})
	if err != nil {
		return nil, about(err, bytesText(size))
	}
	return m, nil
}

// Address implements driver.Memory.
func (m *memory) Address() uintptr { return m.address }

// Free implements driver.Memory. Before it frees memory that is not from a pool, the driver waits
// for the device's work and blocks the calling thread. A mutex serializes these calls, so that many
// goroutines that free memory do not block many threads.
func (m *memory) Free() error {
	if m.pooled {
		return m.FreeAfter(nil)
	}
	b := m.backend
	b.oneFree.Lock()
	defer b.oneFree.Unlock()
	return b.do("cuMemFree", func() cudasys.Status { return m.release() })
}

// free is Free for a device that is being closed.
func (m *memory) free() error {
	b := m.backend
	if !m.pooled {
		return b.call("cuMemFree", m.release)
	}
	forget(b, b.memory, m)
	return b.call("cuMemFreeAsync", func() cudasys.Status { return b.driver.MemFreeAsync(m.address, b.pool.reaper.stream) })
}

func (m *memory) release() cudasys.Status {
	if !forget(m.backend, m.backend.memory, m) {
		return cudasys.InvalidValue
	}
	return m.backend.driver.MemFree(m.address)
}

// bytesText returns a number of bytes with a unit: "64 MiB".
func bytesText(n int) string {
	units := []struct {
		name string
		size int
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
	for _, u := range units {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
