package driver

import (
	"fmt"
	"unsafe"
)

// sliceBytes is the size of a slice in the parameter block.
const sliceBytes = 24

// Pass passes v, a number, a boolean or a struct without slices, as the next argument. Slices and
// tensor maps have a method Pass of their own, in package device.
func Pass[T any](p *Plan, v T) {
	if at, ok := p.parameter(int(unsafe.Sizeof(v)), 0); ok {
		*(*T)(unsafe.Add(p.Params(), at)) = v
	}
}

// NextSlice returns the place for the next argument: the address, length and capacity of a slice with elements of elem
// bytes. It returns nil if the next parameter is not such a slice; the caller then calls Mismatch.
func (p *Plan) NextSlice(elem int) *[3]uint64 {
	i := p.next
	if i < len(p.kernel.Params) {
		if x := &p.kernel.Params[i]; x.Size == sliceBytes && x.Elem == elem {
			p.next = i + 1
			return (*[3]uint64)(p.words[x.Offset/8:])
		}
	}
	return nil
}

// Mismatch makes the launch fail because the next argument does not match its parameter.
func (p *Plan) Mismatch() {
	p.next++
	p.Fail(ErrMismatch)
}

// NextTensorMap returns the place for the next argument, a tensor map. If the next parameter is not a tensor map, it
// returns nil, and the launch fails.
func (p *Plan) NextTensorMap() *[TensorMapBytes]byte {
	i := p.next
	at, ok := p.parameter(TensorMapBytes, 0)
	if !ok {
		return nil
	}
	if !p.kernel.Params[i].Tensor {
		p.Fail(ErrMismatch)
		return nil
	}
	return (*[TensorMapBytes]byte)(unsafe.Add(p.Params(), at))
}

// parameter returns the offset of the next parameter, which must have the given sizes.
func (p *Plan) parameter(size, elem int) (offset int, ok bool) {
	if i := p.next; i < len(p.kernel.Params) {
		if x := &p.kernel.Params[i]; x.Size == size && x.Elem == elem {
			p.next = i + 1
			return x.Offset, true
		}
	}
	p.Mismatch()
	return 0, false
}

// Fail makes the launch return err, with the name of the argument that was passed last. After several calls, the launch
// returns the first error.
func (p *Plan) Fail(err error) {
	if p.err != nil {
		return
	}
	name := ""
	if i := p.next - 1; i < len(p.kernel.Params) {
		name = p.kernel.Params[i].Name + ": "
	}
	p.err = fmt.Errorf("device: %s: %s%w", p.kernel.Name, name, err)
}
