package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/device"
)

// Case tests one behaviour, or one for each of Fields. Cases with the same name test the same
// behaviour for different types.
type Case struct {
	Name   string
	Type   string // distinguishes cases of the same name
	Fields []string
	Run    func(*Run)
	// subnormal lists fields, for Subnormal.
	subnormal []string
}

// Of returns the case with the given type name.
func (c Case) Of(name string) Case {
	c.Type = name
	return c
}

// Behaviours returns the names of the behaviours that the case tests.
func (c Case) Behaviours() []string {
	if len(c.Fields) == 0 {
		return []string{c.Name}
	}
	var names []string
	for _, f := range c.Fields {
		names = append(names, c.Name+"/"+f)
	}
	return names
}

// On runs the case on a new stream and returns its errors by the names of the behaviours.
func (c Case) On(ctx context.Context, dev *device.Device) map[string]error {
	r := &Run{Context: ctx, Device: dev, name: c.Name, wrong: map[string]error{}}
	stream, err := dev.NewStreamTo(&r.printed)
	if err != nil {
		return map[string]error{c.Name: err}
	}
	r.Stream = stream
	for _, f := range c.subnormal {
		r.subnormal = append(r.subnormal, c.Name+"/"+f)
	}
	c.Run(r)
	r.close()
	return r.wrong
}

// Run is the execution of a case. Errors are recorded and do not end the case.
type Run struct {
	context.Context
	Device  *device.Device
	Stream  *device.Stream
	name    string
	printed bytes.Buffer
	buffers []io.Closer
	wrong   map[string]error
	// subnormal lists behaviours that need subnormal numbers of float32.
	subnormal []string
}

// Wrong records an error of the case.
func (r *Run) Wrong(format string, args ...any) { r.fail(r.name, fmt.Errorf(format, args...)) }

// fail keeps the first error of each behaviour.
func (r *Run) fail(name string, err error) {
	if r.wrong[name] == nil {
		r.wrong[name] = err
	}
}

func (r *Run) close() {
	var errs []error
	for _, b := range r.buffers {
		errs = append(errs, b.Close())
	}
	if err := errors.Join(append(errs, r.Stream.Close())...); err != nil {
		r.Wrong("closing: %w", err)
	}
}

// Launch records the error of a launcher, which must be nil.
func (r *Run) Launch(err error) {
	if err != nil {
		r.Wrong("launch: %w", err)
	}
}

// Wait waits for the stream, which must have no error.
func (r *Run) Wait() {
	if err := r.Stream.Synchronize(r.Context); err != nil {
		r.Wrong("%w", err)
	}
}

// Printed waits for the stream and compares what kernels printed since the last call.
func (r *Run) Printed(want string) {
	r.Wait()
	if got := r.printed.String(); got != want {
		r.Wrong("printed %q, want %q", got, want)
	}
	r.printed.Reset()
}

// Upload returns a copy of host in device memory.
func Upload[T any](r *Run, host ...T) device.Slice[T] {
	b, err := device.Upload(r.Stream, host)
	if err != nil {
		r.Wrong("upload: %w", err)
		return device.Slice[T]{}
	}
	r.buffers = append(r.buffers, b)
	return b.All()
}

// Make returns a slice of n zeros in device memory.
func Make[T any](r *Run, n int) device.Slice[T] {
	b, err := device.Make[T](r.Stream, n)
	if err != nil {
		r.Wrong("make: %w", err)
		return device.Slice[T]{}
	}
	r.buffers = append(r.buffers, b)
	return b.All()
}

// Get waits for the stream and returns the contents of d.
func Get[T any](r *Run, d device.Slice[T]) []T {
	host := make([]T, d.Len())
	if err := device.Download(r.Stream, host, d); err != nil {
		r.Wrong("download: %w", err)
	}
	r.Wait()
	return host
}

// Want waits for the stream and compares the contents of d with want. All NaNs are equal; 0 and -0
// are not.
func Want[T any](r *Run, d device.Slice[T], want ...T) {
	got := Get(r, d)
	if len(got) != len(want) {
		r.Wrong("%d elements, want %d", len(got), len(want))
		return
	}
	for i := range want {
		if !same(got[i], want[i]) {
			r.Wrong("element %d is %v, want %v", i, got[i], want[i])
			return
		}
	}
}

// Threads returns a grid of one block of n threads.
func Threads(n int) device.Grid {
	return device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: n}}
}

// Blocks returns a grid of n blocks of m threads.
func Blocks(n, m int) device.Grid {
	return device.Grid{Blocks: device.Dim{X: n}, Block: device.Dim{X: m}}
}
