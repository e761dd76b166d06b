package dl

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// open looks for a bare name in the program's own folder, the system's and those that the program has added; never in
// the current folder nor in those of PATH, where others may have put a library of that name. One that is
// named by its path finds the libraries that it needs in its own folder too.
func open(name string) (uintptr, error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.Base(name) != name {
		path, err := filepath.Abs(name)
		if err != nil {
			return 0, err
		}
		name, flags = path, flags|windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
	}
	h, err := windows.LoadLibraryEx(name, 0, flags)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}

func syscallN(address uintptr, args []uintptr) uintptr {
	r, _, _ := syscall.SyscallN(address, args...)
	return r
}

// callFloats passes floating-point numbers in their places among the arguments: the system call copies the first
// four to both kinds of registers.
func callFloats(f *Frame, floats int) uintptr {
	args := append([]uintptr(nil), f.Args[:f.N]...)
	for _, bits := range f.Floats[:floats] {
		args = append(args, uintptr(bits))
	}
	return syscallN(f.Function, args)
}

// Callback returns the address of a C function that calls f, whose parameters are of the size of
// a uintptr or smaller and whose result is a uintptr. It is never freed, nor is what f holds: a
// process can have some thousands.
func Callback(f any) uintptr { return syscall.NewCallback(f) }
