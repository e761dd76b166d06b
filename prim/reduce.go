package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Sum stores the sum of the elements of src in dst, which must have one element. The order of the
// additions depends only on the device and the length of src, so floating-point sums are
// reproducible.
func Sum[T Number](s *device.Stream, dst, src device.Slice[T]) error { return Reduce(s, Add, dst, src) }

// Reduce combines all elements of src with op and stores the result in dst, which must have one
// element. If src is empty, the result is 0 for Add, the greatest value of T for Min, and the least
// value of T for Max. The greatest and the least value of a floating-point type are the infinities.
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
		return reduceBy(s, reduces[int32, [4]int32]{reduceInt32[add], reduceInt32[least], reduceInt32[greatest]}, op, between[int32](dst, src))
	case reflect.Int64:
		return reduceBy(s, reduces[int64, [2]int64]{reduceInt64[add], reduceInt64[least], reduceInt64[greatest]}, op, between[int64](dst, src))
	case reflect.Uint32:
		return reduceBy(s, reduces[uint32, [4]uint32]{reduceUint32[add], reduceUint32[least], reduceUint32[greatest]}, op, between[uint32](dst, src))
	case reflect.Uint64:
		return reduceBy(s, reduces[uint64, [2]uint64]{reduceUint64[add], reduceUint64[least], reduceUint64[greatest]}, op, between[uint64](dst, src))
	case reflect.Float32:
		return reduceBy(s, reduces[float32, [4]float32]{reduceFloat32[add], reduceFloat32[least], reduceFloat32[greatest]}, op, between[float32](dst, src))
	default:
		return reduceBy(s, reduces[float64, [2]float64]{reduceFloat64[add], reduceFloat64[least], reduceFloat64[greatest]}, op, between[float64](dst, src))
	}
}

// reduceLauncher launches reduceBlocks.
type reduceLauncher[T number, A pack[T]] func(s *device.Stream, g device.Blocks, x device.Slice[A], partial device.Slice[T], nothing T) error

// reduces lists the launchers of a type, indexed by Op.
type reduces[T number, A pack[T]] [Max + 1]reduceLauncher[T, A]

// reduceGrid is the maximum number of blocks of a reduction.
const reduceGrid = 2048

func reduceBy[T number, A pack[T]](s *device.Stream, launch reduces[T, A], op Op, at ends[T]) error {
	if serial(s) {
		return reduceSerially(s, op, at)
	}
	return reduceInBlocks(s, launch[op], op, at)
}

func reduceInBlocks[T number, A pack[T]](s *device.Stream, launch reduceLauncher[T, A], op Op, at ends[T]) error {
	packs, rest := packed[A](at.src)
	blocks := min((packs.Len()+reduceWidth-1)/reduceWidth, reduceGrid)
	partial, err := device.MakeDirty[T](s, blocks)
	if err != nil {
		return err
	}
	if blocks > 0 {
		err = launch(s, device.Blocks{X: blocks}, packs, partial.All(), neutral[T](op))
	}
	if err == nil {
		err = reduceLast(s, op, ends[T]{at.dst, partial.All()}, rest)
	}
	return errors.Join(err, partial.Close())
}

// reduceLast combines the results of the blocks and the elements that are not part of a pack.
func reduceLast[T number](s *device.Stream, op Op, at ends[T], rest device.Slice[T]) error {
	switch one := (device.Blocks{X: 1}); op {
	case Add:
		return reduceTail[T, add](s, one, at.src, rest, at.dst, neutral[T](op))
	case Min:
		return reduceTail[T, least](s, one, at.src, rest, at.dst, neutral[T](op))
	default:
		return reduceTail[T, greatest](s, one, at.src, rest, at.dst, neutral[T](op))
	}
}
