package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// InclusiveScan stores in each element of dst what the elements of src up to that place, with it,
// come to by op: running sums for Add. dst has the length of src, and may be src. Sums of floats
// may differ in their last bits from run to run, as tiles are joined in the order in which they are done.
func InclusiveScan[T Number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	return scan(s, scanning{op, false}, dst, src)
}

// ExclusiveScan is InclusiveScan without the element itself: the first element of dst is what
// nothing comes to, as with Reduce.
func ExclusiveScan[T Number](s *device.Stream, op Op, dst, src device.Slice[T]) error {
	return scan(s, scanning{op, true}, dst, src)
}

// scanning says which scan is meant.
type scanning struct {
	op        Op
	exclusive bool
}

func scan[T Number](s *device.Stream, how scanning, dst, src device.Slice[T]) error {
	if err := how.op.check(); err != nil {
		return refuse(s, "scan", err)
	}
	if dst.Len() != src.Len() {
		return refuse(s, "scan", fmt.Errorf("of %d elements to %d: %w", src.Len(), dst.Len(), device.ErrLength))
	}
	if dst != src && device.Overlap(dst, src) {
		return refuse(s, "scan", device.ErrOverlap)
	}
	switch kindOf[T]() {
	case reflect.Int32:
		return scanAs[int32](s, how, view[int32](dst), view[int32](src))
	case reflect.Int64:
		return scanAs[int64](s, how, view[int64](dst), view[int64](src))
	case reflect.Uint32:
		return scanAs[uint32](s, how, view[uint32](dst), view[uint32](src))
	case reflect.Uint64:
		return scanAs[uint64](s, how, view[uint64](dst), view[uint64](src))
	case reflect.Float32:
		return scanAs[float32](s, how, view[float32](dst), view[float32](src))
	default:
		return scanAs[float64](s, how, view[float64](dst), view[float64](src))
	}
}

func scanAs[T number](s *device.Stream, how scanning, dst, src device.Slice[T]) error {
	switch how.op {
	case Add:
		return scanBy[T, add](s, how, dst, src)
	case Min:
		return scanBy[T, least](s, how, dst, src)
	default:
		return scanBy[T, greatest](s, how, dst, src)
	}
}

func scanBy[T number, O operator](s *device.Stream, how scanning, dst, src device.Slice[T]) error {
	tiles := (src.Len() + scanTile - 1) / scanTile
	if tiles == 0 {
		return idle(s)
	}
	words := tiles
	if isWide[T]() {
		words *= 2
	}
	words += words % 2 // so that all slices start at multiples of 16 bytes
	state, err := device.Make[uint64](s, words+1)
	if err != nil {
		return err
	}
	in, restIn := inFours(src)
	out, restOut := inFours(dst)
	ticket := device.View[uint32](state.Slice(words, words+1))
	err = ScanTiles[T, O](s, device.Blocks{X: tiles}, in, out, restIn, restOut, ticket, state.Slice(0, words), how.exclusive, neutral[T](how.op))
	return errors.Join(err, state.Close())
}
