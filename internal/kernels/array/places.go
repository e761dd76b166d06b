package array

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// MaxDims is the largest number of dimensions that remain after neighbours that are contiguous with each other are merged.
const MaxDims = 6

// Errors of this package.
var (
	ErrShape = errors.New("array: shape does not fit")
	ErrType  = errors.New("array: element type is not supported")
)

// An Array is elements in the memory Bytes, whose address is a multiple of their size. Strides has the distance of neighbours in each
// dimension, and Offset is the index of the first element.
type Array struct {
	Bytes   device.Slice[byte]
	Type    dtype.Type
	Strides []int
	Offset  int
}

// places are the positions of elements in up to three arrays.
type places struct {
	N       uint32          // of elements
	Count   uint32          // of dimensions
	Size    [MaxDims]uint32 // the last dimension first
	A, B, C [MaxDims]uint32 // strides
	Offset  [3]uint32
}

// at returns the positions of element i.
func (p *places) at(i uint32) (a, b, c uint32) {
	a, b, c = p.Offset[0], p.Offset[1], p.Offset[2]
	if p.Count <= 1 {
		return a + i*p.A[0], b + i*p.B[0], c + i*p.C[0]
	}
	for d := range MaxDims {
		k := i
		if uint32(d)+1 < p.Count {
			size := max(p.Size[d], 1)
			k, i = i%size, i/size
		} else {
			i = 0
		}
		a, b, c = a+k*p.A[d], b+k*p.B[d], c+k*p.C[d]
	}
	return a, b, c
}

// placesOf returns the positions of the elements of a shape in arrays, with as few dimensions as possible. An array without strides is
// not used.
func placesOf(shape []int, x, y, z *Array) (places, error) {
	p := places{N: 1}
	arrays := [3]*Array{x, y, z}
	for k, a := range arrays {
		if a.Type != dtype.Invalid {
			if err := a.check(shape); err != nil {
				return p, err
			}
			p.Offset[k] = uint32(a.Offset)
		}
	}
	for i := len(shape) - 1; i >= 0; i-- {
		size := shape[i]
		if size > 0 && uint64(p.N)*uint64(size) > math.MaxUint32 {
			return p, fmt.Errorf("%w: more than %d elements in %v", ErrShape, math.MaxUint32, append([]int{}, shape...))
		}
		p.N *= uint32(size)
		if size == 1 {
			continue
		}
		if err := p.add(uint32(size), [3]uint32{x.stride(i), y.stride(i), z.stride(i)}); err != nil {
			return p, fmt.Errorf("%w in shape %v", err, append([]int{}, shape...))
		}
	}
	return p, nil
}

// add adds a dimension, or extends the last one.
func (p *places) add(size uint32, strides [3]uint32) error {
	if k := p.Count; k > 0 {
		n := p.Size[k-1]
		if strides == [3]uint32{n * p.A[k-1], n * p.B[k-1], n * p.C[k-1]} {
			p.Size[k-1] *= size
			return nil
		}
	}
	if p.Count == MaxDims {
		return fmt.Errorf("%w: more than %d dimensions remain", ErrShape, MaxDims)
	}
	k := p.Count
	p.Size[k], p.A[k], p.B[k], p.C[k] = size, strides[0], strides[1], strides[2]
	p.Count++
	return nil
}

// stride returns the stride of a dimension, 0 for an array that is not used.
func (a *Array) stride(i int) uint32 {
	if a.Type == dtype.Invalid {
		return 0
	}
	return uint32(a.Strides[i])
}

// check reports whether an array has the elements of a shape.
func (a *Array) check(shape []int) error {
	if len(shape) != len(a.Strides) {
		return fmt.Errorf("%w: %d strides for %v", ErrShape, len(a.Strides), append([]int{}, shape...)) // copies, so that shapes and strides do not escape
	}
	last := a.Offset
	for i, n := range shape {
		if n <= 0 {
			if n == 0 {
				return nil
			}
			return fmt.Errorf("%w: %v", ErrShape, append([]int{}, shape...))
		}
		if a.Strides[i] < 0 || a.Strides[i] > math.MaxUint32 || n > math.MaxUint32 || last < 0 || last > math.MaxUint32 {
			return fmt.Errorf("%w: strides %v and offset %d of %v", ErrShape, append([]int{}, a.Strides...), a.Offset, append([]int{}, shape...))
		}
		last += (n - 1) * a.Strides[i]
	}
	if last < 0 || last > math.MaxUint32 || last >= a.Bytes.Len()/max(a.Type.Size(), 1) {
		return fmt.Errorf("%w: strides %v and offset %d of %v in %d bytes", ErrShape, append([]int{}, a.Strides...), a.Offset, append([]int{}, shape...), a.Bytes.Len())
	}
	return nil
}

// elements returns the memory of an array whose elements have the size of a T, and otherwise a slice that is nil in the kernel.
func elements[T uint8 | uint16 | uint32 | uint64 | int32 | int64 | float32 | float64](a *Array) device.Slice[T] {
	var size int
	switch any(T(0)).(type) {
	case uint8:
		size = 1
	case uint16:
		size = 2
	case uint32, int32, float32:
		size = 4
	default:
		size = 8
	}
	if a.Type.Size() != size {
		return device.None[T]()
	}
	return device.View[T](a.Bytes)
}

// blocks returns the grid of a thread for each of n elements.
func blocks(n uint32) device.Blocks { return device.Blocks{X: int((uint64(n) + block - 1) / block)} }

// each is the number of elements that a thread of a CPU takes, because a call for each thread costs as much as several elements. resident
// is the number of blocks for each multiprocessor of a GPU, whose threads take the elements in turn, because loading the arguments costs
// as much too.
const (
	each     = 32
	resident = 16
)

// blocksFor returns the grid of a kernel with a loop over n elements.
func blocksFor(s *device.Stream, n uint32) device.Blocks {
	g, cores := blocks(n), s.Device().Info().Cores
	if row.FormFor(s) == row.Plain {
		g.X = max((g.X+each-1)/each, min(g.X, 4*cores))
		return g
	}
	g.X = min(g.X, resident*max(cores, 1))
	return g
}
