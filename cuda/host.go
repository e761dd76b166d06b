package cuda

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// hostMemory is memory that host and device share: pinned, registered or managed. It implements
// driver.HostMemory and driver.PooledMemory.
type hostMemory struct {
	backend *backend
	bytes   []byte
	address uintptr // on the device, or 0
	name    string  // the driver's function that frees it
	release func() cudasys.Status
}

// flags returns the driver's flags for pinned memory.
func flags(a driver.Access) uint32 {
	if a.Mapped {
		return cudasys.MemHostAllocPortable | cudasys.MemHostAllocMapped
	}
	return cudasys.MemHostAllocPortable
}

// AllocateHost implements driver.HostAllocator.
func (b *backend) AllocateHost(size int, a driver.Access) (driver.HostMemory, error) {
	var p unsafe.Pointer
	m := &hostMemory{backend: b, name: "cuMemFreeHost", release: func() cudasys.Status { return b.driver.MemFreeHost(p) }}
	err := b.do("cuMemHostAlloc", func() cudasys.Status {
		return b.ownHost(m, b.driver.MemHostAlloc(&p, uintptr(size), flags(a)))
	})
	if err != nil {
		return nil, about(err, bytesText(size))
	}
	m.bytes = unsafe.Slice((*byte)(p), size)
	return m.mapped(a)
}

// RegisterHost implements driver.HostAllocator.
func (b *backend) RegisterHost(host []byte, a driver.Access) (driver.HostMemory, error) {
	m := &hostMemory{
		backend: b, bytes: host, name: "cuMemHostUnregister",
		release: func() cudasys.Status { return b.driver.MemHostUnregister(host) },
	}
	err := b.do("cuMemHostRegister", func() cudasys.Status {
		return b.ownHost(m, b.driver.MemHostRegister(host, flags(a)))
	})
	if err != nil {
		return nil, about(err, bytesText(len(host)))
	}
	return m.mapped(a)
}

// ownHost adds m to the resources that Close frees, if the allocation succeeded.
func (b *backend) ownHost(m *hostMemory, s cudasys.Status) cudasys.Status {
	if s == cudasys.Success {
		own(b, b.host, m)
	}
	return s
}

// mapped sets the address on the device, if a demands one.
func (m *hostMemory) mapped(a driver.Access) (driver.HostMemory, error) {
	if !a.Mapped {
		return m, nil
	}
	err := m.backend.do("cuMemHostGetDevicePointer", func() cudasys.Status {
		return m.backend.driver.MemHostGetDevicePointer(&m.address, unsafe.Pointer(unsafe.SliceData(m.bytes)), 0)
	})
	if err != nil {
		return nil, errors.Join(err, m.Free())
	}
	return m, nil
}

// FreeMemory implements driver.Gauge.
func (b *backend) FreeMemory() (int64, error) {
	var free, total uintptr
	err := b.do("cuMemGetInfo", func() cudasys.Status { return b.driver.MemGetInfo(&free, &total) })
	return int64(free), err
}

// AllocateManaged implements driver.Manager. It refuses more memory than the device has free: the
// driver would grant it, and then move pages back and forth.
func (b *backend) AllocateManaged(size int) (driver.HostMemory, error) {
	free, err := b.FreeMemory()
	if err != nil {
		return nil, err
	}
	if int64(size) > free {
		return nil, fmt.Errorf("cuda: %s of managed memory, the device has %s free: %w", bytesText(size), bytesText(int(free)), driver.ErrMemory)
	}
	var p unsafe.Pointer
	m := &hostMemory{backend: b, name: "cuMemFree", release: func() cudasys.Status { return b.driver.MemFree(uintptr(p)) }}
	err = b.do("cuMemAllocManaged", func() cudasys.Status {
		return b.ownHost(m, b.driver.MemAllocManaged(&p, uintptr(size), cudasys.MemAttachGlobal))
	})
	if err != nil {
		return nil, about(err, bytesText(size))
	}
	m.bytes, m.address = unsafe.Slice((*byte)(p), size), uintptr(p)
	return m, nil
}

// Advise implements driver.Manager.
func (b *backend) Advise(address uintptr, n int, a driver.Advice) error {
	advice, at := cudasys.AdviseReadMostly, b.device
	switch a {
	case driver.PreferDevice:
		advice = cudasys.AdvisePreferred
	case driver.PreferHost:
		advice, at = cudasys.AdvisePreferred, cudasys.CPU
	}
	return b.do("cuMemAdvise", func() cudasys.Status { return b.driver.MemAdvise(address, uintptr(n), advice, at) })
}

// Prefetch implements driver.Prefetcher.
func (q *queue) Prefetch(address uintptr, n int, toHost bool) error {
	to := q.backend.device
	if toHost {
		to = cudasys.CPU
	}
	err := q.locked("cuMemPrefetchAsync", func() cudasys.Status {
		return q.backend.driver.MemPrefetchAsync(address, uintptr(n), to, q.stream)
	})
	return about(err, bytesText(n))
}

// Address implements driver.Memory.
func (m *hostMemory) Address() uintptr { return m.address }

// Bytes implements driver.HostMemory.
func (m *hostMemory) Bytes() []byte { return m.bytes }

// Free implements driver.Memory.
func (m *hostMemory) Free() error {
	b := m.backend
	b.oneFree.Lock()
	defer b.oneFree.Unlock()
	return b.do(m.name, m.forget)
}

// free is Free for a device that is being closed.
func (m *hostMemory) free() error { return m.backend.call(m.name, m.forget) }

func (m *hostMemory) forget() cudasys.Status {
	if !forget(m.backend, m.backend.host, m) {
		return cudasys.InvalidValue
	}
	return m.release()
}

// FreeAfter implements driver.PooledMemory. The driver does not free such memory in stream order,
// and blocks the thread until the device is idle; so a goroutine waits first.
func (m *hostMemory) FreeAfter(queues []driver.Queue) error {
	points, err := endPoints(queues)
	if err != nil {
		return err
	}
	b := m.backend
	b.freeing.Go(func() error {
		err := await(points)
		b.oneFree.Lock()
		defer b.oneFree.Unlock()
		return errors.Join(err, b.whileOpen(m.name, m.forget))
	})
	return nil
}

// endPoints returns a point after the work so far of each queue.
func endPoints(queues []driver.Queue) (points []*point, err error) {
	for _, q := range queues {
		p, err := q.(*queue).here()
		if errors.Is(err, driver.ErrClosed) {
			continue // its work was done when it was closed
		}
		if err != nil {
			for _, p := range points {
				p.queue.backend.waiter.recycle(p)
			}
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// await waits for all points, even if the wait for one fails.
func await(points []*point) (err error) {
	for _, p := range points {
		err = errors.Join(err, p.queue.backend.waiter.wait(context.Background(), p))
	}
	return err
}
