package resnettest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/weights"
)

// builder collects the tensors of a model.
type builder struct {
	r       *rand.Rand
	tensors []*weights.Tensor
	err     error
}

// Random returns the file of a model with random weights. With these weights, the magnitude of activations stays the
// same from layer to layer.
func Random(c resnet.Config, seed uint64) (*weights.File, error) {
	b := &builder{r: rand.New(rand.NewPCG(seed, 3))}
	b.filters("conv1", c.Width, 3, 7)
	b.norm("bn1", c.Width, 1)
	in, width := c.Width, c.Width
	for i, n := range c.Blocks {
		for j := range n {
			at, out := fmt.Sprintf("layer%d.%d.", i+1, j), b.block(c, fmt.Sprintf("layer%d.%d.", i+1, j), in, width)
			if j == 0 && (i > 0 || in != out) {
				b.filters(at+"downsample.0", out, in, 1)
				b.norm(at+"downsample.1", out, 1)
			}
			in = out
		}
		width *= 2
	}
	b.add("fc.weight", spread{0, 1 / math.Sqrt(float64(in))}, c.Classes, in)
	b.add("fc.bias", spread{0, 0.1}, c.Classes)
	if b.err != nil {
		return nil, b.err
	}
	return weights.New(weights.Contents{Tensors: b.tensors})
}

// block adds the convolutions of a block, and returns the number of its channels.
func (b *builder) block(c resnet.Config, at string, in, width int) int {
	if !c.Bottleneck {
		b.filters(at+"conv1", width, in, 3)
		b.norm(at+"bn1", width, 1)
		b.filters(at+"conv2", width, width, 3)
		b.norm(at+"bn2", width, 0.3)
		return width
	}
	b.filters(at+"conv1", width, in, 1)
	b.norm(at+"bn1", width, 1)
	b.filters(at+"conv2", width, width, 3)
	b.norm(at+"bn2", width, 1)
	b.filters(at+"conv3", 4*width, width, 1)
	b.norm(at+"bn3", 4*width, 0.3)
	return 4 * width
}

// spread is a normal distribution.
type spread struct{ mean, deviation float64 }

func (b *builder) filters(name string, out, in, kernel int) {
	b.add(name+".weight", spread{0, math.Sqrt(2 / float64(in*kernel*kernel))}, out, in, kernel, kernel)
}

func (b *builder) norm(name string, width int, scale float64) {
	b.add(name+".weight", spread{scale, 0.1 * scale}, width)
	b.add(name+".bias", spread{0, 0.1}, width)
	b.add(name+".running_mean", spread{0, 0.1}, width)
	b.add(name+".running_var", spread{1, 0.1}, width)
}

// add adds a tensor of random elements.
func (b *builder) add(name string, s spread, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(s.mean + s.deviation*b.r.NormFloat64())
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err == nil {
		var t *weights.Tensor
		t, err = weights.NewTensor(weights.Spec{Name: name, Type: weights.F32, Shape: shape}, bytes.NewReader(data))
		b.tensors = append(b.tensors, t)
	}
	if err != nil && b.err == nil {
		b.err = err
	}
}
