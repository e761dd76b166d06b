package compile

import (
	"fmt"
	"runtime/debug"
)

// InternalError reports a bug in the compiler.
type InternalError struct {
	Kernel string // package path and name of the kernel that was being compiled, if any
	Value  any    // the argument of the panic

	Stack []byte // the stack of the panic
}

// Error returns a text that asks the user to report the bug and includes the details.
func (e *InternalError) Error() string {
	where := ""
	if e.Kernel != "" {
		where = " in kernel " + e.Kernel
	}
	return fmt.Sprintf("compile: internal error%s: %v\n"+
		"This is a bug of gopherwarp, not of your program. Please report it, with the kernel and the lines\n"+
		"below, at https://github.com/gopherwarp/gopherwarp/issues\n\n%s", where, e.Value, e.Stack)
}

// guard calls f and turns a panic into an *InternalError. It is the compiler's only
// recover.
func guard(kernel string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &InternalError{Kernel: kernel, Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
