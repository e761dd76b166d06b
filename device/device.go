package device

import (
	"io"
	"os"
)

// Device is a machine that runs kernels. Its methods may be called from any goroutine.
type Device struct {
	backend Backend
	info    Info
}

// New returns b as a device. Users call gopherwarp.Open, cuda.Open or cpu.Open instead.
func New(b Backend) *Device { return &Device{backend: b, info: b.Info()} }

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Explain records in the device's Info why it was chosen although a better kind exists.
// It is for whoever opens the device, before it is used.
func (d *Device) Explain(reason string) { d.info.Reason = reason }

// NewStream returns a stream whose kernels print to os.Stdout.
func (d *Device) NewStream() (*Stream, error) { return d.NewStreamTo(os.Stdout) }

// NewStreamTo returns a stream whose kernels print to w.
func (d *Device) NewStreamTo(w io.Writer) (*Stream, error) {
	q, err := d.backend.NewQueue()
	if err != nil {
		return nil, err
	}
	return &Stream{device: d, queue: q, output: w}, nil
}

// Close frees the device and all that was allocated on it.
func (d *Device) Close() error { return d.backend.Close() }
