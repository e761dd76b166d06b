package weights

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Contents are the parts of a File.
type Contents struct {
	// Format is the name of the file's format with its version, such as "GGUF 3". It is usually empty for a File that was made in memory.
	Format   string
	Metadata Metadata
	// Tensors are the tensors, in the order of their data, file by file.
	Tensors []*Tensor
	// Sources are the open files, which the File closes.
	Sources []*Source
}

// A File is a set of tensors with metadata, from one file or from several files that belong together. Its contents must not be changed.
type File struct {
	Contents
	named map[string]*Tensor
}

// New returns a File. If two tensors have the same name or overlap in a source, or two entries have the same key, the error matches
// ErrFormat.
func New(c Contents) (*File, error) {
	f := &File{Contents: c, named: make(map[string]*Tensor, len(c.Tensors))}
	keys := make(map[string]bool, len(c.Metadata))
	for _, e := range c.Metadata {
		if keys[e.Key] {
			return nil, fmt.Errorf("%w: metadata key %q occurs twice", ErrFormat, e.Key)
		}
		keys[e.Key] = true
	}
	for _, t := range c.Tensors {
		if f.named[t.spec.Name] != nil {
			return nil, fmt.Errorf("%w: two tensors have the name %q", ErrFormat, t.spec.Name)
		}
		f.named[t.spec.Name] = t
	}
	if err := f.checkOverlaps(); err != nil {
		return nil, err
	}
	return f, nil
}

// ReadsFrom reports whether a path leads, perhaps through links, to one of the files that the tensors are read from, or to the folder of such
// a file. A program must not overwrite such a file, or replace such a folder.
func (f *File) ReadsFrom(path string) bool {
	at, err := os.Stat(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(f.Sources, func(s *Source) bool {
		file, err := os.Stat(s.name)
		folder, failed := os.Stat(filepath.Dir(s.name))
		return err == nil && os.SameFile(at, file) || failed == nil && os.SameFile(at, folder)
	})
}

// checkOverlaps reports whether two tensors share bytes.
func (f *File) checkOverlaps() error {
	last := map[*Source]*Tensor{}
	for _, t := range slices.SortedStableFunc(slices.Values(f.Tensors), byOffset) {
		if t.size == 0 {
			continue
		}
		if l := last[t.from]; l != nil && t.offset < l.offset+int64(l.size) {
			return fmt.Errorf("%w: tensors %q and %q overlap", ErrFormat, l.spec.Name, t.spec.Name)
		}
		last[t.from] = t
	}
	return nil
}

func byOffset(a, b *Tensor) int { return cmp.Compare(a.offset, b.offset) }

// Tensor returns the tensor with the given name. If there is none, the error matches ErrNotFound.
func (f *File) Tensor(name string) (*Tensor, error) {
	if t := f.named[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: tensor %q", ErrNotFound, name)
}

// Size returns the size of all tensors' data in bytes.
func (f *File) Size() int64 {
	n := int64(0)
	for _, t := range f.Tensors {
		n += int64(t.size)
	}
	return n
}

// Map maps the files into memory, so that Bytes returns the mapped memory instead of copies. Call Map before other goroutines use the File.
// If a source is not a file, or the system cannot map it, the error matches errors.ErrUnsupported.
func (f *File) Map() error {
	for _, s := range f.Sources {
		if err := s.mapMemory(); err != nil {
			return err
		}
	}
	return nil
}

// MapIfSupported is like Map, but it returns nil if a source cannot be mapped. Bytes then reads the sources that are not
// mapped.
func (f *File) MapIfSupported() error {
	if err := f.Map(); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Close closes the files and unmaps them. Memory that Bytes returned for a mapped file must not be used any more.
func (f *File) Close() error {
	var errs []error
	for _, s := range f.Sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
