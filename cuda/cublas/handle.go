package cublas

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrClosed is the error of a call on a closed Handle.
var ErrClosed = errors.New("cublas: the handle was closed")

// Handle is a cuBLAS handle for one stream. Multiple goroutines may use a Handle simultaneously.
// Close a Handle before its stream, and after the graphs that recorded its work.
type Handle struct {
	*session
	stream  *device.Stream
	enqueue func() error // made once, so that calls allocate nothing
}

// session is the state that a handle shares with the handles that On returned.
type session struct {
	object    library.Object
	workspace *device.Buffer[byte]
	handle    uintptr
	onGPU     bool // the library reads and writes scalars in device memory
	call      call
	run       func(cuda.Handle) error
}

// workspaceBytes returns the workspace size that NVIDIA recommends for a compute capability.
func workspaceBytes(c device.Capability) int {
	if c.Major >= 9 {
		return 32 << 20
	}
	return 4 << 20
}

// New returns a handle for a stream. The handle has a workspace of its own on the device: 32 MiB on
// an H100 or later, 4 MiB on older GPUs. If cuBLAS is not installed, the error matches
// ErrNoLibrary.
func New(s *device.Stream) (*Handle, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return newHandle(l, s)
}

func newHandle(l toolkit.Loaded, s *device.Stream) (*Handle, error) {
	h := &session{object: library.Object{Library: l, Device: s.Device()}}
	h.call.session = h
	h.run = h.runOn
	err := h.object.Within(func() error { return h.invoke(create, uintptr(unsafe.Pointer(&h.handle))) })
	if err != nil {
		return nil, err
	}
	h.workspace, err = device.MakeDirty[byte](s, workspaceBytes(h.object.Device.Info().Capability))
	if err != nil {
		return nil, errors.Join(err, h.destroy())
	}
	return h.on(s), nil
}

func (h *session) on(s *device.Stream) *Handle {
	return &Handle{session: h, stream: s, enqueue: func() error { return cuda.Each(s, h.run) }}
}

// On returns a handle like h for another stream of the same device, such as a stream that records a
// graph. Both handles share one workspace, so their work must not run at the same time. Closing
// either handle closes both.
func (h *Handle) On(s *device.Stream) *Handle { return h.on(s) }

// Close closes the handle. The workspace is freed when the enqueued work is done.
func (h *Handle) Close() error {
	h.object.Lock()
	defer h.object.Unlock()
	if h.object.Closed {
		return ErrClosed
	}
	h.object.Closed = true
	return errors.Join(h.destroy(), h.workspace.Close())
}

func (h *session) destroy() error {
	return h.object.Within(func() error { return h.invoke(destroy, h.handle) })
}

// Version returns the library's version, such as "13.1.0", and the path where it was found.
func (h *Handle) Version() (version, path string, err error) {
	h.object.Lock()
	defer h.object.Unlock()
	if h.object.Closed {
		return "", "", ErrClosed
	}
	v := new(int32)
	err = h.invoke(getVersion, h.handle, uintptr(unsafe.Pointer(v)))
	return fmt.Sprintf("%d.%d.%d", *v/10000, *v%10000/100, *v%100), h.object.Library.Path, err
}

// Precision determines how float32 products are computed.
type Precision int

// The precisions.
const (
	Full Precision = 0 // in float32
	TF32 Precision = 3 // on tensor cores, with 10 bits of the inputs' mantissas: faster
)

// SetPrecision sets the precision of later float32 products.
func (h *Handle) SetPrecision(p Precision) error {
	h.object.Lock()
	defer h.object.Unlock()
	if h.object.Closed {
		return ErrClosed
	}
	return h.invoke(setMathMode, h.handle, uintptr(p))
}

// invoke calls the library.
func (h *session) invoke(f function, args ...uintptr) error { return h.object.Invoke(int(f), args...) }

// call is one call of the library that enqueues work. Its arguments are on the heap, because C code
// reads them by address.
type call struct {
	session   *session
	function  function
	args      [library.MaxArgs]uintptr
	n         int
	scalars   [2]float64 // or float32
	onGPU     bool       // the result is stored on the device
	loans     device.Loans
	workspace uintptr
	enqueue   func() error
	err       error
}

// begin starts a call. The handle's lock is held until end returns.
func (h *Handle) begin(f function) *call {
	h.object.Lock()
	c := &h.call
	c.function, c.n, c.onGPU, c.err, c.loans = f, 0, false, nil, h.stream.Loans()
	c.workspace, c.enqueue = h.workspace.All().Lend(&c.loans), h.enqueue
	if h.object.Closed {
		c.err = ErrClosed
	}
	c.put(int(h.handle))
	return c
}

// put appends arguments.
func (c *call) put(args ...int) {
	for _, a := range args {
		c.args[c.n] = uintptr(a)
		c.n++
	}
}

// putScalar stores the i-th scalar of the call, and appends its address.
func putScalar[T Float](c *call, i int, v T) {
	p := unsafe.Pointer(&c.scalars[i])
	*(*T)(p) = v
	c.put(int(uintptr(p)))
}

// putInt is putScalar for an integer.
func (c *call) putInt(i int, v int32) {
	p := unsafe.Pointer(&c.scalars[i])
	*(*int32)(p) = v
	c.put(int(uintptr(p)))
}

// fail keeps the first error.
func (c *call) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// end enqueues the call.
func (c *call) end() error {
	defer c.session.object.Unlock()
	return c.loans.Enqueue(c.enqueue)
}

// runOn calls the library for a stream. The lock is held.
func (h *session) runOn(on cuda.Handle) error {
	c := &h.call
	if c.err != nil {
		return c.err
	}
	if err := h.object.Bind(on, h.use); err != nil {
		return err
	}
	if c.onGPU != h.onGPU {
		mode := uintptr(0)
		if c.onGPU {
			mode = 1
		}
		if err := h.invoke(setPointerMode, h.handle, mode); err != nil {
			return err
		}
		h.onGPU = c.onGPU
	}
	return h.object.Run(int(c.function), c.args[:c.n])
}

// use makes the library work on a stream. cublasSetStream resets the workspace, so use sets it
// again.
func (h *session) use(stream uintptr) error {
	if err := h.invoke(setStream, h.handle, stream); err != nil {
		return err
	}
	return h.invoke(setWorkspace, h.handle, h.call.workspace, uintptr(h.workspace.Len()))
}
