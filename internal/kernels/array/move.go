package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// indexing says how relocate finds elements of its source.
type indexing struct {
	Size  uint32 // of an element in bytes
	Wide  bool   // indices are int64, and not int32
	Limit int64  // indices are from 0 to Limit-1; 0 without indices
	Step  int64  // the distance of the elements of two successive indices
}

// relocate copies elements at positions A, moved on by the index at position B, to positions C. Elements at other indices become 0.
//
//gpu:kernel
//gpu:block 128
func relocate(t gpu.Thread, x8, out8 []uint8, x16, out16 []uint16, x32, out32 []uint32, x64, out64 []uint64, i32 []int32, i64 []int64, how indexing, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, c := p.at(i)
		from, valid := int(a), true
		if how.Limit > 0 {
			index := int64(0)
			if how.Wide {
				index = i64[b]
			} else {
				index = int64(i32[b])
			}
			valid = index >= 0 && index < how.Limit
			from += int(index * how.Step)
		}
		switch how.Size {
		case 1:
			pick(x8, from, valid, &out8[c])
		case 2:
			pick(x16, from, valid, &out16[c])
		case 4:
			pick(x32, from, valid, &out32[c])
		default:
			pick(x64, from, valid, &out64[c])
		}
	}
}

// pick stores element i of x, or 0 if it is not valid.
func pick[T uint8 | uint16 | uint32 | uint64](x []T, i int, valid bool, to *T) {
	if valid {
		*to = x[i]
	} else {
		*to = 0
	}
}

// Move copies the elements of x to out, an array of the same shape and type.
func Move(s *device.Stream, shape []int, out, x Array) error {
	if out.Type != x.Type {
		return fmt.Errorf("%w: a copy of %v to %v", ErrType, x.Type, out.Type)
	}
	return indexed(s, shape, [3]*Array{&x, new(Array), &out}, indexing{})
}

// Indices are the numbers of elements along a dimension that has Limit elements, Step from each other. Array is one of int32 or int64.
type Indices struct {
	Array
	Limit, Step int
}

// Gather stores in each element of out, which has the shape, the element of x that is at.Step times an index from the one at the same
// place. For an index outside the dimension it stores 0.
func (at Indices) Gather(s *device.Stream, shape []int, out, x Array) error {
	if out.Type != x.Type || at.Type != dtype.Int32 && at.Type != dtype.Int64 {
		return fmt.Errorf("%w: elements %v to %v by indices %v", ErrType, x.Type, out.Type, at.Type)
	}
	if at.Limit == 0 {
		at.Limit = -1
	}
	return indexed(s, shape, [3]*Array{&x, &at.Array, &out}, indexing{Wide: at.Type == dtype.Int64, Limit: int64(at.Limit), Step: int64(at.Step)})
}

// indexed launches relocate.
func indexed(s *device.Stream, shape []int, a [3]*Array, how indexing) error {
	p, err := placesOf(shape, a[0], a[1], a[2])
	if err != nil || p.N == 0 {
		return err
	}
	if done, err := how.takeRows(s, p, a); done {
		return err
	}
	if done, err := how.moveRows(s, p, a); done {
		return err
	}
	x, out := a[0], a[2]
	how.Size = uint32(x.Type.Size())
	i32, i64 := device.None[int32](), device.None[int64]()
	if a[1].Type == dtype.Int32 {
		i32 = elements[int32](a[1])
	} else if a[1].Type == dtype.Int64 {
		i64 = elements[int64](a[1])
	}
	return Relocate(s, blocksFor(s, p.N), elements[uint8](x), elements[uint8](out), elements[uint16](x), elements[uint16](out),
		elements[uint32](x), elements[uint32](out), elements[uint64](x), elements[uint64](out), i32, i64, how, p)
}
