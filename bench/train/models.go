package main

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// trained is a model with its optimizer and a batch.
type trained struct {
	stream *device.Stream
	params *nn.Params
	opt    *train.AdamW
	inputs []input
	of     dtype.Type
	narrow bool // the residual stream has the element type of activations
	loss   func(in []*tensor.Tensor) *tensor.Tensor
}

// input is an input of a model: numbers from 0 to most-1, or floats from -1 to 1.
type input struct {
	of    dtype.Type
	shape []int
	most  int
}

// values returns numbers of no pattern.
func (x input) values() []float64 {
	n := 1
	for _, d := range x.shape {
		n *= d
	}
	list, state := make([]float64, n), uint32(1)
	for i := range list {
		state = state*1664525 + 1013904223
		if list[i] = float64(state >> 8 % uint32(max(x.most, 1))); x.most == 0 {
			list[i] = float64(state>>8)/(1<<23) - 1
		}
	}
	return list
}

func newTrained(stream *device.Stream, of dtype.Type) *trained {
	return &trained{stream: stream, of: of, params: nn.NewParams(stream, nn.Options{DType: of, Seed: 1})}
}

func (m *trained) close() error { return errors.Join(m.opt.Close(), m.params.Close()) }

// upload returns the batch.
func (m *trained) upload(s *tensor.Scope) []*tensor.Tensor {
	var list []*tensor.Tensor
	for _, x := range m.inputs {
		list = append(list, tensor.From(s, x.values(), x.shape...).To(x.of))
	}
	return list
}

// pass is the forward and backward pass.
func (m *trained) pass(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
	s.Record()
	loss := m.loss(in)
	s.Backward(loss)
	return []*tensor.Tensor{loss}
}

// layer is a layer of a transformer.
type layer struct {
	before, between nn.LayerNorm
	attention       nn.MultiHead
	up, down        nn.Linear
}

func (l *layer) forward(x *tensor.Tensor) *tensor.Tensor {
	causal := nn.MultiHeadOptions{AttentionOptions: tensor.AttentionOptions{Causal: true}}
	x = l.attention.AddTo(x, l.before.Forward(x), causal)
	return l.down.AddTo(x, l.up.Forward(l.between.Forward(x)).GELU())
}

// size is the size of a transformer and of its batch.
type size struct{ depth, width, tokens, batch, words int }

// newTransformer returns a transformer of 25 million parameters.
func newTransformer(stream *device.Stream, of dtype.Type, small bool) *trained {
	n := size{6, 512, 512, 8, 8192}
	if small {
		n = size{2, 128, 32, 2, 256}
	}
	return n.transformer(stream, of)
}

// newLarge returns a transformer of 940 million parameters.
func newLarge(stream *device.Stream, of dtype.Type, small bool) *trained {
	n := size{16, 2048, 2048, 2, 32768}
	if small {
		n = size{2, 256, 64, 1, 512}
	}
	return n.transformer(stream, of)
}

// transformer returns a transformer with norms before its layers.
func (n size) transformer(stream *device.Stream, of dtype.Type) *trained {
	const headDim = 64
	depth, width, tokens, batch, words := n.depth, n.width, n.tokens, n.batch, n.words
	m := newTrained(stream, of)
	embed, places := nn.NewEmbedding(m.params, words, width), m.params.Normal(1, tokens, width)
	layers := make([]layer, depth)
	for i := range layers {
		heads := width / headDim
		layers[i] = layer{
			nn.NewLayerNorm(m.params, width, 1e-5), nn.NewLayerNorm(m.params, width, 1e-5), nn.NewMultiHead(m.params, heads, heads, headDim),
			nn.NewLinear(m.params, width, 4*width), nn.NewLinear(m.params, 4*width, width),
		}
	}
	last, head := nn.NewLayerNorm(m.params, width, 1e-5), nn.NewLinear(m.params, width, words)
	m.opt = train.NewAdamW(m.params, train.AdamWOptions{Rate: 3e-4, Decay: 0.01})
	m.inputs = []input{{dtype.Int32, []int{batch, tokens}, words}, {dtype.Int32, []int{batch, tokens}, words / 2}}
	m.loss = func(in []*tensor.Tensor) *tensor.Tensor {
		x := embed.Forward(in[0]).Add(places.In(in[0].Scope()))
		if m.narrow {
			x = x.To(of)
		}
		for i := range layers {
			x = layers[i].forward(x)
		}
		return head.CrossEntropy(last.Forward(x), in[1])
	}
	return m
}

// newPerceptron returns a network of two linear layers.
func newPerceptron(stream *device.Stream, of dtype.Type, small bool) *trained {
	width, inner, rows := 512, 2048, 256
	if small {
		width, inner, rows = 64, 128, 16
	}
	m := newTrained(stream, of)
	up, down := nn.NewLinear(m.params, width, inner), nn.NewLinear(m.params, inner, width)
	m.opt = train.NewAdamW(m.params, train.AdamWOptions{Rate: 3e-4, Decay: 0.01})
	m.inputs = []input{{dtype.Float32, []int{rows, width}, 0}, {dtype.Int32, []int{rows}, width}}
	m.loss = func(in []*tensor.Tensor) *tensor.Tensor {
		return down.Forward(up.Forward(in[0].To(of)).GELU()).CrossEntropy(in[1])
	}
	return m
}
