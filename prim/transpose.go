package prim

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Transpose stores the transpose of src in dst. src is a matrix with the given number of rows, in row-major
// order. dst has the length of src, and rows must divide this length. The size of a T must be 1, 2, 4, 8 or
// 16 bytes; otherwise the error matches errors.ErrUnsupported.
func Transpose[T any](s *device.Stream, dst, src device.Slice[T], rows int) error {
	if rows < 0 || src.Len()%max(rows, 1) != 0 || rows == 0 && src.Len() > 0 || dst.Len() != src.Len() {
		return refuse(s, "transpose", fmt.Errorf("%d rows, a source of %d elements and a destination of %d: %w", rows, src.Len(), dst.Len(), device.ErrLength))
	}
	columns := src.Len() / max(rows, 1)
	if device.Overlap(dst, src) {
		return refuse(s, "transpose", device.ErrOverlap)
	}
	switch size := reflect.TypeFor[T]().Size(); size {
	case 1:
		return transpose(s, between[uint8](dst, src), rows, columns)
	case 2:
		return transpose(s, between[uint16](dst, src), rows, columns)
	case 4:
		if rows%wideSide == 0 && columns%wideSide == 0 && rows > 0 && columns > 0 && rows/wideSide <= maxGridY {
			g := device.Blocks{X: columns / wideSide, Y: rows / wideSide}
			at := between[[4]uint32](dst, src)
			return transposeWide32(s, g, at.src, at.dst, rows/4, columns/4)
		}
		return transpose(s, between[uint32](dst, src), rows, columns)
	case 8:
		return transpose(s, between[uint64](dst, src), rows, columns)
	case 16:
		return transpose(s, between[[2]uint64](dst, src), rows, columns)
	default:
		return refuse(s, "transpose", fmt.Errorf("elements of %d bytes: %w", size, errors.ErrUnsupported))
	}
}

// maxGridY is the maximum number of blocks of a grid along y.
const maxGridY = 65535

func transpose[E element](s *device.Stream, at ends[E], rows, columns int) error {
	if rows == 0 || columns == 0 {
		return idle(s)
	}
	g := device.CoverBlocks(columns, rows, device.Dim{X: smallSide, Y: smallSide})
	g.Y = min(g.Y, maxGridY)
	return transposeAny(s, g, at.src, at.dst, rows, columns)
}
