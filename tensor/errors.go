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
	ErrFormat  = errors.New("not a .npy file") // or one that ends early
)

// An Error is a mistake in a call of this package.
type Error struct {
	Op   string // the operation, such as "MatMul"
	Line string // file and line of the call, such as "main.go:31"
	Err  error  // wraps one of the causes, or is an error of the device
}

// Error describes the mistake and ends with the line.
func (e *Error) Error() string { return fmt.Sprintf("tensor: %s: %v (%s)", e.Op, e.Err, e.Line) }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// mistake returns an Error of a call of op, with the line of the program.
func mistake(op string, err error) error { return &Error{op, caller(), err} }

// own are the packages whose lines are not those of a program that uses tensors.
var own = [...]string{"github.com/gopherwarp/gopherwarp/tensor.", "github.com/gopherwarp/gopherwarp/nn.", "github.com/gopherwarp/gopherwarp/train."}

// caller returns the innermost file and line of the stack that is not in one of the packages above.
func caller() string {
	var pcs [16]uintptr
	skip := 2
	for {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for {
			f, more := frames.Next()
			if f.Function != "" && !isOwn(f.Function) {
				return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return "unknown line"
		}
		skip += n
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
