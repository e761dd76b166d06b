package dl

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// open searches for a name without a path in the folder of the program, in the system's folders and
// in those that the program has added. It never searches the current folder or PATH, where others
// may have put a library with that name. A library that is named by its path finds the libraries
// that it depends on in its own folder too.
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

// callFloats passes floating-point numbers at their positions among the arguments: the system call
// copies the first four to both kinds of registers.
func callFloats(f *Frame, floats int) uintptr {
	args := append([]uintptr(nil), f.Args[:f.N]...)
	for _, bits := range f.Floats[:floats] {
		args = append(args, uintptr(bits))
	}
	return syscallN(f.Function, args)
}

// Callback returns the address of a C function that calls f. The parameters of f must not be larger
// than a uintptr, and its result must be a uintptr. The C function and the memory that f refers to
// are never freed. A process can have a few thousand callbacks.
func Callback(f any) uintptr { return syscall.NewCallback(f) }
