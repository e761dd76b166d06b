package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// environment is where the kernels of one stream leave faults and prints for the host; package
// device has its layout (abi.go). It is made by the first launch of a kernel that has sites, so
// that others pay nothing.
//
// Lifetimes: memory is device memory and pinned is memory of the host outside Go's heap; both
// are the environment's until free. The GPU writes to pinned while kernels run, so the host
// reads it only when the stream is idle.
type environment struct {
	queue  *queue
	memory uintptr        // the environment, then the print records
	host   unsafe.Pointer // pinned
	record []byte         // in pinned memory: the fault record, written by kernels
	mirror []byte         // in pinned memory: a copy of the environment
	used   bool           // a kernel with sites was launched since the last take
}

// Layout of the two allocations.
const (
	printsAt    = 256 // in memory, behind the environment
	printBytes  = 1 << 20
	mirrorAt    = (device.RecordMax + 63) / 64 * 64 // in pinned, behind the record
	pinnedBytes = mirrorAt + device.EnvBytes
)

// errRecord is what damaged memory leads to.
var errRecord = errors.New("cuda: a kernel claimed a fault and left no record of it; " +
	"a kernel that was built without checks may have written there")

// environment returns the address of the queue's environment for a launch.
func (q *queue) environment() (uintptr, error) {
	if q.env == nil {
		e := &environment{queue: q}
		if err := e.make(); err != nil {
			return 0, errors.Join(err, e.free(q.backend.do))
		}
		q.env = e
	}
	q.env.used = true
	return q.env.memory, nil
}

// make allocates and initialises.
func (e *environment) make() error {
	d := e.queue.backend.driver
	err := e.queue.do("cuMemAlloc", func() cudasys.Status { return d.MemAlloc(&e.memory, printsAt+printBytes) })
	if err != nil {
		return about(err, "environment of a stream")
	}
	err = e.queue.do("cuMemHostAlloc", func() cudasys.Status {
		return d.MemHostAlloc(&e.host, pinnedBytes, cudasys.MemHostAllocPortable|cudasys.MemHostAllocMapped)
	})
	if err != nil {
		return about(err, "environment of a stream")
	}
	pinned := unsafe.Slice((*byte)(e.host), pinnedBytes)
	clear(pinned)
	e.record, e.mirror = pinned[:device.RecordMax], pinned[mirrorAt:]
	var record uintptr
	err = e.queue.do("cuMemHostGetDevicePointer", func() cudasys.Status {
		return d.MemHostGetDevicePointer(&record, e.host, 0)
	})
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(e.mirror[device.EnvRecord:], uint64(record))
	binary.LittleEndian.PutUint64(e.mirror[device.EnvPrints:], uint64(e.memory)+printsAt)
	binary.LittleEndian.PutUint32(e.mirror[device.EnvPrintSize:], printBytes)
	err = e.queue.do("cuMemcpyHtoDAsync", func() cudasys.Status {
		return d.MemcpyHtoDAsync(e.memory, e.mirror, e.queue.stream)
	})
	if err != nil {
		return err
	}
	return e.zero(e.queue.do, printsAt, printBytes)
}

// zero enqueues the clearing of n bytes of memory.
func (e *environment) zero(do doer, at, n uintptr) error {
	return do("cuMemsetD8Async", func() cudasys.Status {
		return e.queue.backend.driver.MemsetD8Async(e.memory+at, 0, n, e.queue.stream)
	})
}

// fetch enqueues a copy of the environment to the mirror, where a kernel may have changed it.
func (e *environment) fetch(do doer) error {
	if e == nil || !e.used {
		return nil
	}
	return e.download(do, e.mirror, 0)
}

func (e *environment) download(do doer, dst []byte, at uintptr) error {
	return do("cuMemcpyDtoHAsync", func() cudasys.Status {
		return e.queue.backend.driver.MemcpyDtoHAsync(dst, e.memory+at, e.queue.stream)
	})
}

// take returns what kernels left, and clears what they used of the environment. The stream
// is idle and the mirror fetched.
func (e *environment) take(do doer) (out device.Outcome, err error) {
	if e == nil || !e.used {
		return out, nil
	}
	e.used = false
	if binary.LittleEndian.Uint32(e.mirror[device.EnvClaim:]) != 0 {
		if out.Fault, err = e.takeFault(do); err != nil {
			return out, err
		}
	}
	head := binary.LittleEndian.Uint32(e.mirror[device.EnvPrintHead:])
	if head == 0 {
		return out, nil
	}
	out.Lost = int(binary.LittleEndian.Uint32(e.mirror[device.EnvPrintLost:]))
	out.Prints, err = e.takePrints(do, head)
	return out, err
}

func (e *environment) takeFault(do doer) (*device.Fault, error) {
	fault := device.DecodeFault(e.record, e.queue.backend.kernels.kernel)
	clear(e.record)
	if err := e.zero(do, device.EnvClaim, 4); err != nil {
		return fault, err
	}
	if fault == nil {
		return nil, errRecord
	}
	return fault, nil
}

func (e *environment) takePrints(do doer, head uint32) ([]device.Print, error) {
	buf := make([]byte, min(head, printBytes))
	if err := e.download(do, buf, printsAt); err != nil {
		return nil, err
	}
	if err := e.queue.poll(context.Background(), do); err != nil {
		return nil, err
	}
	prints := device.DecodePrints(buf, head, e.queue.backend.kernels.kernel)
	if err := e.zero(do, printsAt, uintptr(len(buf))); err != nil {
		return prints, err
	}
	return prints, e.zero(do, device.EnvPrintHead, device.EnvPrintLost+4-device.EnvPrintHead)
}

// free frees what make allocated, and returns the first error.
func (e *environment) free(do doer) (first error) {
	if e == nil {
		return nil
	}
	d := e.queue.backend.driver
	if e.host != nil {
		first = do("cuMemFreeHost", func() cudasys.Status { return d.MemFreeHost(e.host) })
	}
	if e.memory != 0 {
		err := do("cuMemFree", func() cudasys.Status { return d.MemFree(e.memory) })
		if first == nil {
			first = err
		}
	}
	return first
}
