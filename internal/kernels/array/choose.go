package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// choose stores elements at positions B where the condition at position A holds, and elsewhere those at positions C.
//
//gpu:kernel
//gpu:block 128
func choose(t gpu.Thread, holds, x8, y8, out8 []uint8, x16, y16, out16 []uint16, x32, y32, out32 []uint32, x64, y64, out64 []uint64, size uint32, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, b, c := p.at(i)
		which := choice{holds[a] != 0, b, c}
		switch size {
		case 1:
			out8[i] = either(x8, y8, which)
		case 2:
			out16[i] = either(x16, y16, which)
		case 4:
			out32[i] = either(x32, y32, which)
		default:
			out64[i] = either(x64, y64, which)
		}
	}
}

// choice is which of two elements to take.
type choice struct {
	first bool
	x, y  uint32 // their positions
}

// either returns the element of x or that of y.
func either[T uint8 | uint16 | uint32 | uint64](x, y []T, c choice) T {
	if c.first {
		return x[c.x]
	}
	return y[c.y]
}

// Selection is the operands of Where. Out is contiguous, and the others may be broadcast.
type Selection struct{ Out, Holds, X, Y Array }

// Where stores in Out the elements of X where Holds, an array of booleans, is true, and elsewhere those of Y.
func Where(s *device.Stream, shape []int, o *Selection) error {
	if o.Holds.Type != dtype.Bool || o.X.Type != o.Y.Type || o.Out.Type != o.X.Type {
		return fmt.Errorf("%w: a choice by %v between %v and %v for %v", ErrType, o.Holds.Type, o.X.Type, o.Y.Type, o.Out.Type)
	}
	holds, x, y, out := &o.Holds, &o.X, &o.Y, &o.Out
	p, err := placesOf(shape, holds, x, y)
	if err != nil || p.N == 0 {
		return err
	}
	return Choose(s, blocksFor(s, p.N), elements[uint8](holds), elements[uint8](x), elements[uint8](y), elements[uint8](out),
		elements[uint16](x), elements[uint16](y), elements[uint16](out), elements[uint32](x), elements[uint32](y), elements[uint32](out),
		elements[uint64](x), elements[uint64](y), elements[uint64](out), uint32(x.Type.Size()), p)
}
