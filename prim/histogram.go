package prim

import (
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Integer is the constraint of the values that Count counts.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Count stores in counts[i] the number of elements of src that equal low+i. It ignores other
// elements. If counts is empty, the error matches device.ErrLength.
func Count[T Integer](s *device.Stream, counts device.Slice[uint64], src device.Slice[T], low T) error {
	if err := readyCounts(s, counts, src); err != nil || src.Len() == 0 {
		return err
	}
	g := countGrid(src)
	switch reflect.TypeFor[T]().Size() {
	case 1:
		x, tail := packed[[16]uint8](view[uint8](src))
		return countUint8(s, g, x, tail, uint8(low), counts)
	case 2:
		x, tail := packed[[8]uint16](view[uint16](src))
		return countUint16(s, g, x, tail, uint16(low), counts)
	case 4:
		x, tail := packed[[4]uint32](view[uint32](src))
		return countUint32(s, g, x, tail, uint32(low), counts)
	default:
		x, tail := packed[[2]uint64](view[uint64](src))
		return countUint64(s, g, x, tail, uint64(low), counts)
	}
}

// Interval is the half-open interval from Low, included, to High, excluded.
type Interval[T ~float32 | ~float64] struct{ Low, High T }

// Histogram divides the interval into len(counts) bins of equal width and stores in counts[i] the
// number of elements of src in bin i. It ignores NaNs and elements outside the interval. Because of
// rounding, an element close to the boundary of two bins may be counted in either. If counts is
// empty, the error matches device.ErrLength; if interval.Low is not less than interval.High, the
// error matches device.ErrRange.
func Histogram[T ~float32 | ~float64](s *device.Stream, counts device.Slice[uint64], src device.Slice[T], interval Interval[T]) error {
	if !(interval.Low < interval.High) {
		return refuse(s, "histogram", fmt.Errorf("interval from %v to %v: %w", interval.Low, interval.High, device.ErrRange))
	}
	if err := readyCounts(s, counts, src); err != nil || src.Len() == 0 {
		return err
	}
	g := countGrid(src)
	if reflect.TypeFor[T]().Kind() == reflect.Float32 {
		x, tail := packed[[4]float32](view[float32](src))
		return countFloat32(s, g, x, tail, spanOf(float32(interval.Low), float32(interval.High), counts.Len()), counts)
	}
	x, tail := packed[[2]float64](view[float64](src))
	return countFloat64(s, g, x, tail, spanOf(float64(interval.Low), float64(interval.High), counts.Len()), counts)
}

func spanOf[F float32 | float64](low, high F, bins int) span[F] {
	return span[F]{low, high, high/F(bins) - low/F(bins)}
}

// readyCounts checks that counts is not empty, and clears it.
func readyCounts[T any](s *device.Stream, counts device.Slice[uint64], src device.Slice[T]) error {
	switch {
	case counts.Len() == 0:
		return refuse(s, "histogram", fmt.Errorf("no bins: %w", device.ErrLength))
	case device.Overlap(counts, src):
		return refuse(s, "histogram", device.ErrOverlap)
	}
	return device.Fill(s, counts, 0)
}

// countGrid returns a grid whose threads process 16 bytes of x each, or more in strides if there
// would be too many blocks.
func countGrid[T any](x device.Slice[T]) device.Blocks {
	packs := x.Len() * int(reflect.TypeFor[T]().Size()) / 16
	return device.Blocks{X: min(packs/countWidth+1, reduceGrid)}
}
