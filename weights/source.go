package weights

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A Source is an open file, or another io.ReaderAt, from which tensors are read. Packages for file formats make Sources; programs use
// Files.
type Source struct {
	name   string
	r      io.ReaderAt
	size   int64
	file   *os.File // or nil
	mapped []byte   // or nil
}

// OpenSource opens a file, which must be a regular file.
func OpenSource(name string) (*Source, error) {
	info, err := os.Stat(name) // before Open, which would wait for the writer of a named pipe
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Source{name: name, r: file, size: info.Size(), file: file}, nil
}

// NewSource returns a source that reads from r. The argument size is the number of bytes in r. Errors contain the name.
func NewSource(name string, r io.ReaderAt, size int64) *Source {
	return &Source{name: name, r: r, size: size}
}

// Name returns the name of the file, or the name given to NewSource.
func (s *Source) Name() string { return s.name }

// Size returns the size in bytes at the time of opening.
func (s *Source) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt. If the file is shorter than Size, the error matches ErrTruncated.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, fmt.Errorf("weights: %s: read at %d of %d bytes", s.name, off, s.size)
	}
	want := p[:min(int64(len(p)), s.size-off)]
	n, err := s.r.ReadAt(want, off)
	switch {
	case n < len(want) && (err == nil || errors.Is(err, io.EOF)):
		return n, fmt.Errorf("%w: %s has %d bytes at %d, not %d", ErrTruncated, s.name, n, off, len(want))
	case n < len(want):
		return n, fmt.Errorf("weights: %w", err)
	case len(want) < len(p):
		return n, io.EOF
	}
	return n, nil
}

// Tensor returns the tensor that spec describes. The tensor's data begin at offset. If the data are not within the source, the error
// matches ErrFormat.
func (s *Source) Tensor(spec Spec, offset int64) (*Tensor, error) {
	size, err := spec.Size()
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > s.size || int64(size) > s.size-offset {
		return nil, fmt.Errorf("%w: tensor %q has %d bytes at offset %d of a file of %d bytes", ErrFormat, spec.Name, size, offset, s.size)
	}
	n, err := spec.Len()
	if err != nil {
		return nil, err
	}
	spec.Shape = append([]int(nil), spec.Shape...)
	return &Tensor{spec: spec, n: n, size: size, from: s, offset: offset}, nil
}

// mapMemory maps the file into memory.
func (s *Source) mapMemory() error {
	switch {
	case s.mapped != nil || s.size == 0:
		return nil
	case s.file == nil:
		return fmt.Errorf("weights: map %s: %w: not a file", s.name, errors.ErrUnsupported)
	case int64(int(s.size)) != s.size:
		return fmt.Errorf("weights: map %s: %w: %d bytes exceed the address space", s.name, errors.ErrUnsupported, s.size)
	}
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("weights: map: %w", err)
	}
	if info.Size() < s.size { // where mapping more than the file would extend it or fail
		return fmt.Errorf("%w: %s", ErrTruncated, s.name)
	}
	if s.mapped, err = mapFile(s.file, int(s.size)); err != nil {
		return fmt.Errorf("weights: map %s: %w", s.name, err)
	}
	return nil
}

// Close unmaps and closes the file. It does nothing for a source made by NewSource.
func (s *Source) Close() error {
	if s.file == nil {
		return nil
	}
	var err error
	if s.mapped != nil {
		err = unmapFile(s.mapped)
		s.mapped = nil
	}
	return errors.Join(err, s.file.Close())
}
