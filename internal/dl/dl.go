package dl

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of Open and Symbol. Match them with errors.Is.
var (
	ErrNotFound = errors.New("library not found")
	ErrSymbol   = errors.New("symbol missing")
)

// Library is an open shared library. It stays open until the process ends, because drivers do not
// survive being unloaded. Opening a library twice costs nothing.
type Library struct {
	name   string
	handle uintptr
	system system
}

// system is the operating system's loader. The files of this package implement it for each system.
type system struct {
	open   func(name string) (handle uintptr, err error)
	symbol func(handle uintptr, name string) (address uintptr, err error)
}

// Open opens the first of the named libraries that the system's loader finds. The loader searches
// its own directories for a name without a directory. The error contains the loader's message for
// each name.
func Open(names ...string) (*Library, error) { return system{open, symbol}.find(names) }

func (s system) find(names []string) (*Library, error) {
	var said []string
	for _, name := range names {
		handle, err := s.open(name)
		if err == nil {
			return &Library{name, handle, s}, nil
		}
		said = append(said, loaderText(name, err))
	}
	return nil, fmt.Errorf("%w: %s", ErrNotFound, strings.Join(said, "; "))
}

// loaderText returns the loader's message, with the name of the library, which some systems leave
// out.
func loaderText(name string, err error) string {
	if text := err.Error(); strings.Contains(text, name) {
		return text
	}
	return fmt.Sprintf("%s: %v", name, err)
}

// Name returns the name under which the library was found.
func (l *Library) Name() string { return l.name }

// Symbol returns the address of a function that the library exports.
func (l *Library) Symbol(name string) (uintptr, error) {
	address, err := l.system.symbol(l.handle, name)
	if err != nil || address == 0 {
		return 0, fmt.Errorf("%s: %w: %s", l.name, ErrSymbol, name)
	}
	return address, nil
}
