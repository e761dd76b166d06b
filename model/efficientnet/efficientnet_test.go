package efficientnet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/efficientnet"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// builder makes a model with random weights, and computes its scores for an image in float64, layer by layer.
type builder struct {
	t       *testing.T
	r       *rand.Rand
	tensors []*weights.Tensor
	x       []float64 // of shape [channels height width]
	height  int
	width   int
}

// add adds a tensor of random elements, and returns them.
func (b *builder) add(name string, mean, deviation float64, shape ...int) []float64 {
	b.t.Helper()
	n := 1
	for _, d := range shape {
		n *= d
	}
	values, wide := make([]float32, n), make([]float64, n)
	for i := range values {
		values[i] = float32(mean + deviation*b.r.NormFloat64())
		wide[i] = float64(values[i])
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		b.t.Fatal(err)
	}
	x, err := weights.NewTensor(weights.Spec{Name: name, Type: weights.F32, Shape: shape}, bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	b.tensors = append(b.tensors, x)
	return wide
}

// layer is a convolution and its batch norm.
type layer struct {
	conv, bn                string
	in, out, kernel, stride int
	depthwise, relu6        bool
}

// apply adds a layer, and applies it.
func (b *builder) apply(l layer) {
	channels := l.in
	if l.depthwise {
		channels = 1
	}
	w := b.add(l.conv+".weight", 0, math.Sqrt(2/float64(channels*l.kernel*l.kernel)), l.out, channels, l.kernel, l.kernel)
	gain, shift := b.add(l.bn+".weight", 1, 0.1, l.out), b.add(l.bn+".bias", 0, 0.1, l.out)
	mean, variance := b.add(l.bn+".running_mean", 0, 0.1, l.out), b.add(l.bn+".running_var", 1, 0.1, l.out)
	height, width, before := b.height/l.stride, b.width/l.stride, (l.kernel-l.stride)/2
	y := make([]float64, l.out*height*width)
	for i := range y {
		c, row, column, sum := i/(height*width), i/width%height*l.stride-before, i%width*l.stride-before, 0.0
		for j := range channels * l.kernel * l.kernel {
			p, q, from := row+j/l.kernel%l.kernel, column+j%l.kernel, j/(l.kernel*l.kernel)
			if l.depthwise {
				from = c
			}
			if p >= 0 && p < b.height && q >= 0 && q < b.width {
				sum += w[c*channels*l.kernel*l.kernel+j] * b.x[(from*b.height+p)*b.width+q]
			}
		}
		y[i] = (sum-mean[c])/math.Sqrt(variance[c]+1e-3)*gain[c] + shift[c]
		if l.relu6 {
			y[i] = min(max(y[i], 0), 6)
		}
	}
	b.x, b.height, b.width = y, height, width
}

// blocks are the kernel, the stride, the expansion, and the channels of the input and the output of each block.
var blocks = [][5]int{
	{3, 1, 1, 32, 16}, {3, 2, 6, 16, 24}, {3, 1, 6, 24, 24}, {5, 2, 6, 24, 40}, {5, 1, 6, 40, 40}, {3, 2, 6, 40, 80}, {3, 1, 6, 80, 80}, {3, 1, 6, 80, 80},
	{5, 1, 6, 80, 112}, {5, 1, 6, 112, 112}, {5, 1, 6, 112, 112}, {5, 2, 6, 112, 192}, {5, 1, 6, 192, 192}, {5, 1, 6, 192, 192}, {5, 1, 6, 192, 192},
	{3, 1, 6, 192, 320},
}

// forward adds all layers, and returns the scores of the classes.
func (b *builder) forward(classes int) (scores []float64) {
	b.apply(layer{"_conv_stem", "_bn0", 3, 32, 3, 2, false, true})
	for i, s := range blocks {
		at, x, wide := fmt.Sprintf("_blocks.%d.", i), b.x, s[2]*s[3]
		if s[2] > 1 {
			b.apply(layer{at + "_expand_conv", at + "_bn0", s[3], wide, 1, 1, false, true})
		}
		b.apply(layer{at + "_depthwise_conv", at + "_bn1", wide, wide, s[0], s[1], true, true})
		b.apply(layer{at + "_project_conv", at + "_bn2", wide, s[4], 1, 1, false, false})
		if s[1] == 1 && s[3] == s[4] {
			for j, v := range x {
				b.x[j] += v
			}
		}
	}
	b.apply(layer{"_conv_head", "_bn1", 320, 1280, 1, 1, false, true})
	w, bias := b.add("_fc.weight", 0, 0.03, classes, 1280), b.add("_fc.bias", 0, 0.1, classes)
	for c := range classes {
		sum := bias[c]
		for i, v := range b.x {
			sum += v / float64(b.height*b.width) * w[c*1280+i/(b.height*b.width)]
		}
		scores = append(scores, sum)
	}
	return scores
}

// TestForward compares the scores of a square image and of a wide one with those of the builder. A width that is no multiple of 32 is a mistake.
func TestForward(t *testing.T) {
	t.Run("square", func(t *testing.T) { forward(t, 64, 64) })
	t.Run("wide", func(t *testing.T) { forward(t, 32, 64) })
}

func forward(t *testing.T, height, width int) {
	const classes = 5
	b := &builder{t: t, r: rand.New(rand.NewPCG(1, 1)), height: height, width: width}
	pixels := make([]float32, 3*height*width)
	b.x = make([]float64, len(pixels))
	for i := range pixels {
		pixels[i] = float32(b.r.NormFloat64())
		b.x[i%3*height*width+i/3] = float64(pixels[i])
	}
	want := b.forward(classes)
	f, err := weights.New(weights.Contents{Tensors: b.tensors})
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]dtype.Type{"AVX-512": dtype.Float32, "cuda": dtype.Float16} {
		open, ok := kerneltest.Executions()[name]
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tolerance := map[dtype.Type]float64{dtype.Float32: 2e-5, dtype.Float16: 0.03}[of]
			err := tensor.Run(t.Context(), kerneltest.Device(t, open), func(s *tensor.Scope) error {
				m, err := efficientnet.Load(s.Stream(), f, efficientnet.LoadOptions{DType: of})
				if err != nil {
					return err
				}
				defer m.Close()
				got, err := tensor.Values[float32](t.Context(), m.Forward(tensor.From(s, pixels, 1, height, width, 3)))
				if len(got) != classes {
					t.Errorf("%d scores, want %d", len(got), classes)
				}
				for i, v := range got[:min(classes, len(got))] {
					if !(math.Abs(float64(v)-want[i]) <= tolerance) {
						t.Errorf("score %d is %v, want %v", i, v, want[i])
					}
				}
				odd := tensor.RunOn(t.Context(), s.Stream(), func(s *tensor.Scope) error {
					return m.Forward(tensor.Zeros(s, dtype.Float32, 1, height, width+1, 3)).Err()
				})
				if !errors.Is(odd, tensor.ErrShape) || !strings.Contains(odd.Error(), "multiples of 32") {
					t.Errorf("an image of %d x %d: got %v, want ErrShape", height, width+1, odd)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMistakes loads a file of another model.
func TestMistakes(t *testing.T) {
	f, err := weights.New(weights.Contents{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := efficientnet.Load(kerneltest.Stream(t, cpu.Open), f, efficientnet.LoadOptions{}); !errors.Is(err, efficientnet.ErrModel) {
		t.Errorf("got %v, want ErrModel", err)
	}
}
