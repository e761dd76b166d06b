package library

import (
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// MaxArgs is the maximum number of arguments of a call by Invoke.
const MaxArgs = 24

// Object is an object of a library on a device. It must be on the heap, because C code reads its frame.
//
// Threads: the lock is held while a call is prepared and enqueued.
type Object struct {
	Library toolkit.Loaded
	Device  *device.Device

	sync.Mutex
	Closed bool

	before toolkit.Before   // makes the context current for the call that is being enqueued
	bound  uintptr          // the stream on which the library enqueues work
	frame  [MaxArgs]uintptr // the arguments of Invoke
}

// Invoke calls a function of the library. Variables that the arguments point to must be on the
// heap, and the caller must keep them alive.
func (o *Object) Invoke(number int, args ...uintptr) error {
	err := o.Library.Call(number, o.before, o.frame[:copy(o.frame[:], args)])
	runtime.KeepAlive(o)
	return err
}

// Run is Invoke for arguments that are on the heap.
func (o *Object) Run(number int, args []uintptr) error {
	err := o.Library.Call(number, o.before, args)
	runtime.KeepAlive(o)
	return err
}

// Within calls f with the device's context current. Use it for calls that create and destroy
// objects.
func (o *Object) Within(f func() error) error {
	return cuda.With(o.Device, func(uintptr) error { return f() })
}

// Bind prepares calls that enqueue work on a stream. If the object was bound to another stream,
// Bind calls tell, which makes the library use the new one. The lock is held.
func (o *Object) Bind(on cuda.Handle, tell func(stream uintptr) error) error {
	o.before = on.Before
	if on.Stream == o.bound {
		return nil
	}
	o.bound = 0
	if err := tell(on.Stream); err != nil {
		return err
	}
	o.bound = on.Stream
	return nil
}
