package kserve

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// The datatypes of tensors.
const (
	Bytes   = "BYTES" // texts, or any bytes
	Float32 = "FP32"
)

// Tensor is an input or an output.
type Tensor struct {
	Name   string
	Shape  []int64
	Bytes  [][]byte  // the elements, if the datatype is BYTES
	Floats []float32 // the elements, if the datatype is FP32; Bytes is then nil
}

// Datatype returns the name of the type of the elements.
func (t Tensor) Datatype() string {
	if t.Bytes != nil {
		return Bytes
	}
	return Float32
}

// Raw returns the elements in the protocol's binary form. FP32 elements are little-endian. Each BYTES element is preceded by its length, a
// little-endian number of 32 bits.
func (t Tensor) Raw() []byte {
	var raw []byte
	for _, b := range t.Bytes {
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(b))), b...)
	}
	if t.Bytes == nil {
		raw = make([]byte, 0, 4*len(t.Floats))
		for _, x := range t.Floats {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	}
	return raw
}

// SetRaw sets the elements of an input with the datatype BYTES from their binary form. The error is a gate.Failure.
func (t *Tensor) SetRaw(raw []byte) error {
	t.Bytes = [][]byte{}
	for len(raw) > 0 {
		if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
			return gate.Invalid("inputs", "%s: element %d is cut off", t.Name, len(t.Bytes))
		}
		n := int(binary.LittleEndian.Uint32(raw))
		t.Bytes, raw = append(t.Bytes, raw[4:4+n:4+n]), raw[4+n:]
	}
	return nil
}

// check returns the error of a shape that is not that of the elements.
func (t Tensor) check() error {
	elements := int64(1)
	for _, n := range t.Shape {
		if n < 0 || n > math.MaxInt32 || elements*max(n, 1) > math.MaxInt32 {
			return gate.Invalid("inputs", "%s: the shape is %v", t.Name, t.Shape)
		}
		elements *= n
	}
	if elements != int64(len(t.Bytes)) {
		return gate.Invalid("inputs", "%s: %d elements, the shape is %v", t.Name, len(t.Bytes), t.Shape)
	}
	return nil
}

// classes returns a tensor with the n greatest values of each row, as Triton does: texts with the value, the index, and the label, if there
// is one.
func (t Tensor) classes(n int, labels []string) Tensor {
	width := int(t.Shape[len(t.Shape)-1])
	n = min(n, width)
	out := Tensor{Name: t.Name, Shape: append(append([]int64{}, t.Shape[:len(t.Shape)-1]...), int64(n)), Bytes: [][]byte{}}
	for at := 0; at < len(t.Floats); at += width {
		row := t.Floats[at : at+width]
		for _, i := range greatest(row, n) {
			text := fmt.Sprintf("%f:%d", row[i], i)
			if i < len(labels) {
				text += ":" + labels[i]
			}
			out.Bytes = append(out.Bytes, []byte(text))
		}
	}
	return out
}
