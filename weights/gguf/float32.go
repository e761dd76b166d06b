package gguf

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Float32 returns t as a tensor of type F32. A read of a part of the result dequantizes only the corresponding part of t. Thus a program that
// writes the result to a file needs little memory. For types that Dequantize does not support, the error matches errors.ErrUnsupported.
func Float32(t *weights.Tensor) (*weights.Tensor, error) {
	if err := Dequantize(t.Type(), nil, nil); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name(), err)
	}
	return weights.NewTensor(weights.Spec{Name: t.Name(), Type: weights.F32, Shape: t.Shape()}, floats{t})
}

// floats reads the elements of a tensor as float32 numbers.
type floats struct{ t *weights.Tensor }

// ReadAt implements io.ReaderAt.
func (f floats) ReadAt(p []byte, off int64) (int, error) {
	total := int64(f.t.Len()) * 4
	if off < 0 || off > total {
		return 0, errors.New("gguf: read outside a tensor")
	}
	elements, size := f.t.Type().Block()
	want := min(int64(len(p)), total-off)
	first := off / 4 / int64(elements)
	last := (off + want + int64(elements)*4 - 1) / (int64(elements) * 4) // the block after the last
	data := make([]byte, (last-first)*int64(size))
	if _, err := f.t.ReadAt(data, first*int64(size)); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	values := make([]float32, (last-first)*int64(elements))
	if err := Dequantize(f.t.Type(), values, data); err != nil {
		return 0, err
	}
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*4)
	n := copy(p, memory[off-first*int64(elements)*4:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
