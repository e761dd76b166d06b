package cuda

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/streamcopy"
)

// stage is the pinned memory of a device through which ordinary memory is copied. It is
// allocated as it is needed.
//
// Large copies go through slots, by several goroutines: while the device copies one, processors
// copy others. Every slot comes back to the channel, with the point behind the device's last
// use of it, which the next user waits for. Small downloads have their memory lent to them until
// the next wait of their stream.
//
// Lifetimes: the memory is outside Go's heap and is freed with the device.
type stage struct {
	backend *backend
	sizes   stageSizes
	slots   chan *slot
	loans   atomic.Int32 // slots that are lent
	copied  atomic.Int64 // bytes that went through slots, or are about to

	growing sync.Mutex
	made    int // slots that exist; guarded by growing

	mu     sync.Mutex
	cells  class // for heads of environments
	pieces class // for small downloads
	marks  class // for fault records
	prints class
	slabs  []unsafe.Pointer
}

// stageSizes are sizes in bytes and numbers. Those in use are the best of what was measured
// (see BenchmarkGPUStage): the driver gives large allocations large pages, so slots come several
// at a time.
type stageSizes struct {
	slot, slots int
	slab        int // slots of an allocation
	least, most int // bytes of the first chunk
	lent        int // bytes of a download that is lent a slot, at most
	workers     int
	fill, empty func(dst, src []byte) // copies to and from slots
}

func defaultStage() stageSizes {
	return stageSizes{
		slot: 8 << 20, slots: 12, slab: 2, least: 256 << 10, most: 1 << 20, lent: 4 << 20, workers: 8,
		fill: func(dst, src []byte) { copy(dst, src) }, empty: streamcopy.Copy,
	}
}

// slot is a block of pinned memory. Point is behind the last copy of the device from it, or nil.
type slot struct {
	bytes []byte
	point *point
}

// class is pinned memory in equal parts. How many come in one allocation is perSlab.
type class struct {
	size, perSlab int
	free          []part
}

// part is pinned memory and the address that kernels see it at.
type part struct {
	bytes   []byte
	address uintptr
}

// pieceBytes is the size of a small download.
const pieceBytes = 64 << 10

func newStage(b *backend, sizes stageSizes) *stage {
	return &stage{
		backend: b, sizes: sizes, slots: make(chan *slot, sizes.slots),
		cells:  class{size: driver.EnvBytes, perSlab: 1024},
		pieces: class{size: pieceBytes, perSlab: 16},
		marks:  class{size: 256, perSlab: 256},
		prints: class{size: printsAt + printBytes, perSlab: 1},
	}
}

// worth returns how many goroutines are worth the slots that they take for a copy of n bytes. To pin a slot
// takes the driver three milliseconds or more, in which it could have copied more: a process that copies
// little, like one that has just begun, needs few slots, and one that goes on copying soon has all.
func (st *stage) worth(n int) int {
	return max(1, int(st.copied.Add(int64(n))/int64(st.sizes.slot)))
}

// acquire returns a slot, which may still be in use by the device.
func (st *stage) acquire() (*slot, error) {
	if s, err := st.spare(); s != nil || err != nil {
		return s, err
	}
	return <-st.slots, nil
}

// spare is acquire that returns nil instead of waiting.
func (st *stage) spare() (*slot, error) {
	select {
	case s := <-st.slots:
		return s, nil
	default:
		return st.grow()
	}
}

// grow returns a slot and makes more, at first only as many as there are, unless there are as many as there may be.
func (st *stage) grow() (*slot, error) {
	st.growing.Lock()
	defer st.growing.Unlock()
	select {
	case s := <-st.slots: // of what another has made meanwhile
		return s, nil
	default:
	}
	n, size := min(st.sizes.slab, max(1, st.made), st.sizes.slots-st.made), st.sizes.slot
	if n == 0 {
		return nil, nil
	}
	p, err := st.pin(n * size)
	if err != nil {
		return nil, err
	}
	st.made += n
	for i := 1; i < n; i++ {
		st.slots <- &slot{bytes: p.bytes[i*size : (i+1)*size]}
	}
	return &slot{bytes: p.bytes[:size]}, nil
}

// settle waits until the device does not use s.
func (st *stage) settle(s *slot) error {
	p := s.point
	if p == nil {
		return nil
	}
	s.point = nil
	return st.backend.waiter.wait(context.Background(), p)
}

// pin allocates pinned memory that lasts as long as the device.
func (st *stage) pin(n int) (part, error) {
	var p unsafe.Pointer
	d := st.backend.driver
	err := st.backend.do("cuMemHostAlloc", func() cudasys.Status {
		s := d.MemHostAlloc(&p, uintptr(n), cudasys.MemHostAllocPortable|cudasys.MemHostAllocMapped)
		if s == cudasys.Success {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.slabs = append(st.slabs, p)
		}
		return s
	})
	if err != nil {
		return part{}, about(err, bytesText(n))
	}
	made := part{bytes: unsafe.Slice((*byte)(p), n)}
	err = st.backend.do("cuMemHostGetDevicePointer", func() cudasys.Status {
		return d.MemHostGetDevicePointer(&made.address, p, 0)
	})
	return made, err
}

// lent is pinned memory that a download has until the next wait.
type lent struct {
	part
	slot *slot // whose bytes they are, or nil
}

// lend returns pinned memory for n bytes, or none if there is none to spare.
func (st *stage) lend(n int) (lent, error) {
	if n <= pieceBytes {
		p, err := st.take(&st.pieces)
		return lent{part: p}, err
	}
	if n > st.sizes.lent {
		return lent{}, nil
	}
	if int(st.loans.Add(1)) > st.sizes.slots/2 {
		st.loans.Add(-1)
		return lent{}, nil
	}
	s, err := st.acquire()
	if err == nil {
		err = st.settle(s)
	}
	if err != nil {
		st.loans.Add(-1)
		if s != nil {
			st.slots <- s
		}
		return lent{}, err
	}
	return lent{part{bytes: s.bytes}, s}, nil
}

// giveBack takes back what was lent. The device does not use it any more.
func (st *stage) giveBack(l lent) {
	if l.slot != nil {
		st.loans.Add(-1)
		st.slots <- l.slot
		return
	}
	st.putBack(&st.pieces, l.part)
}

// take returns a part of a class.
func (st *stage) take(c *class) (part, error) {
	for {
		st.mu.Lock()
		if n := len(c.free); n > 0 {
			p := c.free[n-1]
			c.free = c.free[:n-1]
			st.mu.Unlock()
			return p, nil
		}
		st.mu.Unlock()
		slab, err := st.pin(c.size * c.perSlab)
		if err != nil {
			return part{}, err
		}
		for i := range c.perSlab {
			at := i * c.size
			st.putBack(c, part{slab.bytes[at : at+c.size : at+c.size], slab.address + uintptr(at)})
		}
	}
}

func (st *stage) putBack(c *class, p part) {
	st.mu.Lock()
	defer st.mu.Unlock()
	c.free = append(c.free, p)
}

// settleAll waits for the device's use of all slots that are not taken, for a device whose
// work is done.
func (st *stage) settleAll() (first error) {
	for range len(st.slots) {
		if err := st.settle(<-st.slots); first == nil {
			first = err
		}
	}
	return first
}

// free frees the memory of a device that is being closed, and returns the first error.
func (st *stage) free() (first error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, p := range st.slabs {
		err := st.backend.call("cuMemFreeHost", func() cudasys.Status { return st.backend.driver.MemFreeHost(p) })
		if first == nil {
			first = err
		}
	}
	st.slabs = nil
	return first
}
