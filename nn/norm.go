package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// RMSNorm divides vectors of Width elements by the root of the mean of their squares plus Epsilon, and multiplies by its weights.
type RMSNorm struct {
	Width   int
	Epsilon float32
	values  *tensor.Tensor           // the weights
	gain    device.Slice[dtype.BF16] // the weights for fused kernels, if activations are bfloat16
	out     dtype.Type               // of activations
	trained *Parameter
}

func (n *RMSNorm) load(from *loader, name string) error {
	values, err := from.vector(name+".weight", n.Width)
	if err != nil {
		return err
	}
	n.out = from.params.activations
	weight, err := upload(from.params, values)
	if err != nil {
		return err
	}
	if n.values, err = tensor.Wrap(weight, n.Width); err != nil || n.out != dtype.BFloat16 {
		return err
	}
	n.gain, err = upload(from.params, rounded(values))
	return err
}

// Forward returns the normalized rows of x, a tensor of the residual stream or of activations, as activations.
func (n *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	w := n.values
	if n.trained != nil {
		w = n.trained.beside(x)
	}
	return x.RMSNorm(w, tensor.NormOptions{Epsilon: float64(n.Epsilon), DType: n.out})
}
