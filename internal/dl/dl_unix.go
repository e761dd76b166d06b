//go:build darwin || linux

package dl

import "github.com/ebitengine/purego"

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// Callback returns the address of a C function that calls f. The parameters of f must not be larger
// than a uintptr, and its result must be a uintptr. The C function and the memory that f refers to
// are never freed. A process can have a few thousand callbacks.
func Callback(f any) uintptr { return purego.NewCallback(f) }
