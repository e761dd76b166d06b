package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/conv"
)

// Activation is a function that Conv2d applies to each element of its result.
type Activation = conv.Activation

// The activations.
const (
	NoActivation    = conv.None
	ReLUActivation  = conv.ReLU  // the greater of x and 0
	ReLU6Activation = conv.ReLU6 // like ReLUActivation, but at most 6
	SiLUActivation  = conv.SiLU  // x times the logistic function of x
)

// A Window describes how a filter of Conv2d, or the window of MaxPool2d and MeanPool2d, moves over an image. Stride is the step in pixels; 0
// means 1. Before is the padding above and on the left of the image, and After the padding below and on the right, in pixels.
type Window struct{ Stride, Before, After int }

// ConvOptions are the options of Conv2d.
type ConvOptions struct {
	Window
	Depthwise  bool       // apply one filter to each channel
	Residual   *Tensor    // a tensor of the result's shape that is added to the result; may be nil
	Activation Activation // is applied last
}

// Conv2d convolves the images t, of shape [n height width channels], with m square filters, of shape [m k k channels]. With Depthwise,
// filters has the shape [k k channels], and m is the number of channels. Unless bias is nil, Conv2d adds bias, of shape [m]. The result has
// the shape [n height' width' m], where height' is (height+Before+After-k)/Stride + 1. The padding is zeros. Elements are float32, F16 or
// BF16; arithmetic is in float32; the result has the type of t. Conv2d has no derivative: a variable as an operand is a mistake. The mistake
// is ErrShape if the sizes do not fit, and ErrDType for other types.
func (t *Tensor) Conv2d(filters, bias *Tensor, o ConvOptions) *Tensor {
	const name = "Conv2d"
	in := []*Tensor{t, filters}
	for _, x := range []*Tensor{bias, o.Residual} {
		if x != nil {
			in = append(in, x)
		}
	}
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	shape, err := checkConv(t, filters, o)
	if err == nil {
		err = constant(in)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	x := convolution{shape: shape, activation: o.Activation, x: s.own(t).Contiguous(), filters: s.own(filters).To(t.dtype).Contiguous()}
	if bias != nil {
		x.bias = s.own(bias).To(dtype.Float32).Contiguous()
	}
	if o.Residual != nil {
		x.residual = s.own(o.Residual).To(t.dtype).Contiguous()
	}
	return x.apply(name)
}

// constant returns the mistake that a derivative with respect to a tensor would be needed.
func constant(in []*Tensor) error {
	for _, t := range in {
		if t.NeedsGrad() {
			return fmt.Errorf("%w: no derivative with respect to a variable of shape %v", ErrRecord, t.shape)
		}
	}
	return nil
}

// checkConv returns the shape of a convolution, or the mistake in its operands. The kernel's package checks the sizes.
func checkConv(t, filters *Tensor, o ConvOptions) (conv.Shape, error) {
	shape, err := imageShape(t, o.Window)
	if err != nil {
		return shape, err
	}
	f := filters.shape
	if shape.Depthwise = o.Depthwise; o.Depthwise {
		f = append([]int{0}, f...)
	}
	if len(f) != 4 || f[1] != f[2] || f[3] != shape.Channels || !isFloat(filters.dtype) {
		return shape, fmt.Errorf("%w: filters of %v %v for images of %v %v", ErrShape, filters.dtype, filters.shape, t.dtype, t.shape)
	}
	shape.Filters, shape.Kernel = f[0], f[1]
	return shape, nil
}

// imageShape returns the shape of a convolution of images, without filters.
func imageShape(t *Tensor, w Window) (conv.Shape, error) {
	if len(t.shape) != 4 {
		return conv.Shape{}, fmt.Errorf("%w: images of %v; four dimensions are needed", ErrShape, t.shape)
	}
	if t.dtype != dtype.Float32 && t.dtype != dtype.Float16 && t.dtype != dtype.BFloat16 {
		return conv.Shape{}, fmt.Errorf("%w: images of %v", ErrDType, t.dtype)
	}
	return conv.Shape{
		Batch: t.shape[0], Height: t.shape[1], Width: t.shape[2], Channels: t.shape[3],
		Stride: max(w.Stride, 1), Before: w.Before, After: w.After,
	}, nil
}

// convolution is the operands of Conv2d, of which bias and residual may be nil.
type convolution struct {
	shape                      conv.Shape
	activation                 Activation
	x, filters, bias, residual *Tensor
}

func (c convolution) apply(name string) *Tensor {
	height, width := c.shape.Places()
	channels := c.shape.Filters
	if c.shape.Depthwise {
		channels = c.shape.Channels
	}
	in := []*Tensor{c.x, c.filters}
	for _, t := range []*Tensor{c.bias, c.residual} {
		if t != nil {
			in = append(in, t)
		}
	}
	return Op{
		Name: name, In: in, DType: c.x.dtype, Shape: []int{c.shape.Batch, height, width, channels},
		Launch: func(s *device.Stream, y *Tensor) error {
			switch y.dtype {
			case dtype.Float32:
				return convolve[float32](s, c, y)
			case dtype.BFloat16:
				return convolve[dtype.BF16](s, c, y)
			}
			return convolve[dtype.F16](s, c, y)
		},
	}.Apply()
}

// convolve launches the kernels of a convolution.
func convolve[T number](s *device.Stream, c convolution, y *Tensor) error {
	x := conv.Operands[T]{X: elements[T](c.x), Weights: elements[T](c.filters), Y: elements[T](y), Activation: c.activation}
	if c.bias != nil {
		x.Bias = elements[float32](c.bias)
	}
	if c.residual != nil {
		if !equal(c.residual.shape, y.shape) {
			return fmt.Errorf("%w: a residual of %v for %v", ErrShape, c.residual.shape, y.shape)
		}
		x.Residual = elements[T](c.residual)
	}
	if n := conv.Workspace[T](s.Device(), c.shape); n > 0 {
		work, err := device.MakeDirty[T](s, n)
		if err != nil {
			return err
		}
		defer work.Close() // in stream order
		x.Workspace = work.All()
	}
	return conv.Forward(s, c.shape, x)
}

// MaxPool2d moves a window of size x size pixels over images, a tensor of shape [n height width channels]. For each position of the window, it
// returns the greatest element of each channel. The padding does not count. See Conv2d for the shape of the result, the types and the
// mistakes. MaxPool2d has no derivative.
func (t *Tensor) MaxPool2d(size int, w Window) *Tensor { return t.pool("MaxPool2d", size, w, conv.Max) }

// MeanPool2d is like MaxPool2d, but returns means.
func (t *Tensor) MeanPool2d(size int, w Window) *Tensor {
	return t.pool("MeanPool2d", size, w, conv.Mean)
}

func (t *Tensor) pool(name string, size int, w Window, m conv.Method) *Tensor {
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	shape, err := imageShape(t, w)
	if err == nil {
		err = constant([]*Tensor{t})
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	shape.Kernel = size
	x := t.Contiguous()
	height, width := shape.Places()
	return Op{
		Name: name, In: []*Tensor{x}, DType: x.dtype, Shape: []int{shape.Batch, height, width, shape.Channels},
		Launch: func(s *device.Stream, y *Tensor) error {
			switch y.dtype {
			case dtype.Float32:
				return conv.Pool(s, shape, conv.Pooling[float32]{X: elements[float32](x), Y: elements[float32](y), Method: m})
			case dtype.BFloat16:
				return conv.Pool(s, shape, conv.Pooling[dtype.BF16]{X: elements[dtype.BF16](x), Y: elements[dtype.BF16](y), Method: m})
			}
			return conv.Pool(s, shape, conv.Pooling[dtype.F16]{X: elements[dtype.F16](x), Y: elements[dtype.F16](y), Method: m})
		},
	}.Apply()
}
