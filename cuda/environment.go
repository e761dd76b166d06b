package cuda

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// environment is device memory in which the kernels of one stream, or of one graph, leave faults and prints
// for the host. Package driver defines its layout (abi.go). The first launch of a kernel that can fault or
// print allocates it, so other programs do not pay for it.
//
// Lifetimes: memory belongs to the device, the parts to the stage. They last as long as the device, which
// reuses the environments of closed streams. A kernel writes the fault record at most once, its size
// last, while it runs.
//
// A fault is taken at a point of a stream: the host reads and clears the record, and enqueues the clearing
// of the claim. Kernels that were enqueued between the point and the clearing may fault too, but leave no
// record. Waits for them return the same fault.
type environment struct {
	backend *backend
	memory  uintptr // the environment, then the print records
	record  part    // the fault record, written by kernels

	mu       sync.Mutex
	used     atomic.Bool         // in a queue's environment: a kernel with sites was launched since the last fetch
	launched func(uint32) string // returns where a launch came from, or nil
	fault    *driver.Fault       // the last one taken
	cleared  position            // where its claim was cleared
	prints   part                // a copy of the environment and the print records
	copied   position            // the point of that copy, or none
	held     int                 // the number of queues that will still read a graph's environment
	lost     bool                // the graph was closed
}

// job identifies work on an environment's memory: a queue, whose lock is held, and how to call the
// driver.
type job struct {
	queue *queue
	do    doer
}

// A position is a point in a queue: after everything that was enqueued before the point with the
// number seq.
type position struct {
	queue *queue // nil for no position
	seq   uint64
}

// precedes reports whether the position is at the point seq of q or before it.
func (p position) precedes(q *queue, seq uint64) bool { return p.queue == q && p.seq <= seq }

// fetched is a copy of an environment's head, complete at the queue's point with number seq.
type fetched struct {
	env  *environment
	head part
	seq  uint64
}

// Offsets in memory, and the size of the print records.
const (
	printsAt   = 256 // after the environment
	printBytes = 1 << 20
)

// errRecord is the error for a claimed fault without a valid record, which only corrupt memory
// causes.
var errRecord = errors.New("cuda: a kernel claimed a fault and left no record of it; " +
	"a kernel that was built without checks may have written there")

var little = binary.LittleEndian

// environment returns the address of the queue's environment for a launch. The lock is held.
func (q *queue) environment() (uintptr, error) {
	if q.env == nil {
		e, err := newEnvironment(q)
		if err != nil {
			return 0, err
		}
		q.env = e
	}
	q.env.use()
	return q.env.memory, nil
}

// use records that kernels on its queue, whose lock is held, may fault or print.
func (e *environment) use() {
	if !e.used.Load() {
		e.used.Store(true)
	}
}

// newEnvironment returns an environment that work enqueued on q can use. The lock of q is held.
func newEnvironment(q *queue) (*environment, error) {
	b := q.backend
	b.mu.Lock()
	if n := len(b.spare); n > 0 {
		e := b.spare[n-1]
		b.spare = b.spare[:n-1]
		b.mu.Unlock()
		return e, nil
	}
	b.mu.Unlock()
	e := &environment{backend: b}
	if err := e.make(job{q, b.do}); err != nil {
		return nil, errors.Join(err, e.free())
	}
	own(b, b.envs, e)
	return e, nil
}

// make allocates and initializes the memory.
func (e *environment) make(j job) (err error) {
	d, stage := e.backend.driver, e.backend.stage
	err = j.do("cuMemAlloc", func() cudasys.Status { return d.MemAlloc(&e.memory, printsAt+printBytes) })
	if err != nil {
		return about(err, "environment of a stream")
	}
	if e.record, err = stage.take(&stage.marks); err != nil {
		return err
	}
	clear(e.record.bytes)
	head := make([]byte, driver.EnvBytes) // small enough for the driver to copy it immediately
	little.PutUint64(head[driver.EnvRecord:], uint64(e.record.address))
	little.PutUint64(head[driver.EnvPrints:], uint64(e.memory)+printsAt)
	little.PutUint32(head[driver.EnvPrintSize:], printBytes)
	err = j.do("cuMemcpyHtoDAsync", func() cudasys.Status { return d.MemcpyHtoDAsync(e.memory, head, j.queue.stream) })
	if err != nil {
		return err
	}
	return e.zero(j, printsAt, printBytes)
}

// zero enqueues the clearing of n bytes of the memory.
func (e *environment) zero(j job, at, n uintptr) error {
	return j.do("cuMemsetD8Async", func() cudasys.Status {
		return e.backend.driver.MemsetD8Async(e.memory+at, 0, n, j.queue.stream)
	})
}

// download enqueues a copy from the start of the memory to pinned memory.
func (e *environment) download(j job, dst []byte) error {
	return j.do("cuMemcpyDtoHAsync", func() cudasys.Status {
		return e.backend.driver.MemcpyDtoHAsync(dst, e.memory, j.queue.stream)
	})
}

