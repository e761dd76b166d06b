package nn

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// RMSNorm divides vectors of Width elements by sqrt(m + Epsilon), where m is the mean of the squares of the elements, and multiplies them
// by its weights.
type RMSNorm struct {
	Width   int
	Epsilon float32
	values  *tensor.Tensor           // the weights
	gain    device.Slice[dtype.BF16] // the weights for fused kernels, if activations are bfloat16
	out     dtype.Type               // of activations
	trained *Parameter

	moderate bool // no element of a normalized row is beyond the range of float16
}

func (n *RMSNorm) load(from *loader, name string) (err error) {
	if from.options.Train {
		n.out = from.params.activations
		n.trained, err = from.parameter(join(name, "weight"), n.Width)
		return err
	}
	values, err := from.vector(join(name, "weight"), n.Width)
	if err != nil {
		return err
	}
	n.out = from.params.activations
	n.moderate = true
	for _, v := range values {
		n.moderate = n.moderate && math.Abs(float64(v))*math.Sqrt(float64(n.Width)) <= 65504
	}
	weight, err := upload(from.params, values)
	if err != nil {
		return err
	}
	if n.values, err = tensor.Wrap(weight, n.Width); err != nil || n.out != dtype.BFloat16 {
		return err
	}
	n.gain, err = upload(from.params, dtype.BF16sFrom32(values))
	return err
}

// Forward returns the normalized rows of x as activations. x is a residual stream or activations.
func (n *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor { return n.forward(x, n.out) }

// forward returns the normalized rows of x as elements of a type.
func (n *RMSNorm) forward(x *tensor.Tensor, of dtype.Type) *tensor.Tensor {
	w := n.values
	switch {
	case n.trained != nil:
		w = n.trained.precise(x)
	case w == nil:
		return unloaded{make: "NewRMSNorm"}.void("RMSNorm", x)
	}
	return x.RMSNorm(w, tensor.NormOptions{Epsilon: float64(n.Epsilon), DType: of})
}

// LayerNorm normalizes vectors of Width elements. It subtracts the mean, divides by sqrt(v + Epsilon), where v is the variance, multiplies by
// its weights, and adds its biases.
type LayerNorm struct {
	Width        int
	Epsilon      float32
	weight, bias *tensor.Tensor
	out          dtype.Type // of activations
	trained      *affine
}

func (n *LayerNorm) load(from *loader, name string) error {
	n.out = from.params.activations
	for suffix, to := range map[string]**tensor.Tensor{"weight": &n.weight, "bias": &n.bias} {
		values, err := from.vector(join(name, suffix), n.Width)
		if err != nil {
			return err
		}
		v, err := upload(from.params, values)
		if err != nil {
			return err
		}
		if *to, err = tensor.Wrap(v, n.Width); err != nil {
			return err
		}
	}
	return nil
}

// Forward returns the normalized rows of x as activations. x is a residual stream or activations.
func (n *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	w, b := n.weight, n.bias
	switch {
	case n.trained != nil:
		w, b = n.trained.weight.precise(x), n.trained.bias.precise(x)
	case w == nil:
		return unloaded{make: "NewLayerNorm"}.void("LayerNorm", x)
	}
	return x.LayerNorm(w, b, tensor.NormOptions{Epsilon: float64(n.Epsilon), DType: n.out})
}
