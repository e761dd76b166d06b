//go:build !darwin && !linux && !windows

package dl

import "errors"

func open(string) (uintptr, error) {
	return 0, errors.New("shared libraries cannot be opened on this system")
}

func symbol(uintptr, string) (uintptr, error) { panic("BUG: no library can be open here") }

func syscallN(uintptr, []uintptr) uintptr { panic("BUG: no library can be open here") }

func callFloats(*Frame, int) uintptr { panic("BUG: no library can be open here") }

// Callback returns the address of a C function that calls f. The parameters of f must not be larger
// than a uintptr, and its result must be a uintptr. The C function and the memory that f refers to
// are never freed. A process can have a few thousand callbacks.
func Callback(any) uintptr { panic("BUG: no library can be open here") }
