package resnet_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// forms are small models with each kind of block.
var forms = []resnet.Config{
	{Blocks: [4]int{1, 2, 1, 1}, Width: 8, Bottleneck: true, Classes: 10},
	{Blocks: [4]int{2, 1, 1, 1}, Width: 8, Classes: 7},
}

const images, side = 2, 37

// pixels returns random images.
func pixels() []float32 {
	r := rand.New(rand.NewPCG(9, 9))
	x := make([]float32, images*side*side*3)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// TestForward compares scores with the reference, for each type and device.
func TestForward(t *testing.T) {
	for _, c := range forms {
		f, err := resnettest.Random(c, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := reference{t, f, c}.forward(pixels())
		for name, open := range kerneltest.Executions() {
			for of, tolerance := range map[dtype.Type]float64{dtype.Float32: 2e-5, dtype.Float16: 0.02, dtype.BFloat16: 0.15} {
				if (name != "AVX-512" || of != dtype.Float32) && name != "cuda" && (name != "interp" || of != dtype.Float16) {
					continue // the other executions of the same kernels are tested with the kernels
				}
				t.Run(fmt.Sprintf("%s/%v/%v", name, of, c.Bottleneck), func(t *testing.T) {
					got := forward(t, open, f, of)
					if len(got) != len(want) {
						t.Fatalf("%d scores, want %d", len(got), len(want))
					}
					for i, w := range want {
						if !(math.Abs(float64(got[i])-w) <= tolerance) {
							t.Errorf("score %d is %v, want %v", i, got[i], w)
						}
					}
				})
			}
		}
	}
}

// forward returns the scores of the images.
func forward(t *testing.T, open kerneltest.Opener, f *weights.File, of dtype.Type) (got []float32) {
	t.Helper()
	err := tensor.Run(t.Context(), kerneltest.Device(t, open), func(s *tensor.Scope) error {
		m, err := resnet.Load(s.Stream(), f, resnet.LoadOptions{DType: of})
		if err != nil {
			return err
		}
		defer m.Close()
		if m.DType() != of {
			t.Errorf("activations are %v", m.DType())
		}
		got, err = tensor.Values[float32](t.Context(), m.Forward(tensor.From(s, pixels(), images, side, side, 3)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestMistakes loads files that lack tensors or have others.
func TestMistakes(t *testing.T) {
	f, err := resnettest.Random(forms[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{"fc.weight", "conv1.weight", "layer3.0.conv1.weight"} {
		if _, err := load(t, f, without); !errors.Is(err, resnet.ErrModel) {
			t.Errorf("without %s: %v, want ErrModel", without, err)
		}
	}
	if _, err := load(t, f, "bn1.running_var"); err == nil || errors.Is(err, resnet.ErrModel) {
		t.Errorf("without a variance: %v", err)
	}
}

// load loads a file without a tensor.
func load(t *testing.T, f *weights.File, without string) (*resnet.Model, error) {
	t.Helper()
	var list []*weights.Tensor
	for _, x := range f.Tensors {
		if x.Name() != without {
			list = append(list, x)
		}
	}
	part, err := weights.New(weights.Contents{Tensors: list})
	if err != nil {
		t.Fatal(err)
	}
	return resnet.Load(kerneltest.Stream(t, cpu.Open), part, resnet.LoadOptions{})
}

// reference computes a model in float64, with channels before places, and with batch norms of their own.
type reference struct {
	t *testing.T
	f *weights.File
	resnet.Config
}

// image is an array of shape [channels, height, width].
type image struct {
	channels, height, width int
	x                       []float64
}

// values returns a tensor of the file.
func (r reference) values(name string) []float64 {
	r.t.Helper()
	x, err := r.f.Tensor(name)
	if err != nil {
		r.t.Fatal(err)
	}
	data := make([]byte, x.Size())
	if _, err := x.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	list := make([]float64, len(data)/4)
	for i := range list {
		list[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return list
}

// conv is a convolution and its batch norm.
func (r reference) conv(x image, name [2]string, kernel, stride int) image {
	w, pad, bn := r.values(name[0]+".weight"), kernel/2, name[1]
	gain, shift, mean, variance := r.values(bn+".weight"), r.values(bn+".bias"), r.values(bn+".running_mean"), r.values(bn+".running_var")
	y := image{channels: len(gain), height: (x.height+2*pad-kernel)/stride + 1, width: (x.width+2*pad-kernel)/stride + 1}
	for c := range y.channels {
		for i := range y.height * y.width {
			sum := 0.0
			for j := range x.channels * kernel * kernel {
				row, column := i/y.width*stride+j/kernel%kernel-pad, i%y.width*stride+j%kernel-pad
				if row >= 0 && row < x.height && column >= 0 && column < x.width {
					sum += w[c*x.channels*kernel*kernel+j] * x.x[(j/kernel/kernel*x.height+row)*x.width+column]
				}
			}
			y.x = append(y.x, (sum-mean[c])/math.Sqrt(variance[c]+1e-5)*gain[c]+shift[c])
		}
	}
	return y
}

func (x image) relu() image {
	for i, v := range x.x {
		x.x[i] = max(v, 0)
	}
	return x
}

// pool is max pooling of 3x3 places.
func (x image) pool() image {
	y := image{channels: x.channels, height: (x.height-1)/2 + 1, width: (x.width-1)/2 + 1}
	for i := range y.channels * y.height * y.width {
		c, at, best := i/(y.height*y.width), i%(y.height*y.width), math.Inf(-1)
		for tap := range 9 {
			row, column := at/y.width*2+tap/3-1, at%y.width*2+tap%3-1
			if row >= 0 && row < x.height && column >= 0 && column < x.width {
				best = max(best, x.x[(c*x.height+row)*x.width+column])
			}
		}
		y.x = append(y.x, best)
	}
	return y
}

// block is a block of a stage.
func (r reference) block(x image, at string, stride int) image {
	y, residual := x, x
	if r.Bottleneck {
		y = r.conv(y, [2]string{at + "conv1", at + "bn1"}, 1, 1).relu()
		y = r.conv(y, [2]string{at + "conv2", at + "bn2"}, 3, stride).relu()
		y = r.conv(y, [2]string{at + "conv3", at + "bn3"}, 1, 1)
	} else {
		y = r.conv(y, [2]string{at + "conv1", at + "bn1"}, 3, stride).relu()
		y = r.conv(y, [2]string{at + "conv2", at + "bn2"}, 3, 1)
	}
	if _, err := r.f.Tensor(at + "downsample.0.weight"); err == nil {
		residual = r.conv(x, [2]string{at + "downsample.0", at + "downsample.1"}, 1, stride)
	}
	for i, v := range residual.x {
		y.x[i] += v
	}
	return y.relu()
}

// forward returns the scores of images whose channels are neighbours.
func (r reference) forward(all []float32) (scores []float64) {
	w, b := r.values("fc.weight"), r.values("fc.bias")
	for n := range images {
		x := image{channels: 3, height: side, width: side}
		for i := range 3 * side * side {
			x.x = append(x.x, float64(all[(n*side*side+i%(side*side))*3+i/(side*side)]))
		}
		x = r.conv(x, [2]string{"conv1", "bn1"}, 7, 2).relu().pool()
		for i, blocks := range r.Blocks {
			for j := range blocks {
				stride := 1
				if i > 0 && j == 0 {
					stride = 2
				}
				x = r.block(x, fmt.Sprintf("layer%d.%d.", i+1, j), stride)
			}
		}
		for class := range r.Classes {
			sum, places := b[class], x.height*x.width
			for i, v := range x.x {
				sum += v / float64(places) * w[class*x.channels+i/places]
			}
			scores = append(scores, sum)
		}
	}
	return scores
}
