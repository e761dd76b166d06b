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
