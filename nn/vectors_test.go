package nn_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// vector is a layer of testdata/vectors.npz.
type vector struct {
	name    string
	model   any // a pointer to a struct of the layer
	forward func(in []*tensor.Tensor) *tensor.Tensor
}

// convolved is a model of a convolution, perhaps with a batch norm.
type convolved struct {
	Conv nn.Conv2d `weights:"{conv,bn}"`
}

func convolution(name string, c nn.Conv2d) vector {
	m := &convolved{c}
	return vector{name, m, func(in []*tensor.Tensor) *tensor.Tensor {
		if len(in) == 2 {
			return m.Conv.ForwardSum(in[0], in[1])
		}
		return m.Conv.Forward(in[0])
	}}
}

// layersOfVectors returns the layers of testdata/vectors.npz.
func layersOfVectors() []vector {
	padded := tensor.Window{Stride: 1, Before: 1, After: 1}
	plain := &struct {
		Conv nn.Conv2d `weights:"conv"`
	}{nn.Conv2d{In: 5, Out: 7, Kernel: 3, Window: padded, Bias: true}}
	list := []vector{
		{"conv", plain, func(in []*tensor.Tensor) *tensor.Tensor { return plain.Conv.Forward(in[0]) }},
		convolution("batchnorm", nn.Conv2d{In: 5, Out: 8, Kernel: 3, Window: tensor.Window{Stride: 2, Before: 1, After: 1}, Epsilon: 1e-3, Activation: tensor.ReLUActivation}),
		convolution("residual", nn.Conv2d{In: 5, Out: 5, Kernel: 1, Epsilon: 1e-5, Activation: tensor.ReLUActivation}),
		convolution("depthwise", nn.Conv2d{In: 5, Out: 5, Kernel: 3, Window: padded, Depthwise: true, Epsilon: 1e-5, Activation: tensor.SiLUActivation}),
		convolution("noimages", nn.Conv2d{In: 5, Out: 8, Kernel: 3, Epsilon: 1e-5}),
	}
	for _, rows := range []int{3, 0} {
		linear := &struct {
			Linear nn.Linear `weights:"linear"`
		}{nn.Linear{In: 32, Out: 5, Bias: true}}
		centred := &struct {
			Norm nn.LayerNorm `weights:"norm"`
		}{nn.LayerNorm{Width: 33, Epsilon: 1e-5}}
		scaled := &struct {
			Norm nn.RMSNorm `weights:"norm"`
		}{nn.RMSNorm{Width: 33, Epsilon: 1e-5}}
		table := &struct {
			Embed nn.Embedding `weights:"embed"`
		}{nn.Embedding{Count: 7, Width: 32}}
		list = append(list,
			vector{fmt.Sprint("linear", rows), linear, func(in []*tensor.Tensor) *tensor.Tensor { return linear.Linear.Forward(in[0]) }},
			vector{fmt.Sprint("layernorm", rows), centred, func(in []*tensor.Tensor) *tensor.Tensor { return centred.Norm.Forward(in[0]) }},
			vector{fmt.Sprint("rmsnorm", rows), scaled, func(in []*tensor.Tensor) *tensor.Tensor { return scaled.Norm.Forward(in[0]) }},
			vector{fmt.Sprint("embedding", rows), table, func(in []*tensor.Tensor) *tensor.Tensor { return table.Embed.Forward(in[0]) }})
	}
	return list
}

// array is an array of testdata/vectors.npz.
type array struct {
	shape  []int
	values []float32
}

func readVectors(t *testing.T) map[string]array {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.npz")
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string]array{}
	err = tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		list, err := tensor.ReadNPZ(s, bytes.NewReader(data), int64(len(data)))
		for name, x := range list {
			arrays[name] = array{x.Shape(), values(t, x.To(dtype.Float32))}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

// TestVectors compares layers with PyTorch: loaded from files, in all types of activations, without rows too, and of views.
func TestVectors(t *testing.T) {
	arrays := readVectors(t)
	for of, tolerance := range map[dtype.Type]float64{dtype.Float32: 1e-5, dtype.BFloat16: 2e-2, dtype.Float16: 3e-3} {
		for _, v := range layersOfVectors() {
			if of == dtype.Float16 && strings.HasPrefix(v.name, "rmsnorm") { // see nn.Options
				continue
			}
			withType(t, of, func(s *tensor.Scope, p *nn.Params) { v.compare(t, s, p, comparedWith{arrays, tolerance}) })
		}
	}
}

// comparedWith is what layers are compared with, and the error relative to the greatest element.
type comparedWith struct {
	arrays    map[string]array
	tolerance float64
}

func (v vector) compare(t *testing.T, s *tensor.Scope, p *nn.Params, with comparedWith) {
	t.Helper()
	var entries []entry
	for name, a := range with.arrays {
		if key, ok := strings.CutPrefix(name, v.name+"."); ok && strings.Contains(key, ".") {
			entries = append(entries, entry{key, weights.F32, a.shape, a.values})
		}
	}
	if err := nn.Load(p, v.model, file(t, "", entries...), nn.LoadOptions{}); err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	want := with.arrays[v.name+".out"]
	for _, viewed := range []bool{false, true} {
		name := fmt.Sprintf("%s in %v, view: %v", v.name, p.Activations(), viewed)
		y := v.forward(v.inputs(s, p, with.arrays, viewed)).To(dtype.Float32)
		if y.Err() != nil {
			t.Errorf("%s: %v", name, y.Err())
			return
		}
		if fmt.Sprint(y.Shape()) != fmt.Sprint(want.shape) {
			t.Errorf("%s: shape %v, want %v", name, y.Shape(), want.shape)
			continue
		}
		largest := 1.0
		for _, w := range want.values {
			largest = max(largest, math.Abs(float64(w)))
		}
		for i, got := range values(t, y) {
			if w := want.values[i]; !(math.Abs(float64(got-w)) <= with.tolerance*largest) {
				t.Errorf("%s: element %d is %v, want %v", name, i, got, w)
				break
			}
		}
	}
}

// inputs returns the inputs, as activations or int32, and as views of parts of larger tensors if viewed is true.
func (v vector) inputs(s *tensor.Scope, p *nn.Params, arrays map[string]array, viewed bool) (in []*tensor.Tensor) {
	for {
		a, ok := arrays[fmt.Sprint(v.name, ".in", len(in))]
		if !ok {
			return in
		}
		of := p.Activations()
		if strings.HasPrefix(v.name, "embedding") {
			of = dtype.Int32
		}
		x := tensor.From(s, a.values, a.shape...).To(of)
		if n := x.Dim(-1); viewed {
			x = tensor.Concat(-1, x, x, x).Slice(-1, n, 2*n)
		}
		in = append(in, x)
	}
}
