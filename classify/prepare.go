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
		list := make([][]uint8, len(some))
		var all sync.WaitGroup
		for i, picture := range some {
			all.Go(func() { list[i] = colors(picture) })
		}
		all.Wait()
		for i, picture := range some {
			if err := p.square(s, out.Slice(n*each, (n+1)*each), picture.Bounds().Size(), list[i]); err != nil {
				return nil, errors.Join(err, out.Close())
			}
			n++
		}
	}
	return out, nil
}

// square resizes a picture with the given colors. The first pass is along rows, or along columns if the height decreases by more than twice
// what the width does.
func (p preparation) square(s *device.Stream, out device.Slice[float32], size image.Point, colors []uint8) error {
	w, h := size.X, size.Y
	wide, high := shorter*w/min(w, h), shorter*h/min(w, h)
	columns, first := p.table(w, wide)
	rows, second := p.table(h, high)
	tables, err := device.Upload(s, slices.Concat(first, second))
	if err != nil {
		return err
	}
	defer tables.Close() // in stream order, as all of this memory
	columns.Table, rows.Table = tables.Slice(0, len(first)), tables.Slice(len(first), tables.Len())
	pixels, err := device.Upload(s, colors)
	if err != nil {
		return err
	}
	defer pixels.Close()
	x := resize.Operands{Out: out, Normalization: p.Normalization}
	if x.Pixels = device.View[uint32](pixels.All()); h-high > max(0, 2*(w-wide)) {
		x.Along, x.Across, x.First, x.Second, x.Down, x.Right = w, 1, rows, columns, 1, side
	} else {
		x.Along, x.Across, x.First, x.Second, x.Down, x.Right = 1, w, columns, rows, side, 1
	}
	lines, err := device.MakeDirty[uint32](s, x.Second.Count*side)
	if err != nil {
		return err
	}
	defer lines.Close()
	x.Lines = lines.All()
	return resize.Square(s, x)
}
