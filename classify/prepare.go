package classify

import (
	"errors"
	"fmt"
	"image"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/resize"
)

// preparation is how a model wants its pixels.
type preparation struct {
	filter
	resize.Normalization
}

// margin returns the number of pixels before the square in the middle: as torchvision's, half of the others, rounded to even.
func margin(pixels int) int { return int(math.RoundToEven(float64(pixels-side) / 2)) }

// pixels returns the normalized pixels of pictures, of shape [n side side 3]. The device resizes them; its bits are those of Pillow's resize,
// from version 13 on.
func (p preparation) pixels(s *device.Stream, pictures ...image.Image) (*device.Buffer[float32], error) {
	for i, picture := range pictures {
		b := picture.Bounds()
		if w, h := b.Dx(), b.Dy(); w < 1 || h < 1 || max(w, h)/min(w, h) > maxPixels/(shorter*shorter) {
			return nil, fmt.Errorf("picture %d: %w: %d x %d pixels", i, ErrPicture, w, h)
		}
	}
	const each = side * side * 3
	out, err := device.MakeDirty[float32](s, len(pictures)*each)
	if err != nil {
		return nil, err
	}
	n := 0
	for some := range slices.Chunk(pictures, runtime.GOMAXPROCS(0)) { // which bounds the memory of their colors
		list := make([]plan, len(some))
		var all sync.WaitGroup
		for i, picture := range some {
			all.Go(func() { list[i] = p.plan(picture) })
		}
		all.Wait()
		for _, job := range list {
			if err := job.square(s, out.Slice(n*each, (n+1)*each), p.Normalization); err != nil {
				return nil, errors.Join(err, out.Close())
			}
			n++
		}
	}
	return out, nil
}

// plan is how a picture is resized.
type plan struct {
	resize.Operands
	colors        []uint8 // of its pixels
	first, second []int32 // tables of the windows
}

// plan returns the plan of a picture. The first pass is along rows, or along columns if the height decreases by more than twice what the
// width does.
func (p preparation) plan(picture image.Image) plan {
	size := picture.Bounds().Size()
	w, h := size.X, size.Y
	wide, high := shorter*w/min(w, h), shorter*h/min(w, h)
	columns, across := p.table(w, wide)
	rows, down := p.table(h, high)
	x := plan{colors: colors(picture), first: across, second: down}
	x.Along, x.Across, x.First, x.Second, x.Down, x.Right = 1, w, columns, rows, side, 1
	if h-high > max(0, 2*(w-wide)) {
		x.first, x.second = down, across
		x.Along, x.Across, x.First, x.Second, x.Down, x.Right = w, 1, rows, columns, 1, side
	}
	return x
}

// square enqueues the kernels that resize the picture and store its normalized pixels.
func (x *plan) square(s *device.Stream, out device.Slice[float32], n resize.Normalization) error {
	tables, err := device.Upload(s, slices.Concat(x.first, x.second))
	if err != nil {
		return err
	}
	defer tables.Close() // in stream order, as all of this memory
	pixels, err := device.Upload(s, x.colors)
	if err != nil {
		return err
	}
	defer pixels.Close()
	lines, err := device.MakeDirty[uint32](s, x.Second.Count*side)
	if err != nil {
		return err
	}
	defer lines.Close()
	x.First.Table, x.Second.Table = tables.Slice(0, len(x.first)), tables.Slice(len(x.first), tables.Len())
	x.Pixels, x.Lines, x.Out, x.Normalization = device.View[uint32](pixels.All()), lines.All(), out, n
	return resize.Square(s, x.Operands)
}
