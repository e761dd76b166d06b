package vulkan

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// backend implements driver.Backend.
type backend struct {
	*session
	device      vulkansys.Device
	information driver.Info
	family      uint32
	memories    *vulkansys.MemoryProperties
	layout      vulkansys.PipelineLayout
	arithmetic  ptxspirv.Arithmetic
	views       ptxspirv.Views
	push        int // bytes of push constants
	lacks       ptxspirv.Features
	subgroup    subgroup
	clock       clock
	patience    time.Duration

	submitting sync.Mutex // held while the queue is used
	queue      vulkansys.Queue

	mu       sync.Mutex
	kernels  map[code]*loaded
	list     []*driver.Kernel // by number
	buffers  []*buffer        // by address
	queues   []*queue         // open ones
	closed   bool
	lost     bool     // ErrLost
	hung     bool     // lost because a kernel does not end, which may still use everything
	finished []func() // free what the kernels use
}

// Info implements driver.Backend.
func (b *backend) Info() driver.Info { return b.information }

// open returns an error once the device is closed. The lock is held.
func (b *backend) open() error {
	if b.closed {
		return fmt.Errorf("vulkan: device %w", driver.ErrClosed)
	}
	return nil
}

// usable returns an error once the device is closed or lost. The lock is held.
func (b *backend) usable() error {
	if err := b.open(); err != nil || !b.lost {
		return err
	}
	return ErrLost
}

// closePatience returns how long work may take before closing gives it up. Vulkan has no call that ends a kernel. On a CPU, kernels
// are slow, and llvmpipe ends all loops.
func closePatience(i driver.Info) time.Duration {
	if i.GPU {
		return time.Minute
	}
	return time.Hour
}

// Patience implements driver.Patient.
func (b *backend) Patience() time.Duration { return b.patience }

// Allocate implements driver.Backend.
func (b *backend) Allocate(size int) (driver.Memory, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, err
	}
	p, err := b.allocate(size, vulkansys.MemoryDeviceLocal)
	if err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(b.buffers, p.address, byAddress)
	b.buffers = slices.Insert(b.buffers, i, p)
	return p, nil
}

// A buffer is an allocation.
type buffer struct {
	backend *backend
	handle  vulkansys.Buffer
	memory  vulkansys.Memory
	address uint64
	size    int
	host    []byte // the host's view, if it was asked for
}

func byAddress(p *buffer, address uint64) int {
	switch {
	case p.address < address:
		return -1
	case p.address > address:
		return 1
	}
	return 0
}

// hostMemory are the flags of memory that the host writes and reads without further calls.
const hostMemory = vulkansys.MemoryHostVisible | vulkansys.MemoryHostCoherent

// nearMemory are the flags of memory that the host writes and kernels read often: memory of the device, if the host can write to it.
const nearMemory = hostMemory | vulkansys.MemoryDeviceLocal

// allocate returns memory of a type that has the flags. The lock of the device is held.
func (b *backend) allocate(size int, flags uint32) (*buffer, error) {
	if int64(size) > b.information.Memory {
		return nil, fmt.Errorf("vulkan: allocating %d bytes, the device has %d: %w", size, b.information.Memory, driver.ErrMemory)
	}
	p := &buffer{backend: b, size: size}
	if err := p.make(flags); err != nil {
		p.free()
		return nil, fmt.Errorf("vulkan: allocating %d bytes: %w", size, outOfMemory(err))
	}
	return p, nil
}

// make makes the buffer and its memory.
func (p *buffer) make(flags uint32) (err error) {
	b := p.backend
	if p.handle, err = b.CreateBuffer(b.device, uint64(p.size+3)&^3); err != nil {
		return err
	}
	need := b.Requirements(b.device, p.handle)
	index := memoryType(b.memories, need.Types, flags)
	if index < 0 {
		return fmt.Errorf("no memory of this kind: %w", driver.ErrMemory)
	}
	if p.memory, err = b.AllocateMemory(b.device, need.Size, uint32(index)); err != nil {
		return err
	}
	if err = b.BindBuffer(b.device, p.handle, p.memory); err != nil {
		return err
	}
	if flags&vulkansys.MemoryHostVisible != 0 {
		if p.host, err = b.Map(b.device, p.memory, need.Size); err != nil {
			return err
		}
		p.host = p.host[:p.size]
	}
	p.address = b.Address(b.device, p.handle)
	return nil
}

// memoryType returns the index of a type of memory that has the flags, or -1. Bit i of types is set if the caller can use type i. Memory
// that the host reads is memory that its caches hold, if there is such memory; reads from other memory are slow.
func memoryType(m *vulkansys.MemoryProperties, types, flags uint32) int {
	wanted := []uint32{flags}
	switch flags {
	case hostMemory:
		wanted = []uint32{flags | vulkansys.MemoryHostCached, flags}
	case nearMemory:
		wanted = []uint32{flags, hostMemory}
	}
	for _, w := range wanted {
		for i, t := range m.Types[:m.TypeCount] {
			if types>>i&1 != 0 && t.Flags&w == w {
				return i
			}
		}
	}
	return -1
}

// outOfMemory makes an error for lack of memory match driver.ErrMemory.
func outOfMemory(err error) error {
	var failed *vulkansys.Error
	if errors.As(err, &failed) && (failed.Result == vulkansys.OutOfDeviceMemory || failed.Result == vulkansys.OutOfHostMemory) {
		return fmt.Errorf("%w: %w", driver.ErrMemory, err)
	}
	return err
}

// free frees the memory; nothing may use it.
func (p *buffer) free() {
	p.backend.DestroyBuffer(p.backend.device, p.handle)
	p.backend.FreeMemory(p.backend.device, p.memory)
	p.handle, p.memory = 0, 0
}

// Address implements driver.Memory.
func (p *buffer) Address() uintptr { return uintptr(p.address) }

// Free implements driver.Memory. It waits for the work of all queues.
func (p *buffer) Free() error {
	b := p.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.open(); err != nil {
		return err
	}
	if i, ok := slices.BinarySearchFunc(b.buffers, p.address, byAddress); ok {
		b.buffers = slices.Delete(b.buffers, i, i+1) // at once: no copy of another goroutine may begin to use the memory
	}
	for _, q := range slices.Clone(b.queues) {
		if err := q.settle(); err != nil {
			return err
		}
	}
	if err := b.open(); err != nil { // another goroutine has closed the device
		return err
	}
	p.free()
	return nil
}

// at returns the buffer with n bytes at an address, and their offset. The lock is held.
func (b *backend) at(address uint64, n int) (*buffer, uint64, error) {
	i, ok := slices.BinarySearchFunc(b.buffers, address, byAddress)
	if !ok {
		i--
	}
	if i >= 0 {
		p := b.buffers[i]
		if offset := address - p.address; offset+uint64(n) <= uint64(p.size) {
			return p, offset, nil
		}
	}
	return nil, 0, fmt.Errorf("vulkan: %d bytes at %#x are in no allocation", n, address)
}

// Close implements driver.Backend.
func (b *backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.open(); err != nil {
		return err
	}
	b.closed = true // so that other goroutines leave it alone
	for _, q := range slices.Clone(b.queues) {
		if err := q.settle(); err != nil {
			return err
		}
	}
	var err error
	if idle := b.WaitIdle(b.device); !b.lost {
		err = idle
	}
	for _, q := range b.queues {
		q.free()
	}
	b.queues = nil
	for _, f := range b.finished {
		f()
	}
	for _, p := range b.buffers {
		p.free()
	}
	b.DestroyPipelineLayout(b.device, b.layout)
	b.DestroyDevice(b.device)
	b.session.close()
	return err
}
