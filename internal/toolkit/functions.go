package toolkit

import (
	"fmt"

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

// Load opens a library and returns the functions of it that a table names, and its path. All must be there.
func Load(l Library, symbols []string) (call Functions, path string, err error) {
	lib, err := Open(l)
	if err != nil {
		return nil, "", err
	}
	if call, err = Bind(lib, symbols); err != nil {
		return nil, "", err
	}
	return call, lib.Name(), nil
}

// Bind returns the functions of a library that a table names. All must be there.
func Bind(lib *dl.Library, symbols []string) (Functions, error) {
	addresses := make([]uintptr, len(symbols))
	for i, symbol := range symbols {
		a, err := lib.Symbol(symbol)
		if err != nil {
			return nil, fmt.Errorf("the library is too old: %w", err)
		}
		addresses[i] = a
	}
	return func(number int, before Before, args []uintptr) int32 {
		return int32(dl.CallAfter(before, addresses[number], args...))
	}, nil
}
