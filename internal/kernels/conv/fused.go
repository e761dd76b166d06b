package conv

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

//gpu:instance FusedF16 = fused[dtype.F16, row.F16, [32]float32]
//gpu:instance FusedWideF16 = fused[dtype.F16, row.F16, [64]float32]
//gpu:instance FusedBF16 = fused[dtype.BF16, row.BF16, [32]float32]
//gpu:instance FusedWideBF16 = fused[dtype.BF16, row.BF16, [64]float32]

// fuses reports whether Hopper's kernel computes a convolution of elements of a type.
func fuses[T row.Number](d *device.Device, s Shape) bool {
	if _, wide := any(*new(T)).(float32); wide || s.Depthwise || s.Filters%8 != 0 || s.pointwise() && s.Channels%8 != 0 {
		return false
	}
	info := d.Info()
	return info.Kind != "cpu" && info.Capability == device.Capability{Major: 9}
}

// borders reports whether the kernel reads X with a border.
func (s Shape) borders() bool {
	return s.Kernel == 3 && s.Stride == 1 && s.Before == 1 && s.After == 1 && s.Channels%depth == 0 && s.rows() > 0 &&
		s.border().rows() <= math.MaxInt32/s.Channels
}

// border returns the shape of the copy of X with a border on top and on the left, as a convolution. The border on the left of a line
// is also the one on the right of the line before, and the one on top of an image is also that below the image before.
func (s Shape) border() Shape {
	return Shape{Batch: s.Batch, Height: s.Height, Width: s.Width, Channels: s.Channels, Kernel: 1, Stride: 1, Before: 1}
}

// matrices are the operands of a convolution as a product, with row elements from one row to the next.
type matrices[T row.Number] struct {
	a, b device.Slice[T]
	row  int
}

// fused launches Hopper's kernel.
func (x Operands[T]) fused(s *device.Stream, shape Shape, m matrices[T]) error {
	switch x := any(x).(type) {
	case Operands[dtype.F16]:
		return launchFused(s, shape, fusing[dtype.F16]{x, any(m).(matrices[dtype.F16]), FusedF16, FusedWideF16})
	case Operands[dtype.BF16]:
		return launchFused(s, shape, fusing[dtype.BF16]{x, any(m).(matrices[dtype.BF16]), FusedBF16, FusedWideBF16})
	}
	panic("BUG: conv: no such element type")
}

// fusedLauncher launches an instance of fused.
type fusedLauncher[T gpu.Half] func(s *device.Stream, g device.Blocks, a, b device.TensorMap[gpu.Panel[T]], y, residual device.Slice[[8]T], bias device.Slice[float32], o tiling) error

// fusing is a convolution and the launchers for tiles of 64 and of 128 filters.
type fusing[T gpu.Half] struct {
	Operands[T]
	matrices[T]
	narrow, wide fusedLauncher[T]
}

func launchFused[T gpu.Half](s *device.Stream, shape Shape, x fusing[T]) error {
	h, w := shape.Places()
	g := tiling{
		Rows: int32(shape.rows()), Filters: int32(shape.Filters), Channels: int32(x.row), Taps: 1, Kernel: 1, Steps: int32((x.row + depth - 1) / depth),
		Width: int32(w), Height: int32(h), SiLU: x.Activation == SiLU, Low: float32(math.Inf(-1)), High: float32(math.Inf(1)),
	}
	if x.Activation == ReLU || x.Activation == ReLU6 {
		g.Low = 0
	}
	if x.Activation == ReLU6 {
		g.High = 6
	}
	height := shape.rows()
	if shape.borders() {
		g.Taps, g.Kernel, g.Channels, g.Steps = 9, 3, int32(shape.Channels), int32(shape.Channels/depth)
		g.Pitch, g.Lines = int32(w+1), int32(h+1)
		height = shape.border().rows()
		g.Rows = int32(height)
		x.row = shape.Channels
	}
	launch, filters := x.wide, 128
	if down := (int(g.Rows) + tileRows - 1) / tileRows; shape.Filters <= 64 || down*(shape.Filters/filters) < s.Device().Info().Cores {
		launch, filters = x.narrow, 64
	}
	g.Tiles = int32((shape.Filters + filters - 1) / filters)
	left := device.MapTensor[gpu.Panel[T]](x.a, device.Extent{Width: x.row, Height: height, Depth: 1})
	right := device.MapTensor[gpu.Panel[T]](x.b, device.Extent{Width: int(g.Channels * g.Taps), Height: shape.Filters, Depth: 1})
	blocks := device.Blocks{X: (int(g.Rows) + tileRows - 1) / tileRows * int(g.Tiles)}
	return launch(s, blocks, left, right, device.View[[8]T](x.Y), device.View[[8]T](x.Residual), x.Bias, g)
}
