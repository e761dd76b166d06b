package device

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Errors that a program can cause; match them with errors.Is. Functions wrap these errors with the
// kernel, the argument and the numbers.
var (
	// ErrClosed means that a device, stream, buffer, event or graph has been closed.
	ErrClosed = driver.ErrClosed
	// ErrNilBuffer means that a *Buffer, *Event, *Pinned or *Managed is nil, or that a Slice is the zero Slice.
	ErrNilBuffer = errors.New("nil buffer")
	// ErrForeign means that a buffer, event or graph belongs to a device other than the stream's
	// device.
	ErrForeign = driver.ErrForeign
	// ErrLength means that the lengths of the arguments of an operation do not match.
	ErrLength = errors.New("lengths differ")
	// ErrRange means that an index, a bound or a size is out of range.
	ErrRange = errors.New("slice bounds out of range")
	// ErrGrid means that the device cannot launch a grid of this size or with these fields.
	ErrGrid = driver.ErrGrid
	// ErrAssumption means that a launch does not meet the kernel's //gpu:assume directive.
	ErrAssumption = driver.ErrAssumption
	// ErrOverlap means that two slices share memory, which the operation does not permit.
	ErrOverlap = driver.ErrOverlap
	// ErrMemory means that the device does not have enough free memory.
	ErrMemory = driver.ErrMemory
	// ErrElement means that the element type of a buffer contains Go pointers.
	ErrElement = errors.New("element type contains Go pointers")
	// ErrNoVariant means that the kernel has no code that the device can run.
	ErrNoVariant = driver.ErrNoVariant
	// ErrLeak means that buffers were not closed before the device; see LeakError.
	ErrLeak = errors.New("memory was not closed")
	// ErrAlign means that memory is not aligned as its type or the operation requires.
	ErrAlign = errors.New("memory is not aligned for the type")
	// ErrCapture means that a graph cannot record the operation.
	ErrCapture = errors.New("cannot be part of a graph")
	// ErrUnsupported means that the device does not support the operation.
	ErrUnsupported = driver.ErrUnsupported
	// ErrMismatch means that the arguments of a launch do not have the types of the kernel's parameters.
	ErrMismatch = driver.ErrMismatch
	// ErrStale means that a kernel has changed since its code was generated. A kernel that has only moved to other lines has not
	// changed; its faults name the earlier lines.
	ErrStale = driver.ErrStale
	// ErrWatched means that the device already has a Watcher.
	ErrWatched = errors.New("already has a watcher")
	// ErrRunning means that a kernel on the CPU is still running and cannot be stopped.
	ErrRunning = driver.ErrRunning
)
