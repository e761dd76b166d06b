package cudasys

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Errors of Load. Match them with errors.Is.
var (
	ErrNoDriver  = errors.New("no NVIDIA driver was found")
	ErrOldDriver = errors.New("the NVIDIA driver is too old")
)

// Load opens the driver's library and looks up all functions, once in a process. It does not
// initialize the driver.
func Load() (*Driver, error) { return theDriver() }

// theDriver returns the driver of the process, or the error of loading it.
var theDriver = sync.OnceValues(load)

func load() (*Driver, error) {
	return loader{runtime.GOOS, func(names ...string) (string, lookup, error) {
		lib, err := dl.Open(names...)
		if err != nil {
			return "", nil, err
		}
		return lib.Name(), lib.Symbol, nil
	}}.load()
}

// lookup returns the address of a function of a library.
type lookup func(symbol string) (uintptr, error)

// loader is the part of an operating system that Load depends on.
type loader struct {
	goos string
	open func(names ...string) (name string, symbols lookup, err error) // opens the first of the names that exists
}

func (l loader) load() (*Driver, error) {
	name, symbols, err := l.open(LibraryNames(l.goos)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	d, err := bind(symbols)
	if err != nil {
		return nil, err
	}
	d.Library = name
	return d, nil
}

// LibraryNames returns the names of the driver's library, the usual one first, or none if NVIDIA
// has no driver for the system. The directories are those of WSL and NixOS, which the loader does
// not search. The name libcuda.so is not among them, because it is the name of the toolkit's stub.
func LibraryNames(goos string) []string {
	switch goos {
	case "linux":
		return []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"}
	case "windows":
		return []string{"nvcuda.dll"}
	default:
		return nil
	}
}

// bind fills a Driver with the functions that find returns.
func bind(find lookup) (*Driver, error) {
	d := new(Driver)
	for _, f := range functions {
		a, err := find(f.symbol)
		if err != nil {
			return nil, fmt.Errorf("%w: it lacks %s: %w", ErrOldDriver, f.symbol, err)
		}
		f.bind(d, address(a))
	}
	for _, f := range newer {
		if a, err := find(f.symbol); err == nil {
			f.bind(d, address(a))
		}
	}
	return d, nil
}
