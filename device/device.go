package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Device runs kernels. Its methods may be called from any goroutine.
type Device struct {
	backend driver.Backend
	info    Info
	memory  accounts
	record  atomic.Bool // see RecordCallers
	coarsen atomic.Bool // see CoarsenAlways
	serial  atomic.Bool // see OverlapNever

	watching atomic.Pointer[watch] // see Watch, or nil
	counters counters
	made     atomic.Int32    // streams
	recycler driver.Recycler // nil if the memory of closed buffers is not kept

	mu      sync.RWMutex         // held for reading while the backend's memory is managed
	closed  atomic.Bool          // written with the lock held
	streams map[*Stream]struct{} // the open ones
}

// New returns a device with the back end b. Programs call gopherwarp.Open, cuda.Open,
// vulkan.Open or cpu.Open instead.
func New(b driver.Backend) *Device {
	recycler, _ := b.(driver.Recycler)
	return &Device{
		backend: b, info: b.Info(), streams: map[*Stream]struct{}{}, recycler: recycler,
		memory: accounts{blocks: map[*block]struct{}{}, lost: map[string]Owner{}, arena: arena{spare: b.Info().Memory / spareShare}},
	}
}

// Info returns a description of the device.
func (d *Device) Info() Info { return d.info }

// Backend returns the device's back end, for packages that depend on the device's kind.
func (d *Device) Backend() driver.Backend { return d.backend }

// Explain sets Info.Reason, the reason why no better kind of device was chosen. The code that opens the device calls
// Explain before the device is used.
func (d *Device) Explain(reason string) { d.info.Reason = reason }

// RecordCallers makes the device record the callers of later launches, so that Fault.Launched is
// set. It also makes Device.Close return a LeakError if buffers are open. Each launch then takes a
// few tenths of a microsecond longer.
func (d *Device) RecordCallers(on bool) { d.record.Store(on) }

// CoarsenAlways makes even small launches use coarse variants of kernels, in which each thread processes several
// elements. It is for tests.
func (d *Device) CoarsenAlways(on bool) { d.coarsen.Store(on) }

// OverlapNever makes kernels that are launched or recorded later wait for the end of the preceding kernel, even if they
// call AwaitPrevious. Use it for measurements, or to find out whether a wrong result depends on the overlap of kernels.
func (d *Device) OverlapNever(on bool) { d.serial.Store(on) }

// StreamOptions are properties of a stream.
type StreamOptions struct {
	Output   io.Writer // for the output of gpu.Printf; nil means os.Stdout
	Priority int       // higher is more urgent, if the device has priorities; 0 is the default
}

// NewStream returns a stream whose kernels print to os.Stdout.
func (d *Device) NewStream() (*Stream, error) { return d.NewStreamWith(StreamOptions{}) }

// NewStreamTo returns a stream whose kernels print to w.
func (d *Device) NewStreamTo(w io.Writer) (*Stream, error) {
	return d.NewStreamWith(StreamOptions{Output: w})
}

// NewStreamWith returns a stream with options.
func (d *Device) NewStreamWith(o StreamOptions) (*Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return nil, fmt.Errorf("device: new stream: device %w", ErrClosed)
	}
	q, err := d.newQueue(o.Priority)
	if err != nil {
		return nil, err
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	s := &Stream{device: d, queue: q, output: o.Output, epoch: new(epoch), number: int(d.made.Add(1))}
	s.later, _ = q.(driver.Asynchronous)
	d.streams[s] = struct{}{}
	return s, nil
}

func (d *Device) newQueue(priority int) (driver.Queue, error) {
	if p, ok := d.backend.(driver.Prioritizer); ok && priority != 0 {
		return p.NewUrgentQueue(priority)
	}
	return d.backend.NewQueue()
}

