//go:build darwin || linux

package dl

import "github.com/ebitengine/purego"

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// Callback returns the address of a C function that calls f, whose parameters are of the size of
// a uintptr or smaller and whose result is a uintptr. It is never freed, nor is what f holds: a
// process can have some thousands.
func Callback(f any) uintptr { return purego.NewCallback(f) }
