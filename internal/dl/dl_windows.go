package dl

import "syscall"

func open(name string) (uintptr, error) {
	h, err := syscall.LoadLibrary(name)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}

func syscallN(address uintptr, args []uintptr) uintptr {
	r, _, _ := syscall.SyscallN(address, args...)
	return r
}

// Callback returns the address of a C function that calls f, whose parameters are of the size of
// a uintptr or smaller and whose result is a uintptr. It is never freed, nor is what f holds: a
// process can have some thousands.
func Callback(f any) uintptr { return syscall.NewCallback(f) }
