package efficientnet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// ErrModel is the error of files that do not contain an EfficientNet-Lite0.
var ErrModel = errors.New("efficientnet: unknown model")

// Mean returns the means of red, green and blue. To normalize a pixel, scale its colors to the range from 0 to 1, subtract Mean and divide
// by Deviation.
func Mean() [3]float32 { return [3]float32{0.498, 0.498, 0.498} }

// Deviation returns the divisors for red, green and blue: see Mean.
func Deviation() [3]float32 { return [3]float32{0.502, 0.502, 0.502} }

// The height and the width of an image, in pixels, must be multiples of Multiple.
const Multiple = 32

const (
	epsilon  = 1e-3 // of batch norms
	features = 1280 // of an image
)

// network is the layers of a model.
type network struct {
	Stem   nn.Conv2d `weights:"{_conv_stem,_bn0}"`
	Blocks []block   `weights:"_blocks.%d"`
	Last   nn.Conv2d `weights:"{_conv_head,_bn1}"`
	Head   nn.Linear `weights:"_fc"`
}

// block widens its input, convolves each channel, and narrows the result.
type block struct {
	Expand  *nn.Conv2d `weights:"{_expand_conv,_bn0}"` // nil if there are enough channels
	Depth   nn.Conv2d  `weights:"{_depthwise_conv,_bn1}"`
	Project nn.Conv2d  `weights:"{_project_conv,_bn2}"`
	adds    bool       // the input
}

// stages are the groups of equal blocks.
var stages = [...]struct{ blocks, kernel, stride, expansion, out int }{
	{1, 3, 1, 1, 16}, {2, 3, 2, 6, 24}, {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80}, {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320},
}

// newNetwork returns the layers of a model, without parameters.
func newNetwork(classes int) network {
	const first = 32
	n := network{
		Stem: nn.Conv2d{In: 3, Out: first, Kernel: 3, Window: same(3, 2), Epsilon: epsilon, Activation: tensor.ReLU6Activation},
		Head: nn.Linear{In: features, Out: classes, Bias: true},
	}
	in := first
	for _, s := range stages {
		stride := s.stride
		for range s.blocks {
			wide := in * s.expansion
			b := block{
				Depth: nn.Conv2d{
					In: wide, Out: wide, Kernel: s.kernel, Window: same(s.kernel, stride), Depthwise: true, Epsilon: epsilon, Activation: tensor.ReLU6Activation,
				},
				Project: nn.Conv2d{In: wide, Out: s.out, Kernel: 1, Epsilon: epsilon}, adds: stride == 1 && in == s.out,
			}
			if s.expansion > 1 {
				b.Expand = &nn.Conv2d{In: in, Out: wide, Kernel: 1, Epsilon: epsilon, Activation: tensor.ReLU6Activation}
			}
			n.Blocks = append(n.Blocks, b)
			in, stride = s.out, 1
		}
	}
	n.Last = nn.Conv2d{In: in, Out: features, Kernel: 1, Epsilon: epsilon, Activation: tensor.ReLU6Activation}
	return n
}

// same returns the padding with which the result has the image's size divided by the stride, for sizes that are multiples of it.
func same(kernel, stride int) tensor.Window {
	all := kernel - stride
	return tensor.Window{Stride: stride, Before: all / 2, After: all - all/2}
}

func (b *block) forward(x *tensor.Tensor) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		y := x
		if b.Expand != nil {
			y = b.Expand.Forward(x)
		}
		y = b.Depth.Forward(y)
		if b.adds {
			return b.Project.ForwardSum(y, x)
		}
		return b.Project.Forward(y)
	})
}

// Model is a model on a device.
type Model struct {
	Classes int
	layers  network
	params  *nn.Params
}

// LoadOptions are the options of Load.
type LoadOptions struct {
	// DType is the type of activations and weights: dtype.Float32, BFloat16 or Float16. The default is Float16 on GPUs of compute
	// capability 8.0 or later, which have tensor cores for it, and Float32 on other devices.
	DType dtype.Type
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
}

// Load loads a model onto a stream's device. The errors match ErrModel and those of nn.Load.
func Load(s *device.Stream, f *weights.File, o LoadOptions) (*Model, error) {
	head, err := f.Tensor("_fc.weight")
	if err != nil || len(head.Shape()) != 2 {
		return nil, fmt.Errorf("%w: no matrix _fc.weight", ErrModel)
	}
	if info := s.Device().Info(); o.DType == dtype.Invalid && info.Kind != "cpu" && info.Capability.Major >= 8 {
		o.DType = dtype.Float16
	}
	var ignore []string
	for _, t := range f.Tensors {
		if strings.HasSuffix(t.Name(), ".num_batches_tracked") {
			ignore = append(ignore, t.Name())
		}
	}
	classes := head.Shape()[0]
	m := &Model{Classes: classes, layers: newNetwork(classes), params: nn.NewParams(s, nn.Options{DType: o.DType})}
	if err := nn.Load(m.params, &m.layers, f, nn.LoadOptions{Ignore: ignore, Progress: o.Progress}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close frees the model's memory.
func (m *Model) Close() error { return m.params.Close() }

// Bytes returns the size of the parameters on the device.
func (m *Model) Bytes() int64 { return m.params.Bytes() }

// DType returns the type of activations.
func (m *Model) DType() dtype.Type { return m.params.Activations() }

// Forward returns the scores of the classes, before softmax: a float32 tensor of shape [n Classes]. x has the shape [n height width 3]
// and contains normalized images (see Mean). Height and width must be multiples of Multiple: otherwise, the error is tensor.ErrShape. The
// model was trained with 224x224.
func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	if x.Dims() != 4 || x.Dim(1)%Multiple != 0 || x.Dim(2)%Multiple != 0 || x.Dim(3) != 3 {
		return tensor.Op{Name: "EfficientNet", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: []int{0}, Launch: func(*device.Stream, *tensor.Tensor) error {
			return fmt.Errorf("%w: %v, want [n height width 3] with a height and a width that are multiples of %d", tensor.ErrShape, x.Shape(), Multiple)
		}}.Apply()
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		n := &m.layers
		x := n.Stem.Forward(x.To(m.DType()))
		for i := range n.Blocks {
			x = n.Blocks[i].forward(x)
		}
		x = n.Last.Forward(x)
		return n.Head.Forward(nn.MeanOfPixels(x)).To(dtype.Float32)
	})
}
