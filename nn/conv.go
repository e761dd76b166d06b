package nn

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Conv2d convolves images of In channels with Out square filters of Kernel x Kernel pixels: see tensor.Conv2d. A Conv2d is constant. In files,
// filters have the shape that PyTorch uses: [Out, In, Kernel, Kernel] or, if the Conv2d is depthwise, [Out, 1, Kernel, Kernel].
//
// If the tag has two names in braces, such as `weights:"{conv,bn}1"`, the second name is that of a batch norm after the convolution (Ioffe and
// Szegedy, "Batch Normalization"). Load merges the batch norm into the filters and the bias.
type Conv2d struct {
	In, Out, Kernel int
	Window          tensor.Window
	Depthwise       bool
	Bias            bool    // whether the file has a bias; must be false with a batch norm
	Epsilon         float64 // is added to the variance of the batch norm
	Activation      tensor.Activation

	filters, bias *tensor.Tensor
}

func (c *Conv2d) load(from *loader, name string) error {
	names := expanded(name)
	in := c.In
	if c.Depthwise {
		in = 1
	}
	filters, err := from.numbers(join(names[0], "weight"), c.Out, in, c.Kernel, c.Kernel)
	if err != nil {
		return err
	}
	bias := make([]float32, c.Out)
	switch {
	case len(names) == 2:
		err = c.fold(from, names[1], filters, bias)
	case c.Bias:
		bias, err = from.vector(join(names[0], "bias"), c.Out)
	}
	if err != nil {
		return err
	}
	from.progress()
	return c.place(from.params, filters, bias)
}

// fold multiplies filters by the factors of a batch norm, and stores what it adds.
func (c *Conv2d) fold(from *loader, name string, filters, bias []float32) error {
	var values [4][]float32
	for i, suffix := range []string{"weight", "bias", "running_mean", "running_var"} {
		v, err := from.vector(join(name, suffix), c.Out)
		if err != nil {
			return err
		}
		values[i] = v
	}
	each := len(filters) / max(c.Out, 1)
	for i := range bias {
		factor := float64(values[0][i]) / math.Sqrt(float64(values[3][i])+c.Epsilon)
		bias[i] = float32(float64(values[1][i]) - float64(values[2][i])*factor)
		for j := range filters[i*each : (i+1)*each] {
			filters[i*each+j] = float32(float64(filters[i*each+j]) * factor)
		}
	}
	return nil
}

// place uploads the parameters, with channels as the last dimension of filters.
func (c *Conv2d) place(p *Params, filters, bias []float32) error {
	places := c.Kernel * c.Kernel
	shape, moved := []int{c.Out, c.Kernel, c.Kernel, c.In}, make([]float32, len(filters))
	if c.Depthwise {
		shape = []int{c.Kernel, c.Kernel, c.Out}
	}
	for i, v := range filters {
		if c.Depthwise {
			moved[i%places*c.Out+i/places] = v
		} else {
			f, ch := i/places/c.In, i/places%c.In
			moved[(f*places+i%places)*c.In+ch] = v
		}
	}
	var err error
	if c.filters, err = constants(p, moved, shape); err != nil {
		return err
	}
	b, err := upload(p, bias)
	if err == nil {
		c.bias, err = tensor.Wrap(b, c.Out)
	}
	return err
}

// constants uploads values in the type of activations.
func constants(p *Params, values []float32, shape []int) (*tensor.Tensor, error) {
	switch p.activations {
	case dtype.BFloat16:
		x, err := upload(p, dtype.BF16sFrom32(values))
		return wrapped(x, shape, err)
	case dtype.Float16:
		list := make([]dtype.F16, len(values))
		for i, v := range values {
			list[i] = dtype.F16From32(v)
		}
		x, err := upload(p, list)
		return wrapped(x, shape, err)
	}
	x, err := upload(p, values)
	return wrapped(x, shape, err)
}

// wrapped returns memory as a tensor, unless there is an error.
func wrapped[T tensor.Element](x device.Slice[T], shape []int, err error) (*tensor.Tensor, error) {
	if err != nil {
		return nil, err
	}
	return tensor.Wrap(x, shape...)
}

// Forward returns the convolution of x, a tensor of activations with the shape [n height width In].
func (c *Conv2d) Forward(x *tensor.Tensor) *tensor.Tensor { return c.ForwardSum(x, nil) }

// ForwardSum is like Forward, but adds residual before it applies the activation. residual may be nil.
func (c *Conv2d) ForwardSum(x, residual *tensor.Tensor) *tensor.Tensor {
	if c.filters == nil {
		return unloaded{}.void("Conv2d", x)
	}
	return x.Conv2d(c.filters, c.bias, tensor.ConvOptions{Window: c.Window, Depthwise: c.Depthwise, Residual: residual, Activation: c.Activation})
}

// numbers returns the elements of a tensor of the file.
func (l *loader) numbers(name string, shape ...int) ([]float32, error) {
	t, err := l.tensor(name)
	if err != nil {
		return nil, err
	}
	n := elementsOf(shape)
	if s := t.Shape(); fmt.Sprint(s) != fmt.Sprint(shape) {
		return nil, fmt.Errorf("%w: %s is %v, want %v", ErrShape, name, s, shape)
	}
	if !isDense(t.Type()) {
		return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, name, t.Type())
	}
	data, err := l.rows(0, t, shape[0])
	if err != nil {
		return nil, err
	}
	values := make([]float32, n)
	widen(values, stored{of: t.Type(), data: data})
	return values, nil
}

// MeanOfPixels returns the mean of the pixels of each image, a tensor of shape [n channels]. x has the shape [n height width channels].
func MeanOfPixels(x *tensor.Tensor) *tensor.Tensor {
	n, channels := x.Dim(0), x.Dim(3)
	if x.Dim(1) != x.Dim(2) {
		return x.Reshape(n, -1, channels).Mean(1)
	}
	return x.MeanPool2d(x.Dim(1), tensor.Window{}).Reshape(n, channels)
}
