package tensor

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// Causes of an Error.
var (
	ErrShape   = errors.New("shapes do not fit")
	ErrDType   = errors.New("element types do not fit")
	ErrScope   = errors.New("scope")
	ErrValue   = errors.New("argument out of range")
	ErrRecord  = errors.New("recording")
	ErrChanged = errors.New("changed in the meantime")
	ErrFormat  = errors.New("not a file of NumPy") // also for an incomplete file
)

// errNil is the cause of an Error for a tensor that is nil.
var errNil = fmt.Errorf("%w: a nil tensor", ErrValue)

// An Error describes a mistake in a call of this package.
type Error struct {
	Op   string // the operation, such as "MatMul"
	Line string // file and line of the call, such as "main.go:31"
	Err  error  // wraps one of the causes, or is an error of the device
}

// Error returns a description of the mistake, with the line at its end.
func (e *Error) Error() string { return fmt.Sprintf("tensor: %s: %v (%s)", e.Op, e.Err, e.Line) }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// mistake returns an Error of a call of op, with the line of the program.
func mistake(op string, err error) error { return &Error{op, caller(), err} }

// caller returns the innermost file and line of the stack that is in none of the packages that stack.Line passes over.
func caller() string {
	var pcs [16]uintptr
	skip := 2
	for {
		n := runtime.Callers(skip, pcs[:])
		if line, ok := stack.Line(pcs[:n]); ok || n < len(pcs) {
			return line
		}
		skip += n
	}
}
