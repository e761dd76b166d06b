package cuda

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// pool allocates and frees memory in stream order, without waiting. It implements driver.Pooler for its
// backend. It is a memory pool of the driver's, separate from the default pool, so that other libraries of
// the process neither see nor trim it. On a device without memory pools (some virtual ones), it allocates
// with cuMemAlloc, and frees on a goroutine that waits.
//
// The reaper is a stream for frees that belong to no other stream: it frees memory that several streams
// used, after the work of all of them.
type pool struct {
	handle cudasys.Pool // 0 if the device has no pools
	reaper *queue
}

// keepAll is the number of bytes that the pool keeps for later allocations: all of them.
const keepAll = 1<<64 - 1

// newPool creates the pool of a device that is being opened.
func (b *backend) newPool() error {
	var supported int32
	err := b.call("cuDeviceGetAttribute", func() cudasys.Status {
		return b.driver.DeviceGetAttribute(&supported, cudasys.MemoryPoolsSupported, b.device)
	})
	if err != nil {
		return err
	}
	if supported != 0 {
		if err := b.makePool(); err != nil {
			return err
		}
	}
	if b.pool.reaper, err = b.newQueue(0); err != nil {
		return err
	}
	b.setup, err = b.newQueue(0)
	return err
}

func (b *backend) makePool() error {
	err := b.call("cuMemPoolCreate", func() cudasys.Status {
		return b.driver.MemPoolCreate(&b.pool.handle, &cudasys.PoolProps{
			AllocType: cudasys.PoolPinned, LocationType: cudasys.PoolOnDevice, LocationID: int32(b.device),
		})
	})
	if err != nil {
		return err
	}
	keep := uint64(keepAll)
	return b.call("cuMemPoolSetAttribute", func() cudasys.Status {
		return b.driver.MemPoolSetAttribute(b.pool.handle, cudasys.PoolReleaseThreshold, &keep)
	})
}

// free destroys the pool of a device that is being closed, and with it all of its memory.
func (p *pool) free(b *backend) error {
	if p.handle == 0 {
		return nil
	}
	return b.call("cuMemPoolDestroy", func() cudasys.Status { return b.driver.MemPoolDestroy(p.handle) })
}

// AllocateFor implements driver.Pooler. Memory for any queue is allocated in the order of the setup queue,
// on which no work waits for long, and exists when AllocateFor returns.
func (b *backend) AllocateFor(q driver.Queue, size int) (driver.Memory, error) {
	if b.pool.handle == 0 {
		return b.Allocate(size)
	}
	if q == nil {
		m, err := b.AllocateFor(b.setup, size)
		if err != nil {
			return nil, err
		}
		if err := b.setup.finish(); err != nil {
			return nil, errors.Join(err, m.Free())
		}
		return m, nil
	}
	on, ok := q.(*queue)
	if !ok {
		return nil, fmt.Errorf("cuda: memory for a stream that %w", driver.ErrForeign)
	}
	m := &memory{backend: b, pooled: true}
	err := on.locked("cuMemAllocFromPoolAsync", func() cudasys.Status {
		s := b.driver.MemAllocFromPoolAsync(&m.address, uintptr(size), b.pool.handle, on.stream)
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

// Recyclable implements driver.Recycler.
func (b *backend) Recyclable() error {
	if lost := b.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// FreeAfter implements driver.PooledMemory.
func (m *memory) FreeAfter(queues []driver.Queue) error {
	if !m.pooled {
		return m.freeLater(queues)
	}
	if len(queues) == 1 {
		if err := m.freeOn(queues[0].(*queue)); !errors.Is(err, driver.ErrClosed) {
			return err
		}
	}
	if err := m.backend.reapAfter(queues); err != nil {
		return err
	}
	return m.freeOn(m.backend.pool.reaper)
}

// freeOn frees the memory in the order of q.
func (m *memory) freeOn(q *queue) error {
	return q.locked("cuMemFreeAsync", func() cudasys.Status {
		if !forget(m.backend, m.backend.memory, m) {
			return cudasys.InvalidValue
		}
		return m.backend.driver.MemFreeAsync(m.address, q.stream)
	})
}

// reapAfter makes all later work of the reaper wait for the work of queues so far.
func (b *backend) reapAfter(queues []driver.Queue) error {
	points, err := endPoints(queues)
	for _, p := range points {
		failed := b.pool.reaper.locked("cuStreamWaitEvent", func() cudasys.Status {
			return b.driver.StreamWaitEvent(b.pool.reaper.stream, p.event, 0)
		})
		err = errors.Join(err, failed)
		// The wait refers to the event as it was recorded, so the event can be reused.
		b.waiter.recycle(p)
	}
	return err
}

// freeLater frees memory that is not from the pool, when the work of queues so far is done.
func (m *memory) freeLater(queues []driver.Queue) error {
	b := m.backend
	points, err := endPoints(queues)
	if err != nil {
		return err
	}
	b.freeing.Go(func() error {
		err := await(points)
		b.oneFree.Lock()
		defer b.oneFree.Unlock()
		return errors.Join(err, b.whileOpen("cuMemFree", m.release))
	})
	return nil
}

// Drain implements driver.Pooler.
func (b *backend) Drain() error {
	for _, q := range members(b, b.queues) {
		if err := q.finish(); err != nil && !errors.Is(err, driver.ErrClosed) {
			return err
		}
	}
	if err := b.freeing.Wait(); err != nil || b.pool.handle == 0 {
		return err
	}
	if err := b.see(); err != nil {
		return err
	}
	return b.do("cuMemPoolTrimTo", func() cudasys.Status { return b.driver.MemPoolTrimTo(b.pool.handle, 0) })
}

// see makes the driver see that frees of all streams are done. For cuMemPoolTrimTo, memory is in use until a synchronizing call has
// followed its free; cuEventQuery is not one. Because the work has been waited for, the calls return soon.
func (b *backend) see() error {
	for _, q := range members(b, b.queues) {
		p, err := q.here()
		if errors.Is(err, driver.ErrClosed) {
			continue
		}
		if err != nil {
			return err
		}
		err = b.do("cuEventSynchronize", func() cudasys.Status { return b.driver.EventSynchronize(p.event) })
		b.waiter.recycle(p)
		if err != nil {
			return err
		}
	}
	return nil
}

// Pool implements driver.Pooler.
func (b *backend) Pool() (int64, error) {
	if b.pool.handle == 0 {
		return 0, nil
	}
	var reserved uint64
	err := b.do("cuMemPoolGetAttribute", func() cudasys.Status {
		return b.driver.MemPoolGetAttribute(b.pool.handle, cudasys.PoolReservedCurrent, &reserved)
	})
	return int64(reserved), err
}
