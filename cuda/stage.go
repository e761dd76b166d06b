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

// stage is the pinned memory of a device through which it copies ordinary memory. It is allocated on
// demand.
//
// Large copies go through slots, by several goroutines: while the device copies one slot, processors copy
// others. A slot returns to the channel together with the point after the device's last use of it; the next
// user waits for that point. Small downloads borrow memory until the next wait for their stream.
//
// Lifetimes: the memory is outside Go's heap and is freed with the device.
type stage struct {
	backend *backend
	sizes   stageSizes
	slots   chan *slot
	loans   atomic.Int32 // slots that are lent
	copied  atomic.Int64 // bytes that were copied through slots, or are about to be

	growing sync.Mutex
	made    int // slots that exist; guarded by growing

	mu     sync.Mutex
	cells  class // for heads of environments
	pieces class // for small downloads
	marks  class // for fault records
	prints class
	slabs  []unsafe.Pointer
}

// stageSizes are sizes in bytes, and numbers of slots and goroutines. The values in use are the
// fastest of those that BenchmarkGPUStage measured. The driver gives large allocations large pages,
// so several slots are allocated at a time.
type stageSizes struct {
	slot, slots int
	slab        int // slots in one allocation
	least, most int // bytes of the first chunk
	lent        int // largest download, in bytes, that may borrow a slot
	workers     int
	fill, empty func(dst, src []byte) // copies to and from slots
}

func defaultStage() stageSizes {
	return stageSizes{
		slot: 8 << 20, slots: 12, slab: 2, least: 256 << 10, most: 1 << 20, lent: 4 << 20, workers: 8,
		fill: func(dst, src []byte) { copy(dst, src) }, empty: streamcopy.Copy,
	}
}

// slot is a block of pinned memory. Its point is after the last device copy from or to it, or nil.
type slot struct {
	bytes []byte
	point *point
}

// class is pinned memory in parts of equal size. Each allocation has perSlab parts.
type class struct {
	size, perSlab int
	free          []part
}

// part is pinned memory, and its address for kernels.
type part struct {
	bytes   []byte
	address uintptr
}

// pieceBytes is the size of a part for small downloads.
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

// worth returns how many goroutines, each with a slot, should share a copy of n bytes. The driver
// takes three milliseconds or more to pin a slot, in which it could already have copied data. So
// the number grows with the bytes copied so far: a process that copies little needs few slots, and
// one that keeps copying soon has all of them.
func (st *stage) worth(n int) int {
	return max(1, int(st.copied.Add(int64(n))/int64(st.sizes.slot)))
}

// acquire returns a slot, which the device may still be using.
func (st *stage) acquire() (*slot, error) {
	if s, err := st.spare(); s != nil || err != nil {
		return s, err
	}
	return <-st.slots, nil
}

// spare is acquire, except that it returns nil instead of waiting.
func (st *stage) spare() (*slot, error) {
	select {
	case s := <-st.slots:
		return s, nil
	default:
		return st.grow()
	}
}

// grow allocates slots, at first only as many as there are already, and returns one of them. It
// returns nil if the stage has its maximum.
func (st *stage) grow() (*slot, error) {
	st.growing.Lock()
	defer st.growing.Unlock()
	select {
	case s := <-st.slots: // another goroutine has added slots in the meantime
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

// settle waits until the device has stopped using s.
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

// lent is pinned memory that a download borrows until the next wait.
type lent struct {
	part
	slot *slot // the slot that contains the bytes, or nil
}

// lend returns pinned memory for n bytes, or none if none is available.
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

// giveBack takes back lent memory. The device has stopped using it.
func (st *stage) giveBack(l lent) {
	if l.slot != nil {
		st.loans.Add(-1)
		st.slots <- l.slot
		return
	}
	st.putBack(&st.pieces, l.part)
}

// take returns a free part of a class.
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

// settleAll waits for the device's use of all slots that are not taken. The work of the device is
// done.
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
