package weights

import (
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Tensor is a tensor in a File. Its methods may be called from several goroutines.
type Tensor struct {
	spec   Spec
	n      int // elements
	size   int // bytes
	from   *Source
	offset int64
}

// NewTensor returns a tensor that a program can write to a file. The elements are read from the start of data.
func NewTensor(spec Spec, data io.ReaderAt) (*Tensor, error) {
	size, err := spec.Size()
	if err != nil {
		return nil, err
	}
	return NewSource("tensor "+spec.Name, data, int64(size)).Tensor(spec, 0)
}

// Name returns the name of the tensor.
func (t *Tensor) Name() string { return t.spec.Name }

// Type returns the type of the elements.
func (t *Tensor) Type() Type { return t.spec.Type }

// Shape returns a copy of the shape, outermost dimension first.
func (t *Tensor) Shape() []int { return slices.Clone(t.spec.Shape) }

// Len returns the number of elements.
func (t *Tensor) Len() int { return t.n }

// Size returns the size of the data in bytes.
func (t *Tensor) Size() int { return t.size }

// Range returns the name of the file that has the data, and the offsets of the first byte and of the byte after the last.
func (t *Tensor) Range() (file string, begin, end int64) {
	return t.from.name, t.offset, t.offset + int64(t.size)
}

// ReadAt implements io.ReaderAt on the data. It reads from the file into p, even if the file is mapped. If the file has become shorter, the error
// matches ErrTruncated.
func (t *Tensor) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(t.size) {
		return 0, fmt.Errorf("weights: tensor %q: read at %d of %d bytes", t.spec.Name, off, t.size)
	}
	rest := int64(t.size) - off
	n, err := t.from.ReadAt(p[:min(int64(len(p)), rest)], t.offset+off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Mapped reports whether the file is mapped, so that Bytes returns its memory.
func (t *Tensor) Mapped() bool { return t.from.mapped != nil }

// Bytes returns the data. If the file is mapped, the result is the file's memory, which is valid until the File is closed, must not be written, and
// should be read within File.Guard. Otherwise, Bytes reads the data into new memory.
func (t *Tensor) Bytes() ([]byte, error) {
	if m := t.from.mapped; m != nil {
		return m[t.offset : t.offset+int64(t.size) : t.offset+int64(t.size)], nil
	}
	b := make([]byte, t.size)
	if _, err := t.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.spec.Name, err)
	}
	return b, nil
}

// Values returns the elements as a []T, where T is the Go type of the tensor's elements, such as float32 for F32. If T is another type, the
// error matches ErrType. Like Bytes, Values returns the file's memory if the file is mapped, provided that the data is aligned for T.
// Values requires a little-endian processor.
func Values[T any](t *Tensor) ([]T, error) {
	want := t.spec.Type.DType()
	if got, ok := dtype.Of[T](); !ok || got != want || want == dtype.Invalid {
		return nil, fmt.Errorf("%w: tensor %q is of type %s", ErrType, t.spec.Name, t.spec.Type)
	}
	b, err := t.Bytes()
	if err != nil || len(b) == 0 {
		return nil, err
	}
	var zero T
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(zero) == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), t.n), nil
	}
	values := make([]T, t.n)
	copied := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), t.size)
	if _, err := t.ReadAt(copied, 0); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.spec.Name, err)
	}
	return values, nil
}
