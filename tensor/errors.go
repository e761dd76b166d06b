package tensor

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Causes of an Error.
var (
	ErrShape   = errors.New("shapes do not fit")
	ErrDType   = errors.New("element types do not fit")
	ErrScope   = errors.New("scope")
	ErrValue   = errors.New("argument out of range")
	ErrRecord  = errors.New("recording")
	ErrChanged = errors.New("changed in the meantime")
	ErrFormat  = errors.New("not a .npy file") // or an incomplete one
)

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

// own are the packages whose lines are not those of a program that uses tensors.
var own = [...]string{"github.com/gopherwarp/gopherwarp/tensor.", "github.com/gopherwarp/gopherwarp/nn.", "github.com/gopherwarp/gopherwarp/train."}

// site is where a program called a function: the innermost frames of its stack, which are cheaper to take than a line of text.
type site struct{ pcs [16]uintptr }

// take stores the stack of the function that called the caller of take.
func (c *site) take() { runtime.Callers(3, c.pcs[:]) }

// line returns the innermost file and line that is not in one of the packages above, or "" if take was not called.
func (c *site) line() string {
	n := 0
	for n < len(c.pcs) && c.pcs[n] != 0 {
		n++
	}
	if n == 0 {
		return ""
	}
	line, _ := lineOf(c.pcs[:n])
	return line
}

// caller returns the innermost file and line of the stack that is not in one of the packages above.
func caller() string {
	var pcs [16]uintptr
	skip := 2
	for {
		n := runtime.Callers(skip, pcs[:])
		if line, ok := lineOf(pcs[:n]); ok || n < len(pcs) {
			return line
		}
		skip += n
	}
}

// lineOf returns the first file and line of a stack that is not in one of the packages above, and reports whether there is one.
func lineOf(pcs []uintptr) (string, bool) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOwn(f.Function) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line), true
		}
		if !more {
			return "unknown line", false
		}
	}
}

func isOwn(function string) bool {
	for _, prefix := range own {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return strings.HasPrefix(function, "runtime.")
}
