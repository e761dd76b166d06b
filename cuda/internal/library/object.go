package library

import (
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// MaxArgs is how many arguments a call by Invoke may have.
const MaxArgs = 24

// Object is an object of a library on a device. It lies on the heap, where C may see its frame.
//
// Threads: the lock is held while a call is prepared and enqueued.
type Object struct {
	Library toolkit.Loaded
	Device  *device.Device

	sync.Mutex
	Closed bool

	before toolkit.Before   // of the call that is being enqueued
	bound  uintptr          // the stream for which the library works
	frame  [MaxArgs]uintptr // of Invoke
}

// Invoke calls a function of the library. What its arguments point to lies on the heap too, and the caller
// keeps it alive.
func (o *Object) Invoke(number int, args ...uintptr) error {
	err := o.Library.Call(number, o.before, o.frame[:copy(o.frame[:], args)])
	runtime.KeepAlive(o)
	return err
}

// Run is Invoke with arguments that lie on the heap.
func (o *Object) Run(number int, args []uintptr) error {
	err := o.Library.Call(number, o.before, args)
	runtime.KeepAlive(o)
	return err
}

// Within calls f with the device's context current, for calls that make and destroy objects.
func (o *Object) Within(f func() error) error {
	return cuda.With(o.Device, func(uintptr) error { return f() })
}

// Bind prepares calls that enqueue work on a stream: tell makes the library use it, where it used another one
// before. The lock is held.
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
