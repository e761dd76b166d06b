package toolkit

import (
	"fmt"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Before is the call that makes a context current (see cuda.Each), or none.
type Before = dl.Before

// Functions calls functions of a library by their number in a table of symbols, and returns their
// status, after a call that makes a context current, or none. A test can put another in its place.
//
// Lifetimes: args lie on the heap, in an object of the caller, so that a call allocates nothing;
// what they point to does too, and is kept alive by the caller.
type Functions func(number int, before Before, args []uintptr) int32

// Kind is a library as the package that calls it knows it.
type Kind struct {
	Library
	Package string   // the package, for errors: "cublas"
	Symbols []string // the functions that it calls; the library must have all of them
	Needs   string   // the version since which it has them: "2.23"; may be empty
	// Floats says how many of the last arguments of a function are floating-point numbers, by its number: their
	// bits are the arguments. Others have none.
	Floats map[int]int
	// Failed returns the package's error of a call with a status that is not 0.
	Failed func(symbol string, status int32) error
}

// Loaded is a library that is open.
type Loaded struct {
	Path string // where it was found
	kind *Kind
	call Functions
}

// Lazy returns a function that opens the library at its first call. The library stays open.
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

// Call is Status that returns what is not 0 as an error.
func (l Loaded) Call(number int, before Before, args []uintptr) error {
	if s := l.call(number, before, args); s != 0 {
		return l.kind.Failed(l.kind.Symbols[number], s)
	}
	return nil
}

// StatusText returns the library's own name of a status, "CUFFT_EXEC_FAILED": the prefix and the name, or
// unknown and the number.
func StatusText[S ~int32](s S, names map[S]string, prefix, unknown string) string {
	if name, ok := names[s]; ok {
		return prefix + name
	}
	return fmt.Sprintf("%s(%d)", unknown, int32(s))
}
