package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Sum stores the sum of src in dst, which has one element. The order of the additions depends on
// the device and the length alone, so that a float's sum is the same each time.
func Sum[T Number](s *device.Stream, dst, src device.Slice[T]) error { return Reduce(s, Add, dst, src) }

// Reduce joins all elements of src by op and stores the result in dst, which has one element. Of
// no elements the result is 0 for Add, the greatest T for Min and the least for Max, which for
// floats are infinite.
func Reduce[T Number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	if err := op.check(); err != nil {
		return refuse(s, "reduce", err)
	}
	if dst.Len() != 1 {
		return refuse(s, "reduce", fmt.Errorf("the destination has %d elements, want 1: %w", dst.Len(), device.ErrLength))
	}
	if device.Overlap(dst, src) {
		return refuse(s, "reduce", device.ErrOverlap)
	}
	switch kindOf[T]() {
	case reflect.Int32:
		return reduce[int32](s, op, view[int32](dst), view[int32](src))
	case reflect.Int64:
		return reduce[int64](s, op, view[int64](dst), view[int64](src))
	case reflect.Uint32:
		return reduce[uint32](s, op, view[uint32](dst), view[uint32](src))
	case reflect.Uint64:
		return reduce[uint64](s, op, view[uint64](dst), view[uint64](src))
	case reflect.Float32:
		return reduce[float32](s, op, view[float32](dst), view[float32](src))
	default:
		return reduce[float64](s, op, view[float64](dst), view[float64](src))
	}
}

func reduce[T number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	switch op {
	case Add:
		return reduceBy[T, add](s, op, dst, src)
	case Min:
		return reduceBy[T, least](s, op, dst, src)
	default:
		return reduceBy[T, greatest](s, op, dst, src)
	}
}

// reduceGrid is how many blocks a reduction has at most.
const reduceGrid = 2048

func reduceBy[T number, O operator](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	fours, rest := inFours(src)
	blocks := min((fours.Len()+reduceWidth-1)/reduceWidth, reduceGrid)
	partial, err := device.MakeDirty[T](s, blocks)
	if err != nil {
		return err
	}
	nothing := neutral[T](op)
	if blocks > 0 {
		err = ReduceBlocks[T, O](s, device.Blocks{X: blocks}, fours, partial.All(), nothing)
	}
	if err == nil {
		err = ReduceRest[T, O](s, device.Blocks{X: 1}, partial.All(), rest, dst, nothing)
	}
	return errors.Join(err, partial.Close())
}
