package nn_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// parameters returns views of the parameters with the given shapes, in the order in which they were made, and of their derivatives.
func parameters(t *testing.T, s *tensor.Scope, p *nn.Params, shapes ...[]int) (list, grads []*tensor.Tensor) {
	t.Helper()
	m, err := p.Memory(s)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, shape := range shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		list = append(list, s.Use(m.Values).Slice(0, at, at+n).Reshape(shape...))
		grads = append(grads, s.Use(m.Grads).Slice(0, at, at+n).Reshape(shape...))
		at += (n + 63) / 64 * 64
	}
	return list, grads
}

// comparison is layers, and a function of the parameters, in the order in which they were made, that computes the same.
type comparison struct {
	layers    func(x *tensor.Tensor) *tensor.Tensor
	reference func(x *tensor.Tensor, w []*tensor.Tensor) *tensor.Tensor
	shapes    [][]int // of the parameters
}

// run compares the result and all derivatives with those of the reference in float64.
func (c comparison) run(t *testing.T, p *nn.Params, x *tensor.Tensor) {
	t.Helper()
	s := x.Scope()
	list, grads := parameters(t, s, p, c.shapes...)
	s.Record()
	v := s.Variable(x)
	y := c.layers(v)
	s.Backward(y.Square().Sum())
	got := append([]*tensor.Tensor{y, v.Grad()}, grads...)
	s.Record()
	v = s.Variable(x.To(dtype.Float64))
	var w []*tensor.Tensor
	for _, q := range list {
		w = append(w, s.Variable(q.To(dtype.Float64)))
	}
	z := c.reference(v, w)
	s.Backward(z.Square().Sum())
	want := []*tensor.Tensor{z, v.Grad()}
	for _, q := range w {
		want = append(want, q.Grad())
	}
	for i := range want {
		if scale := want[i].Abs().Max(); scale.Err() == nil {
			list := values(t, got[i].To(dtype.Float64).Sub(want[i]).Abs().Max().Div(scale))
			if !(list[0] < 2e-5) {
				t.Errorf("tensor %d: a relative error of %g", i, list[0])
			}
		}
	}
}

// TestMultiHead compares attention between layers, without rotation, and with rotation and a sum, with several queries for each key, with
// float64.
func TestMultiHead(t *testing.T) {
	for _, rotated := range []bool{false, true} {
		multiHead(t, rotated)
	}
}

func multiHead(t *testing.T, rotated bool) {
	t.Helper()
	const heads, keyHeads, dim = 4, 2, 16
	const width, keys = heads * dim, keyHeads * dim
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 2})
		defer p.Close()
		m := nn.NewMultiHead(p, heads, keyHeads, dim)
		angles := tensor.Angles(tensor.Arange(s, 5).To(dtype.Int32), tensor.From(s, []float32{1, 0.5, 0.1}, 3))
		causal := tensor.AttentionOptions{Causal: true}
		comparison{func(x *tensor.Tensor) *tensor.Tensor {
			o := nn.MultiHeadOptions{AttentionOptions: causal}
			if rotated {
				o.Angles = angles
				return m.AddTo(x, x, o)
			}
			return m.Forward(x, o)
		}, func(x *tensor.Tensor, w []*tensor.Tensor) *tensor.Tensor {
			all := x.MatMul(w[0].T()).Add(w[1])
			by := func(at, heads int) *tensor.Tensor { return all.Slice(-1, at, at+heads*dim).Reshape(2, 5, heads, dim) }
			q, k, v := by(0, heads), by(width, keyHeads), by(width+keys, keyHeads)
			if rotated {
				q, k = q.Rotate(angles), k.Rotate(angles)
			}
			y := tensor.Attention(q, k, v, causal).Reshape(2, 5, width).MatMul(w[2].T()).Add(w[3])
			if rotated {
				y = y.Add(x)
			}
			return y
		}, [][]int{{width + 2*keys, width}, {width + 2*keys}, {width, width}, {width}}}.run(t, p, tensor.From(s, numbers(2*5*width), 2, 5, width))
	})
}

