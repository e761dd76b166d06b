package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Form is the form of a kernel. All forms compute the same product; they add in different orders.
type Form int

// The forms.
const (
	Tiles Form = iota // a thread for each row, for CPUs
	Warps             // eight warps for 16 rows, for GPUs
)

// Vectors are the operands of a product beside the matrix: Y = matrix x X. X has a number for each column, Y one for each row,
// and Scratch, which is overwritten, one for each block of a row.
type Vectors struct {
	X, Y, Scratch device.Slice[float32]
}

// check reports whether the vectors fit a matrix of a shape.
func (v Vectors) check(s Shape) error {
	if v.X.Len() != s.Columns || v.Y.Len() != s.Rows || v.Scratch.Len() != s.Blocks() {
		return fmt.Errorf("%w: a matrix of %d x %d, vectors of %d, %d and %d", ErrShape, s.Rows, s.Columns, v.X.Len(), v.Y.Len(), v.Scratch.Len())
	}
	return nil
}

// DeviceQ4 is a PackedQ4 in device memory.
type DeviceQ4 struct {
	Shape
	Planes         device.Slice[uint32]
	Scales, Minima device.Slice[dtype.F16]
}

// Multiply stores the product of the matrix and v.X in v.Y.
func (m DeviceQ4) Multiply(s *device.Stream, f Form, v Vectors) error {
	if err := v.check(m.Shape); err != nil {
		return err
	}
	if f == Warps {
		return WarpsQ4(s, device.Blocks{X: m.tiles()}, device.View[quad](m.Planes), device.View[halves](m.Scales), device.View[halves](m.Minima), device.View[numbers](v.X), v.Y)
	}
	if err := SumBlocks(s, device.Cover(v.Scratch.Len(), 64), v.X, v.Scratch); err != nil {
		return err
	}
	return TileQ4(s, device.Blocks{X: m.tiles()}, m.Planes, m.Scales, m.Minima, v.X, v.Scratch, v.Y)
}

// DeviceQ8 is a PackedQ8 in device memory.
type DeviceQ8 struct {
	Shape
	Planes device.Slice[uint32]
	Scales device.Slice[dtype.F16]
}

// Multiply stores the product of the matrix and v.X in v.Y.
func (m DeviceQ8) Multiply(s *device.Stream, f Form, v Vectors) error {
	if err := v.check(m.Shape); err != nil {
		return err
	}
	if f == Warps {
		return WarpsQ8(s, device.Blocks{X: m.tiles()}, device.View[quad](m.Planes), device.View[halves](m.Scales), device.View[numbers](v.X), v.Y)
	}
	return TileQ8(s, device.Blocks{X: m.tiles()}, m.Planes, m.Scales, v.X, v.Y)
}
