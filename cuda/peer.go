package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// CopyFrom implements driver.PeerCopier. Streams can wait for events of other devices.
func (q *queue) CopyFrom(dst uintptr, other driver.Queue, src uintptr, n int) error {
	from, ok := other.(*queue)
	if !ok || from.backend.driver != q.backend.driver {
		return fmt.Errorf("cuda: copy from another kind of device: %w", driver.ErrUnsupported)
	}
	if err := q.backend.reach(from.backend); err != nil {
		return err
	}
	if err := q.follow(from); err != nil {
		return err
	}
	c := &cudasys.PeerCopy{
		Dst: dst, DstContext: q.backend.handle, Src: src, SrcContext: from.backend.handle, Bytes: uintptr(n),
	}
	err := q.locked("cuMemcpyPeerAsync", func() cudasys.Status { return q.backend.driver.MemcpyPeerAsync(c, q.stream) })
	if err != nil {
		return about(err, bytesText(n))
	}
	if err := from.follow(q); err != nil {
		return errors.Join(err, q.finish()) // otherwise the source is freed while it is read
	}
	return nil
}

// finish waits for the work of q so far.
func (q *queue) finish() error {
	p, err := q.here()
	if err != nil {
		return err
	}
	return q.backend.waiter.wait(context.Background(), p)
}

// follow makes all later work of q wait for the work of other so far.
func (q *queue) follow(other *queue) error {
	p, err := other.here()
	if err != nil {
		return err
	}
	defer other.backend.waiter.recycle(p) // the wait refers to the event as it was recorded
	return q.locked("cuStreamWaitEvent", func() cudasys.Status {
		return q.backend.driver.StreamWaitEvent(q.stream, p.event, 0)
	})
}

// reach enables direct copies between b and other, if the devices support peer access. Without it,
// the driver copies through host memory. Either device may make the copy, so each gets access to
// the other.
func (b *backend) reach(other *backend) error {
	if b.device == other.device || b.reached(other) {
		return nil
	}
	if err := b.allow(other); err != nil {
		return err
	}
	if err := other.allow(b); err != nil {
		return err
	}
	own(b, b.peers, other)
	own(other, other.peers, b)
	return nil
}

func (b *backend) reached(other *backend) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.peers[other]
	return ok
}

// allow gives b access to the memory of other, both to its pool and to memory outside the pool.
func (b *backend) allow(other *backend) error {
	var can int32
	err := b.do("cuDeviceCanAccessPeer", func() cudasys.Status {
		return b.driver.DeviceCanAccessPeer(&can, b.device, other.device)
	})
	if err != nil || can == 0 {
		return err
	}
	err = b.do("cuCtxEnablePeerAccess", func() cudasys.Status {
		s := b.driver.CtxEnablePeerAccess(other.handle, 0)
		if s == cudasys.PeerAccessAlreadyEnabled {
			return cudasys.Success
		}
		return s
	})
	if err != nil || other.pool.handle == 0 {
		return err
	}
	return other.do("cuMemPoolSetAccess", func() cudasys.Status {
		return b.driver.MemPoolSetAccess(other.pool.handle, &cudasys.PoolAccess{
			LocationType: cudasys.PoolOnDevice, LocationID: int32(b.device), Flags: cudasys.PoolReadWrite,
		})
	})
}
