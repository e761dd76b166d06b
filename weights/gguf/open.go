package gguf

import (
	"errors"
	"io"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Open opens a file and reads its header. If the file is part of a model that is split into several files, Open opens all of them. The
// metadata is that of the first file, without the entries about the split. The errors match weights.ErrFormat for an invalid file and
// weights.ErrPickle for a pickle.
func Open(name string) (*weights.File, error) {
	s, err := weights.OpenSource(name)
	if err != nil {
		return nil, err
	}
	f, err := parse(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return openSplit(f, name)
}

// NewReader reads the header of the file in r. The argument size is the length of the file in bytes. The file must not be part of a split
// model. Tensors are read from r on demand.
func NewReader(r io.ReaderAt, size int64) (*weights.File, error) {
	f, err := parse(weights.NewSource("GGUF", r, size))
	if err != nil {
		return nil, err
	}
	p, err := partOf(f.Metadata)
	if err == nil && p.count > 1 {
		err = p.errorf("has to be opened by its name")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}
