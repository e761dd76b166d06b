package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Save writes f to a file, atomically (see weights.Save). Save reads the tensors in parts, so f may be larger than memory. If a metadata
// value is not a string, or if the format lacks the type of a tensor, the error matches weights.ErrType.
//
// Save sorts the tensors by the size of their elements, largest first, so that all tensors are aligned. Tensors with elements of the same
// size keep the order of f.
func Save(name string, f *weights.File) error {
	return weights.Save(name, func(w io.Writer) error { return Write(w, f) })
}

// Write is like Save, but writes to w.
func Write(w io.Writer, f *weights.File) error {
	tensors := slices.SortedStableFunc(slices.Values(f.Tensors), func(a, b *weights.Tensor) int {
		return cmp.Compare(alignment(b.Type()), alignment(a.Type()))
	})
	text, err := encodeHeader(f.Metadata, tensors)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := io.Copy(w, io.NewSectionReader(t, 0, int64(t.Size()))); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name(), err)
		}
	}
	return nil
}

// alignment returns the alignment of an element in bytes: its size, if that is a power of two.
func alignment(t weights.Type) int {
	elements, size := t.Block()
	if elements > 1 {
		return 1
	}
	return size
}

// encodeHeader returns the header, padded with spaces so that the data begins at a multiple of 8 bytes.
func encodeHeader(m weights.Metadata, tensors []*weights.Tensor) ([]byte, error) {
	b := &bytes.Buffer{}
	b.WriteByte('{')
	if len(m) > 0 {
		if err := encodeMetadata(b, m); err != nil {
			return nil, err
		}
	}
	offset := 0
	for _, t := range tensors {
		if err := encodeTensor(b, t, offset); err != nil {
			return nil, err
		}
		offset += t.Size()
	}
	b.WriteByte('}')
	for b.Len()%lengthSize != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > maxHeader {
		return nil, fmt.Errorf("%w: its header would have %d bytes", weights.ErrFormat, b.Len())
	}
	return b.Bytes(), nil
}

// encodeMetadata writes the entries as an object of strings.
func encodeMetadata(b *bytes.Buffer, m weights.Metadata) error {
	if err := encodeKey(b, metadataKey); err != nil {
		return err
	}
	b.WriteByte('{')
	for i, e := range m {
		text, ok := e.Value.(string)
		if !ok {
			return fmt.Errorf("%w: the value of metadata key %q is of type %T, and safetensors has strings", weights.ErrType, e.Key, e.Value)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeString(b, e.Key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := encodeString(b, text); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// encodeTensor writes the description of a tensor.
func encodeTensor(b *bytes.Buffer, t *weights.Tensor, offset int) error {
	if t.Name() == metadataKey || !isType(t.Type()) {
		return fmt.Errorf("%w: tensor %q of type %s cannot be in a safetensors file", weights.ErrType, t.Name(), t.Type())
	}
	if err := encodeKey(b, t.Name()); err != nil {
		return err
	}
	shape, err := json.Marshal(append([]int{}, t.Shape()...))
	if err != nil {
		return err
	}
	fmt.Fprintf(b, `{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.Type(), shape, offset, offset+t.Size())
	return nil
}

// encodeKey writes a key of the header, after a comma unless it is the first.
func encodeKey(b *bytes.Buffer, key string) error {
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	if err := encodeString(b, key); err != nil {
		return err
	}
	b.WriteByte(':')
	return nil
}

// encodeString writes a JSON string.
func encodeString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %q is not UTF-8", weights.ErrFormat, s)
	}
	text, err := json.Marshal(s)
	b.Write(text)
	return err
}
