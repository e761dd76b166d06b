package curand

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Kind is a generator algorithm (curandRngType_t).
type Kind int

// The kinds. The Sobol kinds are quasi-random: their numbers fill a space evenly. They have
// dimensions instead of a seed.
const (
	XORWOW           Kind = 101
	MRG32K3A         Kind = 121
	MTGP32           Kind = 141
	MT19937          Kind = 142
	Philox           Kind = 161 // Philox4x32-10
	Sobol32          Kind = 201
	ScrambledSobol32 Kind = 202
	Sobol64          Kind = 203
	ScrambledSobol64 Kind = 204
)

// quasi reports whether the kind is quasi-random.
func (k Kind) quasi() bool { return k >= Sobol32 }

// Options selects a generator. The zero value is XORWOW with seed 0.
type Options struct {
	Kind       Kind   // 0 means XORWOW
	Seed       uint64 // for pseudorandom kinds
	Offset     uint64 // position in the sequence to start at; MTGP32 and MT19937 ignore it
	Dimensions int    // for quasi-random kinds: 1 to 20000; 0 means 1
}

// Generator generates a sequence of numbers on one stream. Multiple goroutines may use a Generator
// simultaneously. Close a Generator before its stream.
type Generator struct {
	object  library.Object
	stream  *device.Stream
	enqueue func() error // made once, so that calls allocate nothing

	// C code reads and writes the fields below, so the generator is on the heap.
	handle   uintptr
	function function // the call that is being enqueued
	args     [5]uintptr
	n        int
	loans    device.Loans
}

// New returns a generator for a stream. It waits until the generator's state is on the device. If
// cuRAND is not installed, the error matches ErrNoLibrary.
func New(s *device.Stream, o Options) (*Generator, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return newGenerator(l, s, o)
}

func newGenerator(l toolkit.Loaded, s *device.Stream, o Options) (*Generator, error) {
	if o.Kind == 0 {
		o.Kind = XORWOW
	}
	if s.Recording() {
		return nil, fmt.Errorf("curand: new generator: %w", device.ErrCapture)
	}
	g := &Generator{object: library.Object{Library: l, Device: s.Device()}, stream: s}
	run := g.runOn
	g.enqueue = func() error { return cuda.Each(s, run) }
	err := g.object.Within(func() error { return g.invoke(create, uintptr(unsafe.Pointer(&g.handle)), uintptr(o.Kind)) })
	if err != nil {
		return nil, err
	}
	if err = cuda.Do(s, func(h cuda.Handle) error { return g.prepare(h, o) }); err != nil {
		return nil, errors.Join(err, g.destroy())
	}
	return g, nil
}

// prepare sets the options, and generates the state.
func (g *Generator) prepare(h cuda.Handle, o Options) error {
	if err := g.object.Bind(h, g.use); err != nil {
		return err
	}
	f, value := setSeed, uintptr(o.Seed)
	if o.Kind.quasi() {
		f, value = setDimensions, uintptr(max(1, o.Dimensions))
	}
	if err := g.invoke(f, g.handle, value); err != nil {
		return err
	}
	if o.Offset != 0 {
		if err := g.invoke(setOffset, g.handle, uintptr(o.Offset)); err != nil {
			return err
		}
	}
	return g.invoke(generateSeeds, g.handle)
}

// invoke calls the library.
func (g *Generator) invoke(f function, args ...uintptr) error {
	return g.object.Invoke(int(f), args...)
}

func (g *Generator) use(stream uintptr) error { return g.invoke(setStream, g.handle, stream) }

// Seek moves the generator to an offset in its sequence.
func (g *Generator) Seek(offset uint64) error {
	return g.call(setOffset, uintptr(offset))
}

// call enqueues a call with the handle and the given arguments.
func (g *Generator) call(f function, args ...uintptr) error {
	g.object.Lock()
	defer g.object.Unlock()
	g.loans = g.stream.LoansChecked()
	g.put(f, args...)
	return g.loans.Enqueue(g.enqueue)
}

// put sets the function and arguments of the next call. The lock is held.
func (g *Generator) put(f function, args ...uintptr) {
	g.function, g.args[0] = f, g.handle
	g.n = 1 + copy(g.args[1:], args)
}

// fill enqueues a call that fills x. Its arguments are the handle, the address and length of x, and
// more.
func fill[T any](g *Generator, f function, x device.Slice[T], more ...uintptr) error {
	g.object.Lock()
	defer g.object.Unlock()
	g.loans = g.stream.LoansChecked()
	at := x.Lend(&g.loans)
	if x.Len() == 0 {
		return g.loans.Enqueue(func() error { return nil })
	}
	g.put(f, at, uintptr(x.Len()))
	g.n += copy(g.args[g.n:], more)
	return g.loans.Enqueue(g.enqueue)
}

// runOn calls the library for the stream. The lock is held.
func (g *Generator) runOn(on cuda.Handle) error {
	if g.object.Closed {
		return ErrClosed
	}
	if err := g.loans.Closed(); err != nil {
		return err
	}
	if err := g.object.Bind(on, g.use); err != nil {
		return err
	}
	return g.object.Run(int(g.function), g.args[:g.n])
}

// Close waits until the device is idle, and frees the generator's state.
func (g *Generator) Close() error {
	g.object.Lock()
	defer g.object.Unlock()
	if g.object.Closed {
		return ErrClosed
	}
	g.object.Closed = true
	return g.destroy()
}

func (g *Generator) destroy() error {
	return g.object.Within(func() error { return g.invoke(destroy, g.handle) })
}
