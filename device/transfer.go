package device

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// UploadTo copies host to dst, which must have the same length. The caller may change host when
// UploadTo returns.
func UploadTo[T any](s *Stream, dst Slice[T], host []T) error {
	return transfer(job{s, "upload", WorkUpload}, dst, len(host), func(q driver.Queue, address uintptr) error {
		return q.Upload(address, bytesOf(host))
	})
}

// Download copies src, a Buffer or a Slice, to host, which must have the same length. The contents of
// host are valid after the stream's next Synchronize without an error.
//
// A CUDA device completes a download of more than a few megabytes before Download returns, because
// the CPU takes part in copies to ordinary Go memory. See Pinned for downloads that run
// concurrently with the program.
func Download[T any](s *Stream, host []T, src interface{ All() Slice[T] }) error {
	var from Slice[T]
	if src != nil {
		from = src.All()
	}
	return transfer(job{s, "download", WorkDownload}, from, len(host), func(q driver.Queue, address uintptr) error {
		return q.Download(bytesOf(host), address)
	})
}

// Copy copies src to dst within the device. dst and src must have the same length and must not
// overlap.
func Copy[T any](s *Stream, dst, src Slice[T]) error {
	return s.work(Activity{Work: WorkCopy, Bytes: src.bytes()}, func(q driver.Queue) error {
		return pinned(job{stream: s, verb: "copy from"}, src, func(from uintptr) error {
			return pinned(job{stream: s, verb: "copy to"}, dst, func(to uintptr) error {
				switch {
				case dst.len != src.len:
					return fmt.Errorf("device: copy of %d elements to %d: %w", src.len, dst.len, ErrLength)
				case Overlap(dst, src):
					return fmt.Errorf("device: copy: %w", ErrOverlap)
				case src.bytes() == 0:
					return nil
				}
				return q.Copy(to, from, src.bytes())
			})
		})
	})
}

// job is work on a stream, with the verb for its errors and its kind for Counters.
type job struct {
	stream *Stream
	verb   string
	work   Work
}

// transfer checks a slice of the device against the host's length n and enqueues f.
func transfer[T any](j job, d Slice[T], n int, f func(driver.Queue, uintptr) error) error {
	return j.stream.work(Activity{Work: j.work, Bytes: d.bytes()}, func(q driver.Queue) error {
		return pinned(j, d, func(address uintptr) error {
			if d.len != n {
				return fmt.Errorf("device: %s: %d elements on the host, %d on the device: %w", j.verb, n, d.len, ErrLength)
			}
			if d.bytes() == 0 {
				return nil
			}
			return f(q, address)
		})
	})
}

// pinned calls f with the address of d for work on the stream. The memory is not freed before f
// returns.
func pinned[T any](j job, d Slice[T], f func(uintptr) error) error {
	address, err := d.pin(j.stream)
	if err != nil {
		return fmt.Errorf("device: %s: %w", j.verb, err)
	}
	return join(f(address), d.from.unpin())
}