// allocate returns size bytes of the device's memory for work on s, with arbitrary contents.
func (d *Device) allocate(s *Stream, size int) (lease, error) {
	if s.recorder != nil {
		l, err := s.recorder.allocate(size)
		return l, s.keep(err)
	}
	if l := d.reuse(s, size); !l.none() {
		return l, nil
	}
	b := &block{device: d, size: size, kind: kindBuffer}
	b.made.Take()
	b.kept.capacity = d.capacity(size)
	if err := d.roomy(size, func() error { return d.allocateBlock(s, b) }); err != nil {
		return lease{}, err
	}
	return d.memory.enter(b).lease(), nil
}

// capacity returns how much memory a buffer of size bytes gets: a part of it may serve a later one.
func (d *Device) capacity(size int) int {
	if d.recycler == nil {
		return size
	}
	return capacityFor(size)
}

// reuse returns a block that the arena kept, for size bytes of work on s, or no lease.
func (d *Device) reuse(s *Stream, size int) lease {
	if d.closed.Load() || !d.recycles() {
		return lease{}
	}
	b, handle := d.memory.retake(s, size)
	if b == nil {
		return lease{}
	}
	return b.renew(handle, s)
}

// recycles reports whether the arena keeps memory.
func (d *Device) recycles() bool { return d.recycler != nil && d.recycler.Recyclable() == nil }

func (d *Device) allocateBlock(s *Stream, b *block) error {
	return d.back(b, func() (err error) {
		if p, ok := d.backend.(driver.Pooler); ok {
			b.home = s
			b.memory, err = p.AllocateFor(s.queue, b.kept.capacity)
		} else {
			b.memory, err = d.backend.Allocate(b.kept.capacity)
		}
		z, ok := d.backend.(driver.Zeroer)
		b.zeros = ok && z.Zeroes()
		return err
	})
}

// back counts the size of b as used and calls allocate, which sets its memory.
func (d *Device) back(b *block, allocate func() error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed.Load() {
		return fmt.Errorf("device: new %s: device %w", b.kind, ErrClosed)
	}
	unused, err := d.memory.take(b.size)
	if err != nil {
		return err
	}
	if err = d.freeAll(unused); err == nil {
		err = allocate()
	}
	if err != nil {
		d.memory.give(b.size)
	}
	return err
}

// free keeps memory for later buffers, or frees it after the work of the streams that used it, unless the
// device is closed.
func (d *Device) free(b *block, users []*Stream) error {
	if d.closed.Load() {
		return fmt.Errorf("device: free: device %w", ErrClosed)
	}
	isKept, unused := d.memory.leave(b, users)
	if isKept && len(unused) == 0 {
		return nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch {
	case d.closed.Load():
		return fmt.Errorf("device: free: device %w", ErrClosed)
	case isKept:
		return d.freeAll(unused)
	}
	return d.discard(b, users)
}

// forget drops a stream that was closed.
func (d *Device) forget(s *Stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.streams, s)
}

// shut marks the device closed and returns the streams that were open.
func (d *Device) shut() (open []*Stream, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return nil, fmt.Errorf("device: device %w", ErrClosed)
	}
	d.closed.Store(true)
	for s := range d.streams {
		open = append(open, s)
	}
	return open, nil
}

// patience returns a context that is done when closing has waited long enough for work.
func (d *Device) patience() (context.Context, context.CancelFunc) {
	if p, ok := d.backend.(driver.Patient); ok {
		return context.WithTimeout(context.Background(), p.Patience())
	}
	return context.WithCancel(context.Background())
}

// Close closes the device's streams and frees all its memory. Using its streams and buffers afterwards
// is an error.
func (d *Device) Close() error {
	open, err := d.shut()
	if err != nil {
		return err
	}
	ctx, cancel := d.patience()
	defer cancel()
	var errs []error
	for _, s := range open {
		if err := s.closeBefore(ctx); !errors.Is(err, ErrClosed) { // another goroutine may have been first
			errs = append(errs, err)
		}
	}
	if d.record.Load() {
		if leak := (&LeakError{d.Owners(), d.Leaks()}); len(leak.Open)+len(leak.Leaked) > 0 {
			errs = append(errs, leak)
		}
	}
	d.memory.clear() // the back end frees all memory; the handles that the arena keeps would keep the Device
	return errors.Join(append(errs, d.unwatch(), d.backend.Close())...)
}
