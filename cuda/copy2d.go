package cuda

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// CopyRows implements device.StridedCopier.
func (q *queue) CopyRows(dst, src device.Rows, width, rows int) error {
	c := &cudasys.Copy2D{
		Src:   cudasys.Side2D{Type: cudasys.OnDevice, Device: src.Address, Pitch: uintptr(src.Pitch)},
		Dst:   cudasys.Side2D{Type: cudasys.OnDevice, Device: dst.Address, Pitch: uintptr(dst.Pitch)},
		Width: uintptr(width), Height: uintptr(rows),
	}
	err := q.locked("cuMemcpy2DAsync", func() cudasys.Status { return q.backend.driver.Memcpy2DAsync(c, q.stream) })
	return about(err, fmt.Sprintf("%d rows of %s", rows, bytesText(width)))
}

// CopyFrom implements device.PeerCopier. Streams can wait for events of other devices.
func (q *queue) CopyFrom(dst uintptr, other device.Queue, src uintptr, n int) error {
	from, ok := other.(*queue)
	if !ok || from.backend.driver != q.backend.driver {
		return fmt.Errorf("cuda: copy from another kind of device: %w", device.ErrUnsupported)
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
	return from.follow(q)
}

// follow makes the later work of q wait for the work of other so far.
func (q *queue) follow(other *queue) error {
	p, err := other.here()
	if err != nil {
		return err
	}
	defer other.backend.waiter.recycle(p) // the wait is for the event as it was recorded
	return q.locked("cuStreamWaitEvent", func() cudasys.Status {
		return q.backend.driver.StreamWaitEvent(q.stream, p.event, 0)
	})
}
