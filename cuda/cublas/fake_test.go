package cublas

import (
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda/internal/library/librarytest"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is the state of a fake library, apart from the work that is enqueued.
type fake struct {
	handles int // that exist
	stream  uintptr
	memory  uintptr
	onGPU   bool
}

// manage does the work of the functions that enqueue nothing.
func (f *fake) manage(number int, args []uintptr) bool {
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
	case setMathMode:
	default:
		return false
	}
	return true
}

// bench is a stream of a fake device and a handle of a fake library.
type bench struct {
	*librarytest.Bench
	fake    *fake
	library toolkit.Loaded
	handle  *Handle
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := benchOf(librarytest.New(t, int32(InternalError)))
	var err error
	b.handle, err = newHandle(b.library, b.Stream)
	b.Check(err)
	return b
}

// benchOf returns a bench without a handle.
func benchOf(b *librarytest.Bench) *bench {
	f := new(fake)
	return &bench{Bench: b, fake: f, library: known.With("libcublas.so.13", b.Calls(f.manage))}
}

// close closes everything, and checks that nothing is left.
func (b *bench) close() {
	b.Helper()
	b.Check(b.handle.Close())
	b.Close()
	if b.fake.handles != 0 {
		b.Errorf("%d handles are left", b.fake.handles)
	}
}
