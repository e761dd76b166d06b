package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// product64 stores in each element the sum of K products of elements at positions A and B, StepA and StepB from each other.
//
//gpu:kernel
//gpu:block 128
func product64(t gpu.Thread, x, y, out []float64, k, stepA, stepB uint32, p places) {
	i := first(t)
	if i >= p.N {
		return
	}
	a, b, _ := p.at(i)
	sum := 0.0
	for range k {
		sum += x[a] * y[b]
		a, b = a+stepA, b+stepB
	}
	out[i] = sum
}

// Lines are lines of two arrays: Length elements, StepX and StepY from each other. Out, which is contiguous, has an element for each pair of
// lines.
type Lines struct {
	Out, X, Y            Array
	Length, StepX, StepY int
}

// Product stores in each element of Out the sum of the products of a pair of lines. All elements are float64. Other types have faster
// products in package gemm.
func Product(s *device.Stream, shape []int, l *Lines) error {
	x, y, out := &l.X, &l.Y, &l.Out
	if x.Type != dtype.Float64 || y.Type != dtype.Float64 || out.Type != dtype.Float64 {
		return fmt.Errorf("%w: a product of %v and %v to %v", ErrType, x.Type, y.Type, out.Type)
	}
	p, err := placesOf(shape, x, y, new(Array))
	if err != nil || p.N == 0 {
		return err
	}
	return Product64(s, blocks(p.N), elements[float64](x), elements[float64](y), elements[float64](out), uint32(l.Length), uint32(l.StepX), uint32(l.StepY), p)
}
