package classify

import (
	"image"
	"image/color"
	"math"
)

// filter is a filter of interpolation: the weight of a source pixel at a distance from the center of the pixel to compute. The distance is in
// pixels of the source, or of the result if that is smaller.
type filter struct {
	support float64 // the weight is 0 beyond it
	weight  func(distance float64) float64
}

// bilinear and bicubic are the filters that Pillow has under these names. The products are converted so that no compiler fuses them with a sum.
var (
	bilinear = filter{1, func(x float64) float64 { return max(0, 1-math.Abs(x)) }}
	bicubic  = filter{2, func(x float64) float64 {
		x = math.Abs(x)
		switch {
		case x < 1:
			return float64((float64(1.5*x)-2.5)*x*x) + 1
		case x < 2:
			return (float64((float64((x-5)*x)+8)*x) - 4) * -0.5
		}
		return 0
	}}
)

// fraction is the number of bits after the binary point of a weight: with 8 bits of a pixel, the sum fits in 32 bits.
const fraction = 22

// window is what one pixel of a result is computed of, along one axis.
type window struct {
	first   int
	weights []int32 // of the source's pixels from first on, in units of 2^-fraction
}

// windows returns the windows of n pixels from index from on, of a resized axis of out pixels, whose source has in pixels.
func (f filter) windows(in, out, from, n int) []window {
	scale := float64(in) / float64(out)
	stretch := max(scale, 1) // a smaller result averages more pixels
	list := make([]window, n)
	for i := range list {
		center := (float64(from+i) + 0.5) * scale
		first := max(0, int(center-f.support*stretch+0.5))
		end := min(in, int(center+f.support*stretch+0.5))
		list[i] = window{first, f.weights(first, end, center, 1/stretch)}
	}
	return list
}

// weights returns those of the source's pixels first to end-1 in a pixel with the given center.
func (f filter) weights(first, end int, center, shrink float64) []int32 {
	exact, sum := make([]float64, end-first), 0.0
	for i := range exact {
		exact[i] = f.weight((float64(first+i) - center + 0.5) * shrink)
		sum += exact[i]
	}
	rounded := make([]int32, len(exact))
	for i, w := range exact {
		rounded[i] = int32(math.Round(w / sum * (1 << fraction)))
	}
	return rounded
}

// half is added to a sum of weights that is cut off, so that it is rounded.
const half = 1 << (fraction - 1)

// row stores the color of the pixel of the window, whose source is a row of red, green and blue.
func (w window) row(to, source []uint8) {
	r, g, b := int32(half), int32(half), int32(half)
	source = source[3*w.first:]
	for i, weight := range w.weights {
		pixel := source[3*i : 3*i+3]
		r += int32(pixel[0]) * weight
		g += int32(pixel[1]) * weight
		b += int32(pixel[2]) * weight
	}
	to[0], to[1], to[2] = clip(r), clip(g), clip(b)
}

// column returns a color of the pixel of the window, whose source is a column of bytes that are stride apart.
func (w window) column(source []uint8, stride int) uint8 {
	sum, at := int32(half), w.first*stride
	for _, weight := range w.weights {
		sum += int32(source[at]) * weight
		at += stride
	}
	return clip(sum)
}

// clip returns the color of a sum.
func clip(sum int32) uint8 { return uint8(max(0, min(sum>>fraction, 255))) }

// square resizes a picture to wide x high pixels and returns the red, green and blue of those in the middle, of shape [side side 3].
// The result is bit for bit that of Pillow's resize, from version 13 on. Its first pass is along rows, or along columns if the height
// decreases by more than twice what the width does.
func (f filter) square(picture image.Image, wide, high int) []uint8 {
	b := picture.Bounds()
	at := colors(picture)
	if b.Dy()-high > max(0, 2*(b.Dx()-wide)) {
		columns := source{b.Dy(), b.Dx(), func(x, y int) color.NRGBA { return at(b.Min.X+y, b.Min.Y+x) }}
		return transpose(f.passes(columns, high, wide))
	}
	return f.passes(source{b.Dx(), b.Dy(), func(x, y int) color.NRGBA { return at(b.Min.X+x, b.Min.Y+y) }}, wide, high)
}

// source is a picture that starts at 0, 0.
type source struct {
	width, height int
	at            func(x, y int) color.NRGBA
}

// passes does the work of square: each row of the source is resized, and then each column, with rounding in between.
func (f filter) passes(s source, wide, high int) []uint8 {
	columns := f.windows(s.width, wide, margin(wide), side)
	rows := f.windows(s.height, high, margin(high), side)
	last := rows[side-1]
	narrow := make([]uint8, (last.first+len(last.weights))*side*3) // the rows above the square stay zero
	line, left := make([]uint8, s.width*3), columns[0].first
	right := columns[side-1].first + len(columns[side-1].weights)
	for y := rows[0].first; y < len(narrow)/(side*3); y++ {
		for x := left; x < right; x++ { // transparency is ignored
			c := s.at(x, y)
			line[3*x], line[3*x+1], line[3*x+2] = c.R, c.G, c.B
		}
		for i, w := range columns {
			w.row(narrow[(y*side+i)*3:], line)
		}
	}
	pixels := make([]uint8, 0, side*side*3)
	for _, w := range rows {
		for i := range side * 3 {
			pixels = append(pixels, w.column(narrow[i:], side*3))
		}
	}
	return pixels
}

// transpose swaps the rows and the columns of a square, and returns it.
func transpose(pixels []uint8) []uint8 {
	for y := range side {
		for x := range y {
			for c := range 3 {
				i, j := (y*side+x)*3+c, (x*side+y)*3+c
				pixels[i], pixels[j] = pixels[j], pixels[i]
			}
		}
	}
	return pixels
}

// colors returns a function that returns the color of a pixel, without allocations for the types of most files.
func colors(picture image.Image) func(x, y int) color.NRGBA {
	switch p := picture.(type) {
	case *image.NRGBA:
		return p.NRGBAAt
	case *image.RGBA:
		if p.Opaque() {
			return func(x, y int) color.NRGBA { return color.NRGBA(p.RGBAAt(x, y)) }
		}
	case *image.YCbCr:
		return func(x, y int) color.NRGBA {
			c := p.YCbCrAt(x, y)
			r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			return color.NRGBA{R: r, G: g, B: b, A: 255}
		}
	}
	return func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA) }
}
