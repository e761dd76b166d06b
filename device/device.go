package device

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Device is a machine that runs kernels. Its methods may be called from any goroutine.
type Device struct {
	backend Backend
	info    Info

	mu      sync.RWMutex // held for reading while the backend's memory is managed
	closed  bool
	streams map[*Stream]struct{} // the open ones
}

// New returns b as a device. Users call gopherwarp.Open, cuda.Open or cpu.Open instead.
func New(b Backend) *Device {
	return &Device{backend: b, info: b.Info(), streams: map[*Stream]struct{}{}}
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Explain records in the device's Info why it was chosen although a better kind exists.
// It is for whoever opens the device, before it is used.
func (d *Device) Explain(reason string) { d.info.Reason = reason }

// NewStream returns a stream whose kernels print to os.Stdout.
func (d *Device) NewStream() (*Stream, error) { return d.NewStreamTo(os.Stdout) }

// NewStreamTo returns a stream whose kernels print to w.
func (d *Device) NewStreamTo(w io.Writer) (*Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("device: new stream: device %w", ErrClosed)
	}
	q, err := d.backend.NewQueue()
	if err != nil {
		return nil, err
	}
	s := &Stream{device: d, queue: q, output: w}
	d.streams[s] = struct{}{}
	return s, nil
}

// allocate returns size bytes of the device's memory, with arbitrary contents.
func (d *Device) allocate(size int) (Memory, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return nil, fmt.Errorf("device: new buffer: device %w", ErrClosed)
	}
	return d.backend.Allocate(size)
}

// free gives memory back, unless closing the device has done so.
func (d *Device) free(m Memory) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return fmt.Errorf("device: free: device %w", ErrClosed)
	}
	return m.Free()
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

// Close closes the device's streams and frees all that was allocated on it. Its streams
// and buffers are errors to use afterwards.
func (d *Device) Close() error {
	open, err := d.shut()
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range open {
		if err := s.Close(); !errors.Is(err, ErrClosed) { // another goroutine may have been first
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, d.backend.Close())...)
}
