package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

const (
	// format is the name of the format.
	format = "safetensors"
	// lengthSize is the size of the header's length in bytes, and maxHeader the greatest length, which is that of the reference
	// implementation.
	lengthSize = 8
	maxHeader  = 100_000_000
)

// Open opens a file and reads its header. If the name ends with ".json", the file is an index, and Open opens all files of the index. The
// errors match weights.ErrFormat for an invalid file and weights.ErrPickle for a pickle.
func Open(name string) (*weights.File, error) {
	if strings.HasSuffix(name, ".json") {
		return openIndex(name)
	}
	return openFile(name)
}

// openFile opens one file.
func openFile(name string) (*weights.File, error) {
	s, err := weights.OpenSource(name)
	if err != nil {
		return nil, err
	}
	f, err := parse(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return f, nil
}

// NewReader reads the header of the file in r. The argument size is the length of the file in bytes. Tensors are read from r on demand.
func NewReader(r io.ReaderAt, size int64) (*weights.File, error) {
	return parse(weights.NewSource(format, r, size))
}

// parse reads the contents of one file.
func parse(s *weights.Source) (*weights.File, error) {
	f, err := parseContents(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	return f, nil
}

func parseContents(s *weights.Source) (*weights.File, error) {
	text, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	c := weights.Contents{Format: format, Metadata: h.metadata, Sources: []*weights.Source{s}}
	begin := lengthSize + int64(len(text))
	if c.Tensors, err = h.place(s, begin); err != nil {
		return nil, err
	}
	return weights.New(c)
}

// readHeader returns the JSON text of the header.
func readHeader(s *weights.Source) ([]byte, error) {
	if s.Size() < lengthSize {
		return nil, fmt.Errorf("%w: it has %d bytes", weights.ErrFormat, s.Size())
	}
	var b [lengthSize]byte
	if _, err := s.ReadAt(b[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(b[:])
	if n > maxHeader || n > uint64(s.Size()-lengthSize) {
		if err := weights.CheckPickle(s); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: not a safetensors file: the length of its header is %d, of %d bytes", weights.ErrFormat, n, s.Size())
	}
	text := make([]byte, n)
	_, err := s.ReadAt(text, lengthSize)
	return text, err
}

// place returns the tensors at their offsets in the file. They fill the rest of the file without holes, so that nothing can hide there.
func (h *header) place(s *weights.Source, begin int64) ([]*weights.Tensor, error) {
	slices.SortStableFunc(h.tensors, func(a, b tensorInfo) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	tensors := make([]*weights.Tensor, 0, len(h.tensors))
	end := uint64(0)
	for _, t := range h.tensors {
		size, err := t.spec.Size()
		switch {
		case err != nil:
			return nil, err
		case t.from != end:
			return nil, fmt.Errorf("%w: tensor %q begins at offset %d, and the one before ends at %d", weights.ErrFormat, t.spec.Name, t.from, end)
		case uint64(size) != t.to-t.from:
			return nil, fmt.Errorf("%w: tensor %q has %d bytes for %d of type %s and shape %v", weights.ErrFormat, t.spec.Name, t.to-t.from, size, t.spec.Type, t.spec.Shape)
		case t.to > uint64(s.Size()-begin):
			return nil, fmt.Errorf("%w: tensor %q ends at offset %d of %d", weights.ErrFormat, t.spec.Name, t.to, s.Size()-begin)
		}
		placed, err := s.Tensor(t.spec, begin+int64(t.from))
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, placed)
		end = t.to
	}
	if end != uint64(s.Size()-begin) {
		return nil, fmt.Errorf("%w: its tensors end at offset %d of %d", weights.ErrFormat, end, s.Size()-begin)
	}
	return tensors, nil
}
