package cpu

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/turn"
)

// sharedPerBlock is the limit of the largest GPUs, so that a kernel that fits on one of them fits
// here.
const sharedPerBlock = 227 << 10

// unknownMemory bounds allocations if the size of the machine's memory is unknown; make would panic
// not far above it.
const unknownMemory = 1 << 40

// Open returns the machine's processor cores as a device.
func Open() (*device.Device, error) { return OpenThreads(Fastest) }

// OpenThreads is like Open, but the device runs the threads of all blocks in the given way.
func OpenThreads(t Threads) (*device.Device, error) {
	b := newBackend()
	switch t {
	case Coroutines:
		b.tier = func(k *driver.Kernel) tier {
			if k.Spins { // a coroutine that waits in a loop would never let another thread write the value
				return goroutines
			}
			return coroutines
		}
	case Scalar:
		b.lanes = 0
	case AVX2:
		if b.lanes == 0 {
			return nil, errors.New("cpu: this processor lacks AVX2 or FMA")
		}
		b.lanes = lanesAVX
	case Goroutines:
		b.tier = func(*driver.Kernel) tier { return goroutines }
	}
	return device.New(b), nil
}

// Threads is a way to run the threads of a block. All ways give the same results.
type Threads int

// The ways to run threads.
const (
	Fastest    Threads = iota // the fastest way for each kernel; in a program built with -race, Goroutines
	Coroutines                // each thread has a stack of its own, and threads take turns: the order of their operations is the same every time
	Goroutines                // each thread has a stack of its own, and threads run in parallel, for a debugger or the race detector
	Scalar                    // like Fastest, but without vector code
	AVX2                      // like Fastest, but with vector code for processors without AVX-512; OpenThreads returns an error if the processor lacks AVX2
)

// OpenNative is like Open, but the device calls the kernel's Go function for each thread even if the kernel
// has generated code. Such a device is slower, but breakpoints in the kernel work. Use it to compare
// results with the results of the generated code.
func OpenNative() (*device.Device, error) {
	b := newBackend()
	b.tier = nativeTier
	return device.New(b), nil
}

// backend implements driver.Backend.
type backend struct {
	info driver.Info
	heap heap
	tier func(*driver.Kernel) tier
	// lanes is the number of threads that vector code runs at a time; 0 if there is no vector code.
	lanes int
	// patience bounds how long closing waits for kernels.
	patience  time.Duration
	abandoned atomic.Bool // a queue was closed while its kernel was running
}

// closePatience is long enough for most kernels to end, and short enough for a user who waits for a
// program to end.
const closePatience = 5 * time.Second

func newBackend() *backend {
	name, memory := host()
	b := &backend{
		info: driver.Info{
			Kind: "cpu", Name: name, Memory: memory, Cores: runtime.NumCPU(),
			Limits: driver.Limits{
				ThreadsPerBlock: 1024,
				Block:           [3]int{1024, 1024, 64},
				Grid:            [3]int{math.MaxInt32, math.MaxUint16, math.MaxUint16},
				SharedPerBlock:  sharedPerBlock,
				Cooperative:     true,
				ClusterBlocks:   clusterBlocks,
			},
		},
		tier: tierOf, lanes: VectorLanes(), patience: closePatience,
	}
	b.heap.limit = memory
	if memory == 0 {
		b.heap.limit = unknownMemory
	}
	return b
}

// Info implements driver.Backend.
func (b *backend) Info() driver.Info { return b.info }

// Allocate implements driver.Backend.
func (b *backend) Allocate(size int) (driver.Memory, error) { return b.heap.allocate(size) }

// Zeroes implements driver.Zeroer: memory of Go's heap is zeros.
func (b *backend) Zeroes() bool { return true }

// Recyclable implements driver.Recycler.
func (b *backend) Recyclable() error { return nil }

// NewQueue implements driver.Backend.
func (b *backend) NewQueue() (driver.Queue, error) {
	if err := b.heap.open(); err != nil {
		return nil, err
	}
	q := &queue{backend: b, turn: turn.New()}
	q.launch.prints, q.launch.lanes, q.launch.pool.woken = &q.prints, b.lanes, make(chan struct{}, 1)
	return q, nil
}

// Patience implements driver.Patient.
func (b *backend) Patience() time.Duration { return b.patience }

// Close implements driver.Backend. It does not release the memory if a kernel is still running,
// because the kernel's parameters hold addresses that the garbage collector does not see.
func (b *backend) Close() error { return b.heap.close(b.abandoned.Load()) }
