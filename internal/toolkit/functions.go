package toolkit

import (
	"fmt"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Before is the call that makes a context current (see cuda.Each), or no call.
type Before = dl.Before

// Functions calls a function of a library, given by its number in a table of symbols, after the call before,
// which may be none. It returns the function's status. Tests can replace it.
//
// Lifetimes: args is on the heap, in an object of the caller, so that a call allocates nothing. The memory
// that the arguments point to is on the heap too, and the caller keeps it alive.
type Functions func(number int, before Before, args []uintptr) int32

// Kind describes a library to the package that calls it.
type Kind struct {
	Library
	Package string   // the calling package, for errors: "cublas"
	Symbols []string // the functions that it calls, all of which the library must have
	Needs   string   // the first version that has them: "2.23"; may be empty
	// Floats maps the number of a function to the number of its last arguments that are
	// floating-point numbers, whose bits are the arguments. Functions that are not in the map have
	// none.
	Floats map[int]int
	// Failed returns the package's error for a call with a status other than 0.
	Failed func(symbol string, status int32) error
}

// Loaded is an open library.
type Loaded struct {
	Path string // the path where it was found
	kind *Kind
	call Functions
}

// Lazy returns a function that opens the library when it is first called. The library stays open.
func (k *Kind) Lazy() func() (Loaded, error) {
	return sync.OnceValues(func() (Loaded, error) {
		lib, err := Open(k.Library)
		if err != nil {
			return Loaded{}, fmt.Errorf("%s: %w", k.Package, err)
		}
		return k.bind(lib)
	})
}

// bind looks up the functions of a library.
func (k *Kind) bind(lib *dl.Library) (Loaded, error) {
	addresses, floats := make([]uintptr, len(k.Symbols)), make([]int, len(k.Symbols))
	for i, symbol := range k.Symbols {
		a, err := lib.Symbol(symbol)
		if err != nil {
			needs := ""
			if k.Needs != "" {
				needs = k.Needs + " is needed: "
			}
			return Loaded{}, fmt.Errorf("%s: %sthe library is too old: %w", k.Package, needs, err)
		}
		addresses[i], floats[i] = a, k.Floats[i]
	}
	return k.With(lib.Name(), func(number int, before Before, args []uintptr) int32 {
		if n := floats[number]; n > 0 {
			return int32(dl.CallFloats(before, addresses[number], n, args...))
		}
		return int32(dl.CallAfter(before, addresses[number], args...))
	}), nil
}

// With returns the library with the given functions, for tests.
func (k *Kind) With(path string, call Functions) Loaded { return Loaded{path, k, call} }

// Status calls a function by its number among the symbols and returns its status.
func (l Loaded) Status(number int, before Before, args []uintptr) int32 {
	return l.call(number, before, args)
}

// Call is Status, except that it returns a status other than 0 as an error.
func (l Loaded) Call(number int, before Before, args []uintptr) error {
	if s := l.call(number, before, args); s != 0 {
		return l.kind.Failed(l.kind.Symbols[number], s)
	}
	return nil
}

// StatusText returns the library's name for a status, such as "CUFFT_EXEC_FAILED": the prefix and
// the name, or if the status has no name, unknown and the number.
func StatusText[S ~int32](s S, names map[S]string, prefix, unknown string) string {
	if name, ok := names[s]; ok {
		return prefix + name
	}
	return fmt.Sprintf("%s(%d)", unknown, int32(s))
}
