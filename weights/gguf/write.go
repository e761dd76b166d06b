package gguf

import (
	"fmt"
	"io"
	"slices"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Save writes f to a GGUF file of version 3, atomically (see weights.Save). Save reads the tensors in parts, so f may be larger than
// memory. If a tensor or a metadata value has a type that GGUF lacks, the error matches weights.ErrType.
func Save(name string, f *weights.File) error {
	return weights.Save(name, func(w io.Writer) error { return Write(w, f) })
}

// Write is like Save, but writes to w.
func Write(w io.Writer, f *weights.File) error {
	alignment, err := alignmentOf(f.Metadata)
	if err != nil {
		return err
	}
	e := &encoder{b: []byte(magic)}
	e.uint32(version)
	e.uint64(uint64(len(f.Tensors)))
	e.uint64(uint64(len(f.Metadata)))
	for _, entry := range f.Metadata {
		e.name("metadata key", entry.Key)
		e.typed(entry.Value)
	}
	offset := uint64(0)
	for _, t := range f.Tensors {
		e.tensor(t, offset)
		offset += align(uint64(t.Size()), alignment)
	}
	if len(e.b) > maxHeader {
		e.fail(weights.ErrFormat, "the header has %d bytes, and at most %d can be read", len(e.b), maxHeader)
	}
	if e.err != nil {
		return e.err
	}
	if _, err := w.Write(pad(e.b, alignment)); err != nil {
		return err
	}
	return writeData(w, f.Tensors, alignment)
}

// tensor appends the description of a tensor.
func (e *encoder) tensor(t *weights.Tensor, offset uint64) {
	number, ok := numberOf(t.Type())
	shape := t.Shape()
	if !ok {
		e.fail(weights.ErrType, "tensor %q is of type %s, which GGUF lacks", t.Name(), t.Type())
	}
	if len(shape) > maxDims {
		e.fail(weights.ErrFormat, "tensor %q has %d dimensions, and GGUF permits %d", t.Name(), len(shape), maxDims)
	}
	if e.err == nil {
		e.err = checkRows(weights.Spec{Name: t.Name(), Type: t.Type(), Shape: shape})
	}
	e.name("tensor name", t.Name())
	e.uint32(uint32(len(shape)))
	for _, n := range slices.Backward(shape) {
		e.uint64(uint64(n))
	}
	e.uint32(number)
	e.uint64(offset)
}

// numberOf returns the number of a type in files and reports whether there is one.
func numberOf(t weights.Type) (uint32, bool) {
	for number, known := range tensorTypes {
		if known == t {
			return number, true
		}
	}
	return 0, false
}

// pad appends zeros up to a multiple of the alignment.
func pad(b []byte, alignment uint64) []byte {
	n := uint64(len(b))
	return append(b, make([]byte, align(n, alignment)-n)...)
}

// writeData writes the data of tensors, each followed by zeros up to a multiple of the alignment.
func writeData(w io.Writer, tensors []*weights.Tensor, alignment uint64) error {
	for _, t := range tensors {
		n := uint64(t.Size())
		if _, err := io.Copy(w, io.NewSectionReader(t, 0, int64(n))); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name(), err)
		}
		if _, err := w.Write(make([]byte, align(n, alignment)-n)); err != nil {
			return err
		}
	}
	return nil
}
