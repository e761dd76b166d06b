//go:build !darwin && !linux && !windows

package dl

import "errors"

func open(string) (uintptr, error) {
	return 0, errors.New("shared libraries cannot be opened on this system")
}

func symbol(uintptr, string) (uintptr, error) { panic("BUG: no library can be open here") }

func syscallN(uintptr, []uintptr) uintptr { panic("BUG: no library can be open here") }

func callFloats(*Frame, int) uintptr { panic("BUG: no library can be open here") }

// Callback returns the address of a C function that calls f, whose parameters are of the size of
// a uintptr or smaller and whose result is a uintptr. It is never freed, nor is what f holds: a
// process can have some thousands.
func Callback(any) uintptr { panic("BUG: no library can be open here") }
