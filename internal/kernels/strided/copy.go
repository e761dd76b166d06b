package strided

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// MaxDims is the largest number of dimensions that remain after merging.
const MaxDims = 6

// block is the number of threads of a block.
const block = 128

// ErrLayout is the error of a layout that has too many dimensions or does not fit the slices.
var ErrLayout = errors.New("strided: layout does not fit")

// A Layout places the elements of an array in a slice. Shape has the size of each dimension, and Strides the distance of
// neighbours in it, in elements. Offset is the index of the first element.
type Layout struct {
	Shape, Strides []int
	Offset         int
}

// Unit is the constraint of the elements, which are copied without regard to their meaning.
type Unit interface {
	uint8 | uint16 | uint32 | uint64
}

// dims is a merged layout for kernels. The last dimension comes first, and those past Count have size 1 and stride 0.
type dims struct {
	Count         int
	Offset        int
	Size, Strides [MaxDims]int
}

// Copy stores the elements of src that from describes in dst, in row-major order.
func Copy[T Unit](s *device.Stream, dst, src device.Slice[T], from Layout) error {
	d, err := from.merge(dst.Len(), src.Len())
	if err != nil || dst.Len() == 0 {
		return err
	}
	rows := dst.Len() / d.Size[0]
	return Gather(s, device.Blocks{X: rows * ((d.Size[0] + block - 1) / block)}, dst, src, d)
}

// merge returns the layout of n elements with as few dimensions as possible.
func (l Layout) merge(n, source int) (dims, error) {
	d := dims{Offset: l.Offset, Size: [MaxDims]int{1, 1, 1, 1, 1, 1}}
	elements, last := 1, l.Offset
	for i := len(l.Shape) - 1; i >= 0; i-- {
		size, stride := l.Shape[i], l.Strides[i]
		if size < 0 || stride < 0 || size > 0 && stride > 0 && (size-1) > (math.MaxInt/2-last)/stride {
			return d, fmt.Errorf("%w: shape %v, strides %v", ErrLayout, l.Shape, l.Strides)
		}
		elements *= size
		last += max(size-1, 0) * stride
		if size == 1 {
			continue
		}
		if c := d.Count; c > 0 && stride == d.Strides[c-1]*d.Size[c-1] {
			d.Size[c-1] *= size
			continue
		}
		if d.Count == MaxDims {
			return d, fmt.Errorf("%w: more than %d dimensions in shape %v, strides %v", ErrLayout, MaxDims, l.Shape, l.Strides)
		}
		d.Size[d.Count], d.Strides[d.Count] = size, stride
		d.Count++
	}
	if len(l.Shape) != len(l.Strides) || elements != n || l.Offset < 0 || n > 0 && last >= source {
		return d, fmt.Errorf("%w: shape %v, strides %v and offset %d for %d elements from %d", ErrLayout, l.Shape, l.Strides, l.Offset, n, source)
	}
	return d, nil
}

// gather stores an element of src in each element of dst. The blocks of a row cover the last dimension, so that the divisions for
// the other dimensions are those of a block and not of each thread.
//
//gpu:kernel
//gpu:block 128
//gpu:instance Gather = gather[uint8|uint16|uint32|uint64]
func gather[T Unit](t gpu.Thread, dst, src []T, from dims) {
	chunks := (from.Size[0] + block - 1) / block
	row := t.BlockX() / chunks
	column := t.BlockX()%chunks*block + t.ThreadX()
	if column >= from.Size[0] {
		return
	}
	at, rest := from.Offset+column*from.Strides[0], row
	for d := 1; d < MaxDims; d++ {
		at += rest % from.Size[d] * from.Strides[d]
		rest /= from.Size[d]
	}
	dst[row*from.Size[0]+column] = src[at]
}
