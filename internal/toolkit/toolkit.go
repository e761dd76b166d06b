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

// ErrNotFound matches the error of Open if the library is not found.
var ErrNotFound = errors.New("library not found")

// Library describes a library to find.
type Library struct {
	Name    string   // readable name: "cuBLAS"
	Unix    []string // file names, the best first
	Windows []string
	Wheels  []string // folders of a Python environment's site-packages/nvidia that may contain it
	Get     string   // how to get it: "to install it: pip install nvidia-cublas"
}

// NotFound is the error for a library that was not found or cannot be loaded. It matches
// ErrNotFound.
type NotFound struct {
	Library string
	Names   []string
	Where   []string // the folders that were searched, besides those of the system's loader
	Said    []string // the loader's messages for files that exist
	Get     string
}

// Error describes which library was not found, where Open looked, and what to install.
func (e *NotFound) Error() string {
	s := fmt.Sprintf("%s: %v: the system's loader does not find %s, and it is not in %s",
		e.Library, ErrNotFound, strings.Join(e.Names, " or "), strings.Join(e.Where, ", "))
	for _, said := range e.Said {
		s += "; " + said
	}
	return s + "; " + e.Get
}

// Is reports whether target is ErrNotFound.
func (e *NotFound) Is(target error) bool { return target == ErrNotFound }

// Open opens the first library that it finds, first through the system's loader, then in the usual
// folders of toolkits and Python environments. The library stays open.
func Open(l Library) (*dl.Library, error) { return here().find(l) }

// machine is the package's access to the system. Tests replace it.
type machine struct {
	os     string // runtime.GOOS
	getenv func(name string) string
	glob   func(pattern string) []string
	real   func(path string) string // with links resolved, or ""
	open   func(name string) (*dl.Library, error)
}

func here() machine {
	return machine{
		os: runtime.GOOS, getenv: os.Getenv,
		glob: func(pattern string) []string {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				return nil // the value of an environment variable may not be a pattern
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
		missing.Get = "NVIDIA does not provide it for " + m.os
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

// openIn opens the first of the names in the folders that match a pattern, or returns the loader's
// messages for those that exist.
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

// latest sorts paths that differ in a version, the latest version first.
func latest(paths []string) []string {
	slices.Sort(paths)
	slices.Reverse(paths)
	return paths
}
