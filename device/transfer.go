package device

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// UploadTo copies host to dst, which must have the same length. The caller may change host when
// UploadTo returns.
func UploadTo[T any](s *Stream, dst Slice[T], host []T) error {
	return upload(s, span(dst), memoryOf(host))
}

func upload(s *Stream, dst span, host memory) error {
	return transfer(job{s, "upload", WorkUpload, host.elem}, dst, host.len, func(q driver.Queue, address uintptr) error {
		return q.Upload(address, host.bytes)
	})
}

// Download copies src, a Buffer or a Slice, to host, which must have the same length. The contents of host are valid
// after the stream's next Synchronize, if it returns nil.
//
// A CUDA device completes a download of more than a few megabytes before Download returns. See Pinned for
// downloads that run concurrently with the program.
func Download[T any](s *Stream, host []T, src interface{ All() Slice[T] }) error {
	var from Slice[T]
	if src != nil {
		from = src.All()
	}
	return download(s, memoryOf(host), span(from))
}

func download(s *Stream, host memory, src span) error {
	return transfer(job{s, "download", WorkDownload, host.elem}, src, host.len, func(q driver.Queue, address uintptr) error {
		return q.Download(host.bytes, address)
	})
}

// Copy copies src to dst within the device. dst and src must have the same length and must not
// overlap.
func Copy[T any](s *Stream, dst, src Slice[T]) error {
	return copySpan(job{s, "copy", WorkCopy, sizeOf[T]()}, span(dst), span(src))
}

func copySpan(j job, dst, src span) error {
	s, bytes := j.stream, src.len*j.elem
	return s.work(Activity{Work: j.work, Bytes: bytes}, func(q driver.Queue) error {
		return pinned(job{stream: s, verb: "copy from"}, src, func(from uintptr) error {
			return pinned(job{stream: s, verb: "copy to"}, dst, func(to uintptr) error {
				switch {
				case dst.len != src.len:
					return fmt.Errorf("device: copy of %d elements to %d: %w", src.len, dst.len, ErrLength)
				case dst.overlaps(src, j.elem, j.elem):
					return fmt.Errorf("device: copy: %w", ErrOverlap)
				case bytes == 0:
					return nil
				}
				return q.Copy(to, from, bytes)
			})
		})
	})
}

// job is work on a stream, with the verb for its errors, its kind for Counters, and the size of its elements.
type job struct {
	stream *Stream
	verb   string
	work   Work
	elem   int // bytes of an element
}

// transfer checks a slice of the device against the host's length n and enqueues f.
func transfer(j job, d span, n int, f func(driver.Queue, uintptr) error) error {
	return j.stream.work(Activity{Work: j.work, Bytes: d.len * j.elem}, func(q driver.Queue) error {
		return pinned(j, d, func(address uintptr) error {
			if d.len != n {
				return fmt.Errorf("device: %s: %d elements on the host, %d on the device: %w", j.verb, n, d.len, ErrLength)
			}
			if d.len*j.elem == 0 {
				return nil
			}
			return f(q, address)
		})
	})
}

// pinned calls f with the address of d for work on the stream. The memory is not freed before f
// returns.
func pinned(j job, d span, f func(uintptr) error) error {
	address, err := d.pin(j.stream)
	if err != nil {
		return fmt.Errorf("device: %s: %w", j.verb, err)
	}
	return join(f(address), d.from.unpin())
}
