package device

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Errors that a program can cause; match them with errors.Is. Functions wrap them with the
// kernel, the argument and the numbers.
var (
	ErrClosed      = driver.ErrClosed
	ErrNilBuffer   = errors.New("nil buffer")
	ErrForeign     = driver.ErrForeign
	ErrLength      = errors.New("lengths differ")
	ErrRange       = errors.New("slice bounds out of range")
	ErrGrid        = driver.ErrGrid
	ErrOverlap     = driver.ErrOverlap
	ErrMemory      = driver.ErrMemory
	ErrElement     = errors.New("element type contains Go pointers")
	ErrNoVariant   = driver.ErrNoVariant
	ErrLeak        = errors.New("memory was not closed")
	ErrAlign       = errors.New("memory is not aligned for the type")
	ErrCapture     = errors.New("cannot be part of a graph")
	ErrUnsupported = driver.ErrUnsupported
	ErrMismatch    = driver.ErrMismatch
	ErrStale       = driver.ErrStale
	ErrWatched     = errors.New("already has a watcher")
	ErrRunning     = driver.ErrRunning
)
