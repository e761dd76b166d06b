package array

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// number stores for each element the position that its index gives it, and its own number: the keys and values that are sorted before
// accumulation. Elements at other indices get the greatest key.
//
//gpu:kernel
//gpu:block 128
func number64(t gpu.Thread, i32 []int32, i64, keys, numbers []int64, how indexing, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, _ := p.at(i)
		var index int64
		if how.Wide {
			index = i64[b]
		} else {
			index = int64(i32[b])
		}
		key := int64(math.MaxInt64)
		if index >= 0 && index < how.Limit {
			key = int64(a) + index*how.Step
		}
		keys[i], numbers[i] = key, int64(i)
	}
}

// accumulation is the types and sizes of additions.
type accumulation struct {
	X, Out dtype.Type
	N      uint32 // of sorted keys
	Width  uint32 // elements of a key, which are neighbours in both arrays
}

// accumulateFloat adds to the elements of each key those of x with its numbers, in their order. The thread of the first one does it.
//
//gpu:kernel
//gpu:block 128
func accumulateFloat(t gpu.Thread, keys, numbers []int64, x16, out16 []uint16, x32, out32 []float32, x64, out64 []float64, n accumulation) {
	for i := first(t); i < n.N*n.Width; i += uint32(t.GridDimX()) * block {
		at, column := i/max(n.Width, 1), i%max(n.Width, 1)
		key := keys[at]
		if key == math.MaxInt64 || at > 0 && keys[at-1] == key {
			continue
		}
		to := uint32(key)*n.Width + column
		if n.Out == dtype.Float64 {
			sum := out64[to]
			for k := at; k < n.N && keys[k] == key; k++ {
				sum += x64[uint32(numbers[k])*n.Width+column]
			}
			out64[to] = sum
			continue
		}
		sum := (&floats{out16, out32}).load(n.Out, to)
		for k := at; k < n.N && keys[k] == key; k++ {
			sum += (&floats{x16, x32}).load(n.X, uint32(numbers[k])*n.Width+column)
		}
		(&floats{out16, out32}).store(n.Out, to, sum)
	}
}

// accumulateInt is accumulateFloat for integers.
//
//gpu:kernel
//gpu:block 128
func accumulateInt(t gpu.Thread, keys, numbers []int64, x8, out8 []uint8, x32, out32 []int32, x64, out64 []int64, n accumulation) {
	for i := first(t); i < n.N*n.Width; i += uint32(t.GridDimX()) * block {
		at, column := i/max(n.Width, 1), i%max(n.Width, 1)
		key := keys[at]
		if key == math.MaxInt64 || at > 0 && keys[at-1] == key {
			continue
		}
		to := uint32(key)*n.Width + column
		sum := (&integers{out8, out32, out64}).load(n.Out, to)
		for k := at; k < n.N && keys[k] == key; k++ {
			sum += (&integers{x8, x32, x64}).load(n.X, uint32(numbers[k])*n.Width+column)
		}
		(&integers{out8, out32, out64}).store(n.Out, to, sum)
	}
}

// Pairs are the keys and numbers of elements to accumulate.
type Pairs struct{ Keys, Numbers device.Slice[int64] }

// Number stores the key of each element of a shape: the index of the element of an array with the strides of places, moved on by
// at.Step times the element's index, and its number. A stable sort of the pairs by their keys prepares Accumulate.
func (p Pairs) Number(s *device.Stream, shape []int, places Array, at Indices) error {
	if at.Type != dtype.Int32 && at.Type != dtype.Int64 {
		return fmt.Errorf("%w: indices %v", ErrType, at.Type)
	}
	all, err := placesOf(shape, &places, &at.Array, new(Array))
	if err != nil || all.N == 0 {
		return err
	}
	how := indexing{Wide: at.Type == dtype.Int64, Limit: int64(at.Limit), Step: int64(at.Step)}
	i32, i64 := device.None[int32](), device.None[int64]()
	if how.Wide {
		i64 = elements[int64](&at.Array)
	} else {
		i32 = elements[int32](&at.Array)
	}
	return Number64(s, blocksFor(s, all.N), i32, i64, p.Keys, p.Numbers, how, all)
}

// Accumulate adds width neighbours of x, which is contiguous, to those of out with each key. The pairs are sorted by their keys, which
// count width elements.
func (p Pairs) Accumulate(s *device.Stream, out, x Array, width int) error {
	class := ClassOf(x.Type)
	if class == None || ClassOf(out.Type) != class {
		return fmt.Errorf("%w: %v added to %v", ErrType, x.Type, out.Type)
	}
	count := p.Keys.Len() * width
	if count == 0 {
		return nil
	}
	if count > math.MaxUint32 || width < 0 || out.Bytes.Len()/out.Type.Size() > math.MaxUint32 {
		return fmt.Errorf("%w: %d times %d elements to add", ErrShape, p.Keys.Len(), width)
	}
	n := accumulation{x.Type, out.Type, uint32(p.Keys.Len()), uint32(width)}
	g := blocksFor(s, uint32(count))
	if class == Integer {
		return AccumulateInt(s, g, p.Keys, p.Numbers, elements[uint8](&x), elements[uint8](&out), elements[int32](&x), elements[int32](&out),
			elements[int64](&x), elements[int64](&out), n)
	}
	return AccumulateFloat(s, g, p.Keys, p.Numbers, elements[uint16](&x), elements[uint16](&out), elements[float32](&x), elements[float32](&out),
		elements[float64](&x), elements[float64](&out), n)
}
