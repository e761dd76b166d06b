package toolkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// ErrNotFound matches the error of Open where there is no such library.
var ErrNotFound = errors.New("library not found")

// Library says what to look for.
type Library struct {
	Name    string   // as people call it: "cuBLAS"
	Unix    []string // file names, the best first
	Windows []string
	Wheels  []string // folders of a Python environment's site-packages/nvidia that may have it
	Get     string   // how to get it: "pip install nvidia-cublas"
}

// NotFound says that a library is not there, or cannot be used. It matches ErrNotFound.
type NotFound struct {
	Library string
	Names   []string
	Where   []string // what was looked into, besides the folders of the system's loader
	Said    []string // what the loader said of files that are there
	Get     string
}

// Error says what was looked for, where, and how to get it.
func (e *NotFound) Error() string {
	s := fmt.Sprintf("%s: %v: %s is neither where the system's loader looks nor in %s",
		e.Library, ErrNotFound, strings.Join(e.Names, " or "), strings.Join(e.Where, ", "))
	for _, said := range e.Said {
		s += "; " + said
	}
	return s + "; get it with: " + e.Get
}

// Is reports whether target is ErrNotFound.
func (e *NotFound) Is(target error) bool { return target == ErrNotFound }

// Open opens the library that is found first: where the loader looks, then in the folders that
// Folders returns. A library stays open.
func Open(l Library) (*dl.Library, error) { return here().find(l) }

// machine is what the package asks of the system. Tests put others in its place.
type machine struct {
	os     string // runtime.GOOS
	getenv func(name string) string
	glob   func(pattern string) []string
	real   func(path string) string // with links followed, or ""
	open   func(name string) (*dl.Library, error)
}

func here() machine {
	return machine{
		os: runtime.GOOS, getenv: os.Getenv,
		glob: func(pattern string) []string {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				return nil // a variable of the environment is no pattern
			}
			return paths
		},
		real: func(path string) string {
			p, err := filepath.EvalSymlinks(path)
			if err != nil {
				return ""
			}
			return p
		},
		open: func(name string) (*dl.Library, error) { return dl.Open(name) },
	}
}

func (m machine) names(l Library) []string {
	if m.os == "windows" {
		return l.Windows
	}
	return l.Unix
}

func (m machine) find(l Library) (*dl.Library, error) {
	names := m.names(l)
	missing := &NotFound{Library: l.Name, Names: names, Get: l.Get}
	places := m.places(l)
	for _, p := range places {
		missing.Where = append(missing.Where, p.said)
	}
	if m.os == "darwin" || len(names) == 0 {
		missing.Get = "nothing: NVIDIA does not make it for " + m.os
		return nil, missing
	}
	for _, name := range names {
		if lib, err := m.open(name); err == nil {
			return lib, nil
		}
	}
	for _, p := range places {
		for _, folder := range p.patterns {
			lib, said := m.openIn(folder, names)
			if lib != nil {
				return lib, nil
			}
			missing.Said = append(missing.Said, said...)
		}
	}
	return nil, missing
}

// openIn opens the first of the names in folders of a pattern, or returns what the loader said of
// those that are there.
func (m machine) openIn(folder string, names []string) (lib *dl.Library, said []string) {
	for _, name := range names {
		for _, path := range latest(m.glob(filepath.Join(folder, name))) {
			lib, err := m.open(path)
			if err == nil {
				return lib, nil
			}
			said = append(said, err.Error())
		}
	}
	return nil, said
}

// latest sorts paths that differ in a version, the latest first.
func latest(paths []string) []string {
	slices.Sort(paths)
	slices.Reverse(paths)
	return paths
}
