package device

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// CopyFrom copies src to dst, which must have the same length. The stream s belongs to dst's device,
// and the stream peer belongs to src's device. The copy runs after the work enqueued so far on both
// streams, and later work of both streams waits for the copy. If the devices cannot copy directly,
// CopyFrom waits for a copy through the host.
func CopyFrom[T any](s *Stream, dst Slice[T], peer *Stream, src Slice[T]) error {
	if s.device == peer.device && s == peer {
		return Copy(s, dst, src)
	}
	if s.recorder != nil || peer.recorder != nil {
		return s.keep(fmt.Errorf("device: copy between devices: %w", ErrCapture))
	}
	return copyFrom(job{s, "copy to", WorkPeer, sizeOf[T]()}, span(dst), peer, span(src))
}

func copyFrom(j job, dst span, from *Stream, src span) error {
	bytes := src.len * j.elem
	return from.enqueue(func(other driver.Queue) error {
		return pinned(job{stream: from, verb: "copy from"}, src, func(at uintptr) error {
			return transfer(j, dst, src.len, func(q driver.Queue, to uintptr) error {
				if p, ok := q.(driver.PeerCopier); ok {
					if err := p.CopyFrom(to, other, at, bytes); !errors.Is(err, ErrUnsupported) {
						return err
					}
				}
				return throughHost(q, to, from, bytesAt{at, bytes})
			})
		})
	})
}

// bytesAt is a range of a device's memory.
type bytesAt struct {
	address uintptr
	n       int
}

// throughHost copies through the host, and waits for the stream of the source.
func throughHost(q driver.Queue, to uintptr, from *Stream, src bytesAt) error {
	host := make([]byte, src.n)
	if err := from.queue.Download(host, src.address); err != nil {
		return err
	}
	if f := from.stash(); f != nil {
		return fmt.Errorf("device: copy between devices: %w", f)
	}
	return q.Upload(to, host)
}
