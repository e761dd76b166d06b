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

// Bench is a stream of a fake device, and the last call of a fake library.
type Bench struct {
	*testing.T
	Driver *cudafake.Fake
	Device *device.Device
	Stream *device.Stream

	Number int       // of the last function that enqueued work
	Args   []uintptr // its arguments
	Count  int       // number of library calls
	FailAt int       // the call that fails with the given status, counted from 1
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

// Calls returns the functions of a fake library. manage does the work of the functions that enqueue
// nothing, and reports whether the number is that of such a function. The bench records the calls
// of all others.
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

// Wants demands that err is nil, and that the last work was enqueued by the given function with
// these arguments.
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

// Close closes the stream and the device, and checks that nothing is left.
func (b *Bench) Close() {
	b.Helper()
	b.Check(b.Stream.Close())
	b.Check(b.Device.Close())
	if live := b.Driver.Live(); live != (cudafake.Live{}) {
		b.Errorf("not freed: %+v", live)
	}
}

// Array returns n elements on the device, and their address.
func Array[T any](b *Bench, n int) (device.Slice[T], uintptr) {
	b.Helper()
	buf, err := device.MakeDirty[T](b.Stream, n)
	b.Check(err)
	l := b.Stream.Loans()
	at := buf.All().Lend(&l)
	b.Check(l.Enqueue(func() error { return nil }))
	return buf.All(), at
}

// EveryFailure calls work with benches whose library fails at the first call, the second call, and
// so on, until no call fails. The error must satisfy is, and nothing may be left.
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
