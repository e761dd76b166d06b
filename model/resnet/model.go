package resnet

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

// ErrModel is the error of files that do not contain a ResNet of a known form.
var ErrModel = errors.New("resnet: unknown model")

// Mean returns the means of red, green and blue. To normalize a pixel, scale its colors to the range from 0 to 1,
// subtract Mean and divide by Deviation. The numbers are those that torchvision's weights were trained with.
func Mean() [3]float32 { return [3]float32{0.485, 0.456, 0.406} }

// Deviation returns the divisors for red, green and blue: see Mean.
func Deviation() [3]float32 { return [3]float32{0.229, 0.224, 0.225} }

// Config is the form of a model.
type Config struct {
	Blocks     [4]int // the number of blocks in each stage
	Width      int    // channels of the first stage's 3x3 filters, usually 64
	Bottleneck bool   // whether blocks have three convolutions instead of two
	Classes    int
}

// expansion is the number of channels of a block's output for each channel of its 3x3 filters.
func (c Config) expansion() int {
	if c.Bottleneck {
		return 4
	}
	return 1
}

// ConfigOf returns the form of the model in a file.
func ConfigOf(f *weights.File) (Config, error) {
	fc, err := f.Tensor("fc.weight")
	if err != nil {
		return Config{}, fmt.Errorf("%w: no tensor fc.weight", ErrModel)
	}
	first, err := f.Tensor("conv1.weight")
	if err != nil || len(first.Shape()) != 4 || len(fc.Shape()) != 2 {
		return Config{}, fmt.Errorf("%w: no filters conv1.weight, or no matrix fc.weight", ErrModel)
	}
	c := Config{Width: first.Shape()[0], Classes: fc.Shape()[0]}
	_, missing := f.Tensor("layer1.0.conv3.weight")
	c.Bottleneck = missing == nil
	for i := range c.Blocks {
		for missing = nil; missing == nil; c.Blocks[i]++ {
			_, missing = f.Tensor(fmt.Sprintf("layer%d.%d.conv1.weight", i+1, c.Blocks[i]))
		}
		if c.Blocks[i]--; c.Blocks[i] == 0 {
			return c, fmt.Errorf("%w: no tensors of layer%d", ErrModel, i+1)
		}
	}
	return c, nil
}

// network is the layers of a model.
type network struct {
	Stem   nn.Conv2d `weights:"{conv1,bn1}"`
	Stage1 []block   `weights:"layer1.%d"`
	Stage2 []block   `weights:"layer2.%d"`
	Stage3 []block   `weights:"layer3.%d"`
	Stage4 []block   `weights:"layer4.%d"`
	Head   nn.Linear `weights:"fc"`
}

// block adds the results of convolutions to its input, or to the result of Down.
type block struct {
	One   nn.Conv2d  `weights:"{conv1,bn1}"`
	Two   nn.Conv2d  `weights:"{conv2,bn2}"`
	Three *nn.Conv2d `weights:"{conv3,bn3}"` // nil without a bottleneck
	Down  *nn.Conv2d `weights:"downsample.{0,1}"`
}

const epsilon = 1e-5 // of batch norms

// newNetwork returns the layers of a model, without parameters.
func newNetwork(c Config) network {
	n := network{
		Stem: nn.Conv2d{In: 3, Out: c.Width, Kernel: 7, Window: tensor.Window{Stride: 2, Before: 3, After: 3}, Epsilon: epsilon, Activation: tensor.ReLUActivation},
		Head: nn.Linear{In: 8 * c.Width * c.expansion(), Out: c.Classes, Bias: true},
	}
	in, width := c.Width, c.Width
	for i, stage := range []*[]block{&n.Stage1, &n.Stage2, &n.Stage3, &n.Stage4} {
		for j := range c.Blocks[i] {
			stride := 1
			if i > 0 && j == 0 {
				stride = 2
			}
			*stage = append(*stage, newBlock(c, in, width, stride))
			in = width * c.expansion()
		}
		width *= 2
	}
	return n
}

// newBlock returns a block for in channels, whose 3x3 filters are width.
func newBlock(c Config, in, width, stride int) block {
	out := width * c.expansion()
	point := nn.Conv2d{In: in, Out: width, Kernel: 1, Epsilon: epsilon, Activation: tensor.ReLUActivation}
	wide := nn.Conv2d{In: width, Out: width, Kernel: 3, Window: tensor.Window{Stride: stride, Before: 1, After: 1}, Epsilon: epsilon, Activation: tensor.ReLUActivation}
	var b block
	if c.Bottleneck {
		last := point
		last.In, last.Out = width, out
		b = block{One: point, Two: wide, Three: &last}
	} else {
		first, second := wide, wide
		first.In, second.Window.Stride = in, 1
		b = block{One: first, Two: second}
	}
	if stride != 1 || in != out {
		b.Down = &nn.Conv2d{In: in, Out: out, Kernel: 1, Window: tensor.Window{Stride: stride}, Epsilon: epsilon}
	}
	return b
}

func (b *block) forward(x *tensor.Tensor) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		residual := x
		if b.Down != nil {
			residual = b.Down.Forward(x)
		}
		if b.Three == nil {
			return b.Two.ForwardSum(b.One.Forward(x), residual)
		}
		return b.Three.ForwardSum(b.Two.Forward(b.One.Forward(x)), residual)
	})
}

// Model is a model on a device.
type Model struct {
	Config
	layers network
	params *nn.Params
}

// LoadOptions are the options of Load.
type LoadOptions struct {
	// DType is the type of activations and weights: dtype.Float32, BFloat16 or Float16. The default is Float16 on GPUs
	// of compute capability 8.0 or later, which have tensor cores for it, and Float32 on other devices.
	DType dtype.Type
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
}

// Load loads a model onto a stream's device. The errors match ErrModel and those of nn.Load.
func Load(s *device.Stream, f *weights.File, o LoadOptions) (*Model, error) {
	c, err := ConfigOf(f)
	if err != nil {
		return nil, err
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
	m := &Model{Config: c, layers: newNetwork(c), params: nn.NewParams(s, nn.Options{DType: o.DType})}
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

// Forward returns the scores of the classes, before softmax: a float32 tensor of shape [n Classes]. x has the shape [n height width 3] and
// contains normalized images (see Mean).
func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		n := &m.layers
		x := n.Stem.Forward(x.To(m.DType())).MaxPool2d(3, tensor.Window{Stride: 2, Before: 1, After: 1})
		for _, stage := range [][]block{n.Stage1, n.Stage2, n.Stage3, n.Stage4} {
			for i := range stage {
				x = stage[i].forward(x)
			}
		}
		return n.Head.Forward(nn.MeanOfPixels(x)).To(dtype.Float32)
	})
}
