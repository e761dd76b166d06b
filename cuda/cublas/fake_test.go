package cublas

import (
	"io"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is a library that remembers how it was called last, and fails where it is told to.
type fake struct {
	function function
	args     []uintptr
	calls    int
	failAt   int // the call that fails, counted from 1
	handles  int // that exist
	stream   uintptr
	memory   uintptr
	onGPU    bool
}

func (f *fake) call(number int, _ toolkit.Before, args []uintptr) int32 {
	f.calls++
	if f.calls == f.failAt {
		return int32(InternalError)
	}
	switch function(number) {
	case create:
		f.handles++
		**(**uintptr)(unsafe.Pointer(&args[0])) = 77
	case destroy:
		f.handles--
	case setStream:
		f.stream, f.memory = args[1], 0
	case setWorkspace:
		f.memory = args[1]
	case setPointerMode:
		f.onGPU = args[1] == 1
	case getProperty:
		**(**int32)(unsafe.Pointer(&args[1])) = int32(args[0]) + 10
	case getVersion:
		**(**int32)(unsafe.Pointer(&args[1])) = 130102
	default:
		f.function = function(number)
		f.args = append(f.args[:0], args...)
	}
	return 0
}

// bench is a stream of a fake device and a handle of a fake library.
type bench struct {
	*testing.T
	driver *cudafake.Fake
	fake   *fake
	dev    *device.Device
	stream *device.Stream
	handle *Handle
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, driver: cudafake.New(cudafake.H200), fake: &fake{}}
	var err error
	b.dev, err = cuda.OpenOn(b.driver.Driver(), 0)
	b.check(err)
	b.stream, err = b.dev.NewStreamTo(io.Discard)
	b.check(err)
	b.handle, err = newHandle(library{call: b.fake.call}, b.stream)
	b.check(err)
	return b
}

// close closes all, after which nothing is left.
func (b *bench) close() {
	b.Helper()
	b.check(b.handle.Close())
	b.check(b.stream.Close())
	b.check(b.dev.Close())
	if live := b.driver.Live(); live != (cudafake.Live{}) || b.fake.handles != 0 {
		b.Errorf("not freed: %+v, %d handles", live, b.fake.handles)
	}
}

func (b *bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// array is numbers on the device, and where they are.
func array[T any](b *bench, n int) (device.Slice[T], uintptr) {
	b.Helper()
	buf, err := device.MakeDirty[T](b.stream, n)
	b.check(err)
	l := b.stream.Loans()
	at := buf.All().Lend(&l)
	b.check(l.Enqueue(func() error { return nil }))
	return buf.All(), at
}
