//go:build darwin || linux

package dl

import "github.com/ebitengine/purego"

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

func syscallN(address uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(address, args...)
	return r
}
