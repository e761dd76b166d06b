package classify

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/kernels/resize"
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

// window is what one pixel of a result is computed of, along one axis.
type window struct {
	first   int
	weights []int32 // of the source's pixels from first on, in units of 2^-resize.Fraction
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
		rounded[i] = int32(math.Round(w / sum * (1 << resize.Fraction)))
	}
	return rounded
}

// table returns the windows of the square in the middle of a resized axis of out pixels, whose source has in pixels, and their Table.
func (f filter) table(in, out int) (resize.Windows, []int32) {
	list := f.windows(in, out, margin(out), side)
	first, last := list[0], list[side-1]
	w := resize.Windows{Begin: first.first, Count: last.first + len(last.weights) - first.first}
	for _, x := range list {
		w.Taps = max(w.Taps, len(x.weights))
	}
	numbers := make([]int32, (w.Taps+1)*side)
	for i, x := range list {
		numbers[i] = int32(x.first - w.Begin)
		for k, weight := range x.weights {
			numbers[(k+1)*side+i] = weight
		}
	}
	return w, numbers
}
