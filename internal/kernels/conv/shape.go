package conv

import (
	"errors"
	"fmt"
	"math"
)

// Shape is the size of a convolution, or of pooling. X is of shape [Batch, Height, Width, Channels]. Filters are square, of Kernel x Kernel
// places, which move by Stride places. X is surrounded by zeros: Before places above and on the left, and After places below and on the right.
type Shape struct {
	Batch, Height, Width, Channels int
	Filters                        int // channels of Y; ignored for Depthwise and for pooling, whose Y has Channels
	Kernel, Stride                 int
	Before, After                  int
	Depthwise                      bool // each channel has a filter of its own, which has one channel
}

// ErrShape is the error of operands that do not fit a shape, and of shapes that do not exist.
var ErrShape = errors.New("conv: shape does not fit")

// Places returns the height and the width of Y.
func (s Shape) Places() (height, width int) {
	return s.along(s.Height), s.along(s.Width)
}

func (s Shape) along(n int) int {
	n += s.Before + s.After - s.Kernel
	if n < 0 || s.Stride < 1 {
		return 0
	}
	return n/s.Stride + 1
}

// rows returns the number of places of Y in all images.
func (s Shape) rows() int {
	h, w := s.Places()
	return s.Batch * h * w
}

// depth returns the number of products of a sum.
func (s Shape) depth() int { return s.Kernel * s.Kernel * s.Channels }

// filters returns the number of channels of Y.
func (s Shape) filters() int {
	if s.Depthwise {
		return s.Channels
	}
	return s.Filters
}

// weights returns the number of elements of all filters.
func (s Shape) weights() int {
	if s.Depthwise {
		return s.depth()
	}
	return s.depth() * s.Filters
}

// pointwise reports whether a place of Y depends on the same place of X only.
func (s Shape) pointwise() bool {
	return s.Kernel == 1 && s.Stride == 1 && s.Before == 0 && s.After == 0
}

// most is the largest size of a dimension, and of a matrix in rows or columns.
const most = math.MaxInt32 / 2

// check reports whether the sizes make sense and no number of elements exceeds what kernels count.
func (s Shape) check() error {
	for _, n := range []int{s.Batch, s.Height, s.Width, s.Channels, s.Filters, s.Before, s.After} {
		if n < 0 || n > most {
			return fmt.Errorf("%w: %+v", ErrShape, s)
		}
	}
	if s.Kernel < 1 || s.Stride < 1 || s.Kernel > 1<<10 || s.Stride > 1<<10 || s.Before >= s.Kernel || s.After >= s.Kernel {
		return fmt.Errorf("%w: %+v", ErrShape, s)
	}
	h, w := s.Places()
	for _, list := range [][]int{{s.Batch, s.Height, s.Width, s.Channels}, {s.Batch, h, w, s.filters()}, {s.Batch, h, w}, {s.Kernel * s.Kernel, s.Channels, s.Filters}} {
		n := 1
		for _, d := range list {
			if n *= max(d, 1); n > most {
				return fmt.Errorf("%w: %+v: too many elements", ErrShape, s)
			}
		}
	}
	return nil
}
