package cuda

import (
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Copies of ordinary Go memory go through pinned memory (see stage.go): the driver would block the
// calling thread until they are done, and is six times slower. The exception is small uploads,
// which the driver copies to a buffer of its own before it returns.
const directBytes = 64 << 10

// Upload implements driver.Queue.
func (q *queue) Upload(dst uintptr, src []byte) error {
	if len(src) <= directBytes {
		return q.UploadFrom(dst, src)
	}
	t := transfer{stage: q.backend.stage, n: len(src)}
	t.start = func(s *slot, at, n int) error {
		t.stage.sizes.fill(s.bytes[:n], src[at:at+n])
		return q.through(s, func() cudasys.Status {
			return q.backend.driver.MemcpyHtoDAsync(dst+uintptr(at), s.bytes[:n], q.stream)
		}, "cuMemcpyHtoDAsync")
	}
	return about(t.run(), bytesText(len(src)))
}

// through enqueues a copy from or to a slot, and a point after the copy.
func (q *queue) through(s *slot, enqueue func() cudasys.Status, name string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.do(name, enqueue); err != nil {
		return err
	}
	p, err := q.record(q.backend.do)
	s.point = p
	return err
}

// download is an enqueued copy to pinned memory, from which a wait copies the data to the program's
// memory.
type download struct {
	dst  []byte
	from lent
	seq  uint64 // of the point after the copy
}

// Download implements driver.Queue. If the data does not fit in the pinned memory that can be lent
// until the next wait, Download copies it before it returns.
func (q *queue) Download(dst []byte, src uintptr) error {
	from, err := q.backend.stage.lend(len(dst))
	if err != nil {
		return about(err, bytesText(len(dst)))
	}
	if from.bytes == nil {
		return about(q.downloadNow(dst, src), bytesText(len(dst)))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	err = q.do("cuMemcpyDtoHAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyDtoHAsync(from.bytes[:len(dst)], src, q.stream)
	})
	if err != nil {
		q.backend.stage.giveBack(from)
		return about(err, bytesText(len(dst)))
	}
	q.downloads = append(q.downloads, download{dst, from, q.seq + 1})
	return nil
}

// harvest copies the data of completed downloads, up to a point that was reached, to the program's
// memory. The lock is held.
func (q *queue) harvest(seq uint64) {
	n := 0
	for ; n < len(q.downloads) && q.downloads[n].seq <= seq; n++ {
		d := q.downloads[n]
		copy(d.dst, d.from.bytes)
		q.backend.stage.giveBack(d.from)
	}
	rest := copy(q.downloads, q.downloads[n:])
	clear(q.downloads[rest:])
	q.downloads = q.downloads[:rest]
}

// UploadFrom implements driver.HostCopier.
func (q *queue) UploadFrom(dst uintptr, src []byte) error {
	err := q.locked("cuMemcpyHtoDAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyHtoDAsync(dst, src, q.stream)
	})
	return about(err, bytesText(len(src)))
}

// DownloadTo implements driver.HostCopier.
func (q *queue) DownloadTo(dst []byte, src uintptr) error {
	err := q.locked("cuMemcpyDtoHAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyDtoHAsync(dst, src, q.stream)
	})
	return about(err, bytesText(len(dst)))
}

// Copy implements driver.Queue.
func (q *queue) Copy(dst, src uintptr, n int) error {
	err := q.locked("cuMemcpyDtoDAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyDtoDAsync(dst, src, uintptr(n), q.stream)
	})
	return about(err, bytesText(n))
}

// Zero implements driver.Queue.
func (q *queue) Zero(dst uintptr, n int) error { return q.Fill(dst, []byte{0}, n) }

// Fill implements driver.Filler.
func (q *queue) Fill(dst uintptr, value []byte, n int) error {
	if n == 0 {
		return nil
	}
	d, err := q.backend.driver, error(nil)
	switch len(value) {
	case 1:
		err = q.locked("cuMemsetD8Async", func() cudasys.Status {
			return d.MemsetD8Async(dst, value[0], uintptr(n), q.stream)
		})
	case 2:
		err = q.locked("cuMemsetD16Async", func() cudasys.Status {
			return d.MemsetD16Async(dst, little.Uint16(value), uintptr(n/2), q.stream)
		})
	default:
		err = q.locked("cuMemsetD32Async", func() cudasys.Status {
			return d.MemsetD32Async(dst, little.Uint32(value), uintptr(n/4), q.stream)
		})
	}
	return about(err, bytesText(n))
}
