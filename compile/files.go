package compile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
)

// File is a generated file.
type File struct {
	Name     string // the absolute path
	Contents []byte // nil if the file must not exist
	Place    Place
}

// Place specifies whether a generated file belongs in the source tree, in programs that are built with an Overlay, or
// in both. The Place matters only if a package's code is generated on demand (//gpu:ondemand).
type Place string

// The places of a File.
const (
	Everywhere Place = ""
	SourceTree Place = "tree"    // only on disk, beside the kernels
	BuiltOnly  Place = "program" // only in programs that are built with an Overlay
)

// Stale returns the generated files of the source tree that differ from the files on disk, sorted
// by name.
func (r *Result) Stale() []File { return r.differing(BuiltOnly) }

// differing returns the files that differ from what is on disk, except those of one place, sorted by name.
func (r *Result) differing(except Place) []File {
	var stale []File
	for _, p := range r.Packages {
		for _, f := range p.Files {
			if f.Place == except {
				continue
			}
			if old, err := os.ReadFile(f.Name); f.differs(old, err) {
				stale = append(stale, f)
			}
		}
	}
	slices.SortFunc(stale, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return stale
}

func (f File) differs(old []byte, err error) bool {
	if f.Contents == nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return err != nil || !bytes.Equal(old, f.Contents)
}

// Verb describes the effect of Write: "wrote" or "removed".
func (f File) Verb() string {
	if f.Contents == nil {
		return "removed"
	}
	return "wrote"
}

// Write writes the file, or removes it if it must not exist. It replaces the file atomically, so
// that a go command that runs concurrently never reads part of it.
func (f File) Write() error {
	if f.Contents == nil {
		return f.remove()
	}
	if err := os.MkdirAll(filepath.Dir(f.Name), 0o777); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.Name), ".gopherwarp-*")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: f.Name, Err: e.Err} // the temporary file's name says nothing to users
	}
	if err != nil {
		return err
	}
	_, err = temporary.Write(f.Contents)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), f.Name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// remove removes the file, and a folder of vector code with its last file.
func (f File) remove() error {
	if err := os.Remove(f.Name); err != nil {
		return err
	}
	folder := filepath.Dir(f.Name)
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 || filepath.Base(folder) != load.Vectors {
		return err
	}
	return os.Remove(folder)
}

// leftovers returns the removal of generated files in dir that are not among the wanted ones.
func leftovers(dir string, wanted []File) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if filepath.Base(dir) != load.Vectors && !load.IsGenerated(e.Name()) {
			continue
		}
		if slices.ContainsFunc(wanted, func(f File) bool { return f.Name == name && f.Place != BuiltOnly }) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, []byte(launcher.Header)) {
			place := Everywhere
			if slices.ContainsFunc(wanted, func(f File) bool { return f.Name == name }) {
				place = SourceTree
			}
			files = append(files, File{Name: name, Place: place})
		}
	}
	return files, nil
}
