package tensor

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// npyEnding ends the names of the files in a .npz file.
const npyEnding = ".npy"

// WriteNPZ waits for tensors and writes them in the format of NumPy's savez. The keys of list are the names of the tensors. Errors are those
// of WriteNPY.
func WriteNPZ(ctx context.Context, w io.Writer, list map[string]*Tensor) error {
	archive := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name + npyEnding, Method: zip.Store})
		if err != nil {
			return err
		}
		if err := WriteNPY(ctx, file, list[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return archive.Close()
}

// ReadNPZ reads the tensors of a file in the format of NumPy's savez or savez_compressed. The argument size is the length of the file in
// bytes. The element types must be in Element. Errors wrap ErrFormat, ErrDType or ErrShape, or are errors of r. A small file can contain
// large tensors, because savez_compressed compresses them.
func ReadNPZ(s *Scope, r io.ReaderAt, size int64) (map[string]*Tensor, error) {
	const op = "ReadNPZ"
	if err := s.check(op); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, mistake(op, fmt.Errorf("%w: %w", ErrFormat, err))
	}
	list := map[string]*Tensor{}
	for _, file := range archive.File {
		name := strings.TrimSuffix(file.Name, npyEnding)
		if list[name] != nil {
			return nil, mistake(op, fmt.Errorf("%w: two tensors have the name %.100q", ErrFormat, name))
		}
		if list[name], err = s.readEntry(file); err != nil {
			return nil, mistake(op, fmt.Errorf("%.100q: %w", name, err))
		}
	}
	return list, nil
}

// readEntry reads a file of an archive to its end, where the reader compares the checksum.
func (s *Scope) readEntry(file *zip.File) (*Tensor, error) {
	r, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer r.Close()
	t, err := s.readNPY(r)
	if err != nil {
		return nil, err
	}
	if t.err != nil {
		return nil, t.err
	}
	if n, err := io.Copy(io.Discard, r); n > 0 || err != nil {
		return nil, fmt.Errorf("%w: %d bytes after the elements (%v)", ErrFormat, n, err)
	}
	return t, nil
}
