package ptxinterp

import (
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/traffic"
	"github.com/gopherwarp/gopherwarp/internal/turn"
)

// What the device says of itself: an H200's limits, and memory that a laptop can lend.
const (
	memoryBytes    = 8 << 30
	sharedPerBlock = 48 << 10
	sharedDynamic  = 227 << 10
	clusterBlocks  = 16
	closePatience  = 5 * time.Second
)

// Options change how kernels run.
type Options struct {
	Seed   uint64 // seed of the order in which warps and blocks run; 0 is a fixed order
	Budget uint64 // maximum number of instructions of a launch; 0 is a limit of several minutes
	// Capability is the compute capability of the device, which selects among a kernel's variants;
	// 0 is 9.0.
	Capability driver.Capability
	Wide       bool // runs the wide variants even for narrow launches
	Plain      bool // runs variants that are neither aligned nor coarse
	// Checks are additional checks. Bounds, alignment, freed memory, barriers and deadlocks are
	// always checked. Synchronize returns the findings of the additional checks, which do not end the
	// kernel.
	Checks machine.Checks
	// Traffic, if it is not nil, receives a table when the device is closed: the sectors of global
	// memory and the bank conflicts in shared memory of every source line of the kernels.
	Traffic io.Writer
}

// Checked returns options with all checks.
func Checked() Options { return Options{Checks: machine.Checks{Races: true, Unwritten: true}} }

// Open returns the interpreter as a device, with all checks.
func Open() (*device.Device, error) { return OpenWith(Checked()) }

// OpenWith returns the interpreter as a device, with options.
func OpenWith(o Options) (*device.Device, error) {
	if o.Capability == (driver.Capability{}) {
		o.Capability = driver.Capability{Major: 9}
	}
	return device.New(&backend{options: o, turn: turn.New(), memory: machine.NewCheckedMemory(o.Checks), kernels: map[code]*loaded{}}), nil
}

// backend implements driver.Backend. Its turn is taken for as long as a kernel runs.
type backend struct {
	options Options

	turn    turn.Turn
	memory  *machine.Memory
	last    *queue // the queue of a launch that the device has done last, and nobody has waited for
	kernels map[code]*loaded
	list    []*driver.Kernel // by number
	closed  bool
	running atomic.Pointer[queue] // the queue of the kernel that runs
	traffic traffic.Table
}

// Patience implements driver.Patient: Close of a queue stops its kernel.
func (b *backend) Patience() time.Duration { return closePatience }

// loaded is a kernel that is decoded, or why it is not.
type loaded struct {
	kernel  *machine.Kernel
	variant driver.Variant
	number  uint32
	err     error
}

// Info implements driver.Backend.
func (b *backend) Info() driver.Info {
	return driver.Info{
		Kind: "interp", Name: "PTX interpreter", Memory: memoryBytes, Cores: 1,
		Capability: b.options.Capability,
		Limits: driver.Limits{
			ThreadsPerBlock: 1024,
			Block:           [3]int{1024, 1024, 64},
			Grid:            [3]int{math.MaxInt32, math.MaxUint16, math.MaxUint16},
			SharedPerBlock:  sharedPerBlock,
			SharedDynamic:   sharedDynamic,
			Cooperative:     true,
			ClusterBlocks:   clusterBlocks,
		},
	}
}

// open returns an error once the device is closed. The lock is held.
func (b *backend) open() error {
	if b.closed {
		return fmt.Errorf("ptxinterp: device %w", driver.ErrClosed)
	}
	return nil
}

// Allocate implements driver.Backend.
func (b *backend) Allocate(size int) (driver.Memory, error) {
	b.turn.Take()
	defer b.turn.Give()
	if err := b.open(); err != nil {
		return nil, err
	}
	if used := b.memory.Used(); size > memoryBytes-used {
		return nil, fmt.Errorf("ptxinterp: allocating %d bytes, %d of %d are in use: %w", size, used, memoryBytes, driver.ErrMemory)
	}
	at, err := b.memory.Allocate(size)
	if err != nil {
		return nil, fmt.Errorf("ptxinterp: %w", err)
	}
	return &memory{b, at}, nil
}

// memory implements driver.Memory.
type memory struct {
	backend *backend
	address uint64
}

// Address implements driver.Memory.
func (m *memory) Address() uintptr { return uintptr(m.address) }

// Free implements driver.Memory.
func (m *memory) Free() error {
	m.backend.turn.Take()
	defer m.backend.turn.Give()
	if err := m.backend.open(); err != nil {
		return err
	}
	if err := m.backend.memory.Free(m.address); err != nil {
		return fmt.Errorf("ptxinterp: %w", err)
	}
	return nil
}

// code is one of a kernel's variants: the best there is for what launches have in common.
type code struct {
	kernel  *driver.Kernel
	narrow  bool
	coarse  int
	aligned bool
}

// load returns the kernel's code, decoded by the first launch that needs it. The lock is held.
func (b *backend) load(k *driver.Kernel, f driver.Fit) *loaded {
	info := b.Info()
	v, ok := k.Variant(info.Capability, f)
	if !ok {
		return &loaded{err: fmt.Errorf("ptxinterp: %w", k.NoVariant(info))}
	}
	c := code{k, v.Narrow, v.Coarse, v.Aligned}
	if l, ok := b.kernels[c]; ok {
		return l
	}
	l := &loaded{variant: v, number: uint32(len(b.list))}
	b.list = append(b.list, k)
	b.kernels[c] = l
	l.kernel, l.err = b.decode(k, v)
	return l
}

func (b *backend) decode(k *driver.Kernel, v driver.Variant) (*machine.Kernel, error) {
	text, err := v.PTX.Plain()
	if err != nil {
		return nil, fmt.Errorf("ptxinterp: %s: %w", k.Name, err)
	}
	m, err := machine.Load(text, b.memory)
	if err != nil {
		return nil, fmt.Errorf("ptxinterp: %s: %w", k.Name, err)
	}
	code, err := m.Kernel(k.Entry())
	if err != nil {
		return nil, fmt.Errorf("ptxinterp: %w", err)
	}
	if got, want := code.ParamBytes(), v.ParamBytes(k); got != want {
		return nil, fmt.Errorf("ptxinterp: %s: the PTX has %d bytes of parameters and the kernel %d: %w", k.Name, got, want, driver.ErrMismatch)
	}
	return code, nil
}

// numbered returns the kernel with a number from a record, or nil.
func (b *backend) numbered(n uint32) *driver.Kernel {
	if int(n) >= len(b.list) {
		return nil
	}
	return b.list[n]
}

// Close implements driver.Backend.
func (b *backend) Close() error {
	b.turn.Take()
	defer b.turn.Give()
	if err := b.open(); err != nil {
		return err
	}
	b.closed, b.memory, b.kernels = true, nil, nil
	if b.options.Traffic == nil {
		return nil
	}
	if err := b.traffic.Write(b.options.Traffic); err != nil {
		return fmt.Errorf("ptxinterp: table of memory traffic: %w", err)
	}
	return nil
}
