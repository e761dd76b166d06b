//go:build !darwin && !linux && !windows

package dl

import "errors"

func open(string) (uintptr, error) {
	return 0, errors.New("shared libraries cannot be opened on this system")
}

func symbol(uintptr, string) (uintptr, error) { panic("BUG: no library can be open here") }

func syscallN(uintptr, []uintptr) uintptr { panic("BUG: no library can be open here") }
