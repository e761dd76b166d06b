package machine

import (
	"errors"
	"fmt"
)

// Errors that checks report; match them with errors.Is.
var (
	ErrAddress   = errors.New("address out of bounds")
	ErrAlignment = errors.New("misaligned address")
	ErrFreed     = errors.New("memory was freed")
	ErrReadOnly  = errors.New("memory is read-only")
	ErrBarrier   = errors.New("divergent barrier")
	ErrDeadlock  = errors.New("deadlock")
	ErrBudget    = errors.New("instruction budget used up")
	ErrStopped   = errors.New("stopped")
	ErrTrap      = errors.New("trap")
	ErrUndefined = errors.New("undefined behaviour")
	ErrRace      = errors.New("data race")
	ErrEarly     = errors.New("access before griddepcontrol.wait to memory that an earlier kernel uses")
	ErrUnwritten = errors.New("memory was never written")
	ErrProxy     = errors.New("no fence.proxy.async")
	ErrLaunch    = errors.New("launch does not fit the kernel")
)

// Error is an error in a kernel and its position.
type Error struct {
	Kernel        string
	Instruction   string
	Line          int    // in the PTX text
	File          string // source file, from .loc; empty if unknown
	FileLine      int
	Block, Thread [3]int
	Text          string // details, or empty
	Err           error  // one of the errors above
	Count         int    // number of occurrences, if it did not end the launch
}

// Error returns "scale: kernels.go:12 (PTX line 40, ld.global.f32): address out of bounds: ...
// (block 0,0,0 thread 7,0,0)".
func (e *Error) Error() string {
	place := fmt.Sprintf("PTX line %d, %s", e.Line, e.Instruction)
	if e.File != "" {
		place = fmt.Sprintf("%s:%d (%s)", e.File, e.FileLine, place)
	}
	s := fmt.Sprintf("%s: %s: %v", e.Kernel, place, e.Err)
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s + fmt.Sprintf(" (block %s thread %s)", commas(e.Block), commas(e.Thread)) + times(e.Count)
}

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Err }

func commas(i [3]int) string { return fmt.Sprintf("%d,%d,%d", i[0], i[1], i[2]) }
