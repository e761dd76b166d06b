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

	watching atomic.Pointer[watch] // see Watch, or nil
	counters counters
	made     atomic.Int32 // streams

	mu      sync.RWMutex // held for reading while the backend's memory is managed
	closed  bool
	streams map[*Stream]struct{} // the open ones
}

// New returns a device with the back end b. Programs call gopherwarp.Open, cuda.Open or cpu.Open
// instead.
func New(b driver.Backend) *Device {
	return &Device{
		backend: b, info: b.Info(), streams: map[*Stream]struct{}{},
		memory: accounts{blocks: map[*block]struct{}{}, lost: map[string]Owner{}},
	}
}

// Info returns a description of the device.
func (d *Device) Info() Info { return d.info }

// Backend returns the device's back end, for packages that know its kind.
func (d *Device) Backend() driver.Backend { return d.backend }

// Explain sets Info.Reason, the reason why the device was chosen although a better kind of device
// exists. The code that opens the device calls Explain before the device is used.
func (d *Device) Explain(reason string) { d.info.Reason = reason }

// RecordCallers makes the device record the callers of later launches, so that Fault.Launched is set,
// and makes Close return a LeakError if buffers are open. A launch takes a few tenths of a
// microsecond longer.
func (d *Device) RecordCallers(on bool) { d.record.Store(on) }

// CoarsenAlways makes small launches use coarse variants of kernels, in which each thread processes
// several elements. Such variants make small launches slower. CoarsenAlways is for tests.
func (d *Device) CoarsenAlways(on bool) { d.coarsen.Store(on) }

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
	if d.closed {
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
func (d *Device) allocate(s *Stream, size int) (*allocation, error) {
	if s.recorder != nil {
		return nil, s.keep(fmt.Errorf("device: new buffer: %w", ErrCapture))
	}
	b := &block{device: d, size: size, kind: kindBuffer, made: calledFrom(3)}
	if err := d.roomy(size, func() error { return d.allocateBlock(s, b) }); err != nil {
		return nil, err
	}
	return d.memory.enter(b), nil
}

func (d *Device) allocateBlock(s *Stream, b *block) (err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return fmt.Errorf("device: new buffer: device %w", ErrClosed)
	}
	if err := d.memory.take(b.size); err != nil {
		return err
	}
	if p, ok := d.backend.(driver.Pooler); ok {
		b.home = s
		b.memory, err = p.AllocateFor(s.queue, b.size)
	} else {
		b.memory, err = d.backend.Allocate(b.size)
	}
	if err != nil {
		d.memory.give(b.size)
	}
	return err
}

// free frees memory after the work of the streams that used it, unless the device is closed.
func (d *Device) free(b *block, users []*Stream) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return fmt.Errorf("device: free: device %w", ErrClosed)
	}
	d.memory.leave(b)
	pooled, ok := b.memory.(driver.PooledMemory)
	if !ok {
		return b.memory.Free()
	}
	queues := make([]driver.Queue, len(users))
	for i, s := range users {
		queues[i] = s.queue
	}
	return pooled.FreeAfter(queues)
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
	if d.closed {
		return nil, fmt.Errorf("device: device %w", ErrClosed)
	}
	d.closed = true
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
	return errors.Join(append(errs, d.unwatch(), d.backend.Close())...)
}