// TestCrossAttention compares attention to fewer and to more other tokens with float64.
func TestCrossAttention(t *testing.T) {
	const heads, keyHeads, dim, tokens = 4, 2, 16, 7
	const width, keys = heads * dim, keyHeads * dim
	for _, c := range []struct{ queries, keys int }{{5, 2}, {2, 5}, {3, 3}} {
		onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
			p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 2})
			defer p.Close()
			m := nn.NewMultiHead(p, heads, keyHeads, dim)
			split := func(x *tensor.Tensor) (q, from *tensor.Tensor) {
				return x.Slice(1, 0, c.queries), x.Slice(1, tokens-c.keys, tokens)
			}
			comparison{func(x *tensor.Tensor) *tensor.Tensor {
				q, from := split(x)
				return m.ForwardFrom(q, from, nn.MultiHeadOptions{})
			}, func(x *tensor.Tensor, w []*tensor.Tensor) *tensor.Tensor {
				q, from := split(x.MatMul(w[0].T()).Add(w[1]))
				k, v := from.Slice(-1, width, width+keys), from.Slice(-1, width+keys, width+2*keys)
				y := tensor.Attention(q.Slice(-1, 0, width).Reshape(2, c.queries, heads, dim), k.Reshape(2, c.keys, keyHeads, dim), v.Reshape(2, c.keys, keyHeads, dim), tensor.AttentionOptions{})
				return y.Reshape(2, c.queries, width).MatMul(w[2].T()).Add(w[3])
			}, [][]int{{width + 2*keys, width}, {width + 2*keys}, {width, width}, {width}}}.run(t, p, tensor.From(s, numbers(2*tokens*width), 2, tokens, width))
		})
	}
}

// TestTrainedLayers compares norms and a gated layer, all trained, with float64.
func TestTrainedLayers(t *testing.T) {
	const width, inner = 24, 40
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 2})
		defer p.Close()
		a, b := nn.NewLayerNorm(p, width, 1e-3), nn.NewRMSNorm(p, width, 1e-3)
		pair, down := nn.NewStacked(p, width, inner, inner), nn.NewLinear(p, inner, width)
		comparison{func(x *tensor.Tensor) *tensor.Tensor {
			x = a.Forward(x)
			return down.AddTo(x, pair.SwiGLU(&b, x))
		}, func(x *tensor.Tensor, w []*tensor.Tensor) *tensor.Tensor {
			x = x.LayerNorm(w[1], w[0], tensor.NormOptions{Epsilon: 1e-3})
			y := x.RMSNorm(w[2], tensor.NormOptions{Epsilon: 1e-3})
			mid := tensor.SwiGLU(y.MatMul(w[3].T()).Add(w[4]), y.MatMul(w[5].T()).Add(w[6]))
			return x.Add(mid.MatMul(w[7].T()).Add(w[8]))
		}, [][]int{{width}, {width}, {width}, {inner, width}, {inner}, {inner, width}, {inner}, {width, inner}, {width}}}.run(t, p, tensor.From(s, numbers(7*width), 7, width))
	})
}

// TestLoadMultiHead loads the layers by the names of the tags.
func TestLoadMultiHead(t *testing.T) {
	const width, heads = 32, 2
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		var model struct {
			Norm nn.LayerNorm `weights:"norm"`
			Attn nn.MultiHead `weights:"self_attn"`
			Drop nn.Dropout
		}
		model.Norm = nn.LayerNorm{Width: width}
		model.Attn = nn.MultiHead{Heads: heads, KeyHeads: 1, HeadDim: 16, QKV: nn.Stacked{In: width, Out: []int{width, 16, 16}}, O: nn.Linear{In: width, Out: width}}
		list := []entry{{"norm.weight", weights.F32, []int{width}, numbers(width)}, {"norm.bias", weights.F32, []int{width}, numbers(width)}}
		for name, rows := range map[string]int{"q_proj": width, "k_proj": 16, "v_proj": 16, "o_proj": width} {
			list = append(list, entry{"self_attn." + name + ".weight", weights.BF16, []int{rows, width}, numbers(rows * width)})
		}
		if err := nn.Load(p, &model, file(t, "", list...), nn.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		x := tensor.From(s, numbers(3*width), 3, width)
		y := model.Attn.Forward(model.Drop.Forward(model.Norm.Forward(x)), nn.MultiHeadOptions{})
		if _, err := tensor.Values[float32](t.Context(), y.To(dtype.Float32)); err != nil || y.Dim(0) != 3 || y.Dim(1) != width {
			t.Errorf("%v, %v", y, err)
		}
	})
}
