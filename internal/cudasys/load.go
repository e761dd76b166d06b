package cudasys

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Errors of Load; match them with errors.Is.
var (
	ErrNoDriver  = errors.New("no NVIDIA driver was found")
	ErrOldDriver = errors.New("the NVIDIA driver is too old")
)

// Load opens the driver's library and finds all functions in it, once: a process has one driver.
// It does not initialise it.
func Load() (*Driver, error) { return theDriver() }

// theDriver is the process's, or why it has none.
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

// loader is an operating system as far as the driver is looked for on it.
type loader struct {
	goos string
	open func(names ...string) (name string, symbols lookup, err error) // the first of the names that is there
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

// LibraryNames returns the names under which the driver's library is looked for, the usual
// one first; none where NVIDIA has no driver. The directories are those of WSL and NixOS,
// which the loader does not search. The toolkit's stub is called libcuda.so, so that name is
// not among them.
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

// bind fills a Driver with the functions that lookup finds.
func bind(find lookup) (*Driver, error) {
	d := new(Driver)
	for _, f := range functions {
		a, err := find(f.symbol)
		if err != nil {
			return nil, fmt.Errorf("%w: it lacks %s: %w", ErrOldDriver, f.symbol, err)
		}
		f.bind(d, address(a))
	}
	return d, nil
}
