package librarytest

import (
	"io"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Bench is a stream of a fake device, and what a fake library was called with.
type Bench struct {
	*testing.T
	Driver *cudafake.Fake
	Device *device.Device
	Stream *device.Stream

	Number int       // of the last function that enqueued work
	Args   []uintptr // its arguments
	Count  int       // calls of the library
	FailAt int       // the call that fails, counted from 1, with status Status
	Status int32
}

// New returns a bench whose library fails with the given status.
func New(t *testing.T, status int32) *Bench {
	t.Helper()
	b := &Bench{T: t, Driver: cudafake.New(cudafake.H200), Status: status}
	var err error
	b.Device, err = cuda.OpenOn(b.Driver.Driver(), 0)
	b.Check(err)
	b.Stream, err = b.Device.NewStreamTo(io.Discard)
	b.Check(err)
	return b
}

// Calls returns the functions of a fake library: manage does what a function does that enqueues nothing, and
// reports whether the function is one of these. The others are remembered.
func (b *Bench) Calls(manage func(number int, args []uintptr) bool) toolkit.Functions {
	return func(number int, _ toolkit.Before, args []uintptr) int32 {
		b.Count++
		if b.Count == b.FailAt {
			return b.Status
		}
		if !manage(number, args) {
			b.Number, b.Args = number, append(b.Args[:0], args...)
		}
		return 0
	}
}

// Wants demands that err is nil and the last work was enqueued by a function with arguments.
func (b *Bench) Wants(err error, number int, args ...uintptr) {
	b.Helper()
	b.Check(err)
	if b.Number != number || !slices.Equal(b.Args, args) {
		b.Errorf("function %d was called with %x, want %d with %x", b.Number, b.Args, number, args)
	}
}

// Check demands that err is nil.
func (b *Bench) Check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// Close closes the stream and the device, after which nothing is left.
func (b *Bench) Close() {
	b.Helper()
	b.Check(b.Stream.Close())
	b.Check(b.Device.Close())
	if live := b.Driver.Live(); live != (cudafake.Live{}) {
		b.Errorf("not freed: %+v", live)
	}
}

// Array returns n elements on the device, and where they are.
func Array[T any](b *Bench, n int) (device.Slice[T], uintptr) {
	b.Helper()
	buf, err := device.MakeDirty[T](b.Stream, n)
	b.Check(err)
	l := b.Stream.Loans()
	at := buf.All().Lend(&l)
	b.Check(l.Enqueue(func() error { return nil }))
	return buf.All(), at
}

// EveryFailure calls work with benches of which each call of the library fails in turn, until none does. The
// error must satisfy is; nothing may be left.
func EveryFailure(t *testing.T, status int32, work func(b *Bench) error, is func(error) bool) {
	t.Helper()
	for at := 1; ; at++ {
		b := New(t, status)
		b.FailAt = at
		err := work(b)
		b.Check(b.Stream.Close())
		b.Check(b.Device.Close())
		if b.Count < at {
			b.Check(err)
			return
		}
		if !is(err) {
			t.Errorf("call %d fails: got %v", at, err)
		}
		if live := b.Driver.Live(); live.Contexts+live.Allocations+live.Streams != 0 {
			t.Errorf("call %d fails: not freed: %+v", at, live)
		}
	}
}