// fetch enqueues a copy of the environment's head.
func (e *environment) fetch(j job) (fetched, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	head, err := e.backend.stage.take(&e.backend.stage.cells)
	if err != nil {
		return fetched{}, err
	}
	if err := e.download(j, head.bytes); err != nil {
		return fetched{}, err
	}
	e.used.Store(false)
	return fetched{e, head, j.queue.seq + 1}, nil
}

// hold records that one more queue will read the environment of a graph.
func (e *environment) hold() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held++
}

// drop undoes a hold, if the environment is a graph's.
func (e *environment) drop() {
	e.mu.Lock()
	last := false
	if e.held > 0 {
		e.held--
		last = e.held == 0 && e.lost
	}
	e.mu.Unlock()
	if last {
		e.retire()
	}
}

// orphan marks the environment of a closed graph, and makes it available for reuse when no queue
// will read it any more.
func (e *environment) orphan() {
	e.mu.Lock()
	e.lost = true
	last := e.held == 0
	e.mu.Unlock()
	if last {
		e.retire()
	}
}

// take adds the faults and prints of kernels to the outcome of the queue, up to the point with the
// number seq, which was reached. It reports whether there are prints: it has then enqueued a copy
// of them, to be taken at a later point.
func (e *environment) take(j job, head part, seq uint64) (printed bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.backend.stage.putBack(&e.backend.stage.cells, head)
	e.takePrints(j.queue, seq)
	if little.Uint32(head.bytes[driver.EnvClaim:]) != 0 {
		if err := e.takeFault(j, seq); err != nil {
			return false, err
		}
	}
	if little.Uint32(head.bytes[driver.EnvPrintHead:]) == 0 || e.copied.queue != nil {
		return e.copied.queue == j.queue, nil
	}
	return true, e.copyPrints(j)
}

// takeFault takes the fault that a thread claimed.
func (e *environment) takeFault(j job, seq uint64) error {
	q := j.queue
	if fault := e.decode(); fault != nil {
		e.fault, e.cleared = fault, position{q, q.seq}
		clear(e.record.bytes)
		if err := e.zero(j, driver.EnvClaim, 8); err != nil {
			return err
		}
	} else if e.fault == nil || e.cleared.queue == q && !e.cleared.precedes(q, seq) {
		return errors.Join(errRecord, e.zero(j, driver.EnvClaim, 8))
	}
	if q.left.Fault == nil {
		q.left.Fault = e.fault
	}
	return nil
}

// decode returns the fault in the record, or nil.
func (e *environment) decode() *driver.Fault {
	fault := driver.DecodeFault(e.record.bytes, e.backend.kernels.kernel)
	if fault != nil && e.launched != nil { // the launch number is the number of a node of the graph
		fault.Launched, fault.Launch = e.launched(uint32(fault.Launch-1)), 0
	}
	return fault
}

// peek returns the fault that take would find, if its record is already visible.
func (e *environment) peek() *driver.Fault {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.decode()
}

// copyPrints enqueues a copy of all print records, and then clears them.
func (e *environment) copyPrints(j job) (err error) {
	if e.prints.bytes == nil {
		if e.prints, err = e.backend.stage.take(&e.backend.stage.prints); err != nil {
			return err
		}
	}
	if err := e.download(j, e.prints.bytes); err != nil {
		return err
	}
	if err := e.zero(j, printsAt, printBytes); err != nil {
		return err
	}
	if err := e.zero(j, driver.EnvPrintHead, driver.EnvPrintLost+4-driver.EnvPrintHead); err != nil {
		return err
	}
	e.copied = position{j.queue, j.queue.seq + 1}
	e.used.Store(true)
	return nil
}

// takePrints takes the prints whose copy is complete.
func (e *environment) takePrints(q *queue, seq uint64) {
	if !e.copied.precedes(q, seq) {
		return
	}
	e.copied = position{}
	all := e.prints.bytes
	q.left.Lost += int(little.Uint32(all[driver.EnvPrintLost:]))
	head := little.Uint32(all[driver.EnvPrintHead:])
	q.left.Prints = append(q.left.Prints, driver.DecodePrints(all[printsAt:], head, e.backend.kernels.kernel)...)
}

// retire makes the environment of a closed stream available for reuse. The stream's work is done.
func (e *environment) retire() {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.used.Store(false)
	e.launched, e.fault, e.cleared, e.copied, e.lost = nil, nil, position{}, position{}, false
	e.mu.Unlock()
	e.backend.mu.Lock()
	defer e.backend.mu.Unlock()
	e.backend.spare = append(e.backend.spare, e)
}

// free frees the memory, for a device that is being closed.
func (e *environment) free() error {
	if e.memory == 0 {
		return nil
	}
	return e.backend.call("cuMemFree", func() cudasys.Status { return e.backend.driver.MemFree(e.memory) })
}
