package cpu

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// sharedPerBlock is what the largest GPUs allow, so that a kernel that fits one of them
// fits here.
const sharedPerBlock = 227 << 10

// unknownMemory bounds allocations where the machine's memory is not known; make would
// panic not far above it.
const unknownMemory = 1 << 40

// Open returns the machine's cores as a device.
func Open() (*device.Device, error) { return OpenThreads(Fastest) }

// OpenThreads is Open for a device that runs the threads of all blocks in the given way.
func OpenThreads(t Threads) (*device.Device, error) {
	b := newBackend()
	switch t {
	case Coroutines:
		b.tier = func(k *driver.Kernel) tier {
			if k.Spins { // for what a thread writes that must have its turn first
				return goroutines
			}
			return coroutines
		}
	case Scalar:
		b.lanes = 0
	case AVX2:
		if b.lanes == 0 {
			return nil, errors.New("cpu: this processor has no AVX2, or no FMA")
		}
		b.lanes = lanesAVX
	case Goroutines:
		b.tier = func(*driver.Kernel) tier { return goroutines }
	}
	return device.New(b), nil
}

// Threads is a way to run the threads of a block. All give the same results.
type Threads int

// The ways.
const (
	Fastest    Threads = iota // the fastest that the kernel can be run in; in a program built with -race, Goroutines
	Coroutines                // each on a stack of its own, in turns: the order of what they do is the same every time
	Goroutines                // each on a stack of its own, at once, for a debugger or the race detector
	Scalar                    // as Fastest, but without vector code
	AVX2                      // as Fastest, but with vector code for processors without AVX-512; an error where that cannot run
)

// OpenNative is Open, but a kernel runs as the Go function that it is also where the build wrote
// code for whole blocks: it is slower, breakpoints in the kernel are hit, and the two can be compared.
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
	// lanes is how many threads vector code takes at once; 0 for none.
	lanes int
	// patience bounds how long closing waits for kernels.
	patience  time.Duration
	abandoned atomic.Bool // a queue was closed while its kernel was running
}

// closePatience is long enough for a kernel that ends, and short enough for a person who waits for a program to end.
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

// NewQueue implements driver.Backend.
func (b *backend) NewQueue() (driver.Queue, error) {
	if err := b.heap.open(); err != nil {
		return nil, err
	}
	q := &queue{backend: b, turn: newTurn()}
	q.launch.prints, q.launch.lanes, q.launch.pool.woken = &q.prints, b.lanes, make(chan struct{}, 1)
	return q, nil
}

// Patience implements driver.Patient.
func (b *backend) Patience() time.Duration { return b.patience }

// Close implements driver.Backend. The memory stays where a kernel is still running: its parameters
// hold addresses that the collector does not see.
func (b *backend) Close() error { return b.heap.close(b.abandoned.Load()) }
