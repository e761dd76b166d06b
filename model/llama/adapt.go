package llama

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrAdapter is the error of an adapter with layers that the model does not have, and of a sequence whose adapter does not exist.
var ErrAdapter = errors.New("llama: the adapter does not fit the model")

// adapters are the matrices of a decoder layer's adapter, nil where a linear layer has none.
type adapters struct{ q, k, v, o, gate, up, down *lora.Pair }

// slot is a linear layer of a decoder layer: its name, sizes and place for an adapter, and what returns the layer after it is loaded.
type slot struct {
	name    string
	in, out int
	pair    **lora.Pair
	linear  func() *nn.Linear
}

// slots returns the linear layers of a decoder layer.
func (l *layer) slots() []slot {
	a, queries, keys, ffn := &l.adapters, l.QKV.Out[0], l.QKV.Out[1], l.GateUp.Out[0]
	hidden := l.QKV.In
	part := func(of *nn.Stacked, i int) func() *nn.Linear { return func() *nn.Linear { return of.Part(i) } }
	only := func(of *nn.Linear) func() *nn.Linear { return func() *nn.Linear { return of } }
	return []slot{
		{"self_attn.q_proj", hidden, queries, &a.q, part(&l.QKV, 0)}, {"self_attn.k_proj", hidden, keys, &a.k, part(&l.QKV, 1)},
		{"self_attn.v_proj", hidden, keys, &a.v, part(&l.QKV, 2)}, {"self_attn.o_proj", queries, hidden, &a.o, only(&l.O)},
		{"mlp.gate_proj", hidden, ffn, &a.gate, part(&l.GateUp, 0)}, {"mlp.up_proj", hidden, ffn, &a.up, part(&l.GateUp, 1)},
		{"mlp.down_proj", ffn, hidden, &a.down, only(&l.Down)},
	}
}

// nameOf returns the name of a linear layer of decoder layer i in the Python package transformers.
func nameOf(i int, name string) string { return fmt.Sprintf("model.layers.%d.%s", i, name) }

// Adapt makes the model use an adapter or, if a is nil, no adapter. Call Adapt before NewDecoder, because a Decoder's graphs contain the
// adapter. Do not close the adapter before the model. The error matches ErrAdapter, or is an error of the device.
func (m *Model) Adapt(a *lora.Adapter) error {
	if err := m.fits(a); err != nil {
		return err
	}
	for i := range m.layers.Layers {
		for _, s := range m.layers.Layers[i].slots() {
			name := nameOf(i, s.name)
			if *s.pair = a.Pair(name); *s.pair == nil {
				continue
			}
			if err := a.Attach(name, s.linear()); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits returns ErrAdapter if an adapter has layers that the model does not have.
func (m *Model) fits(a *lora.Adapter) error {
	has := map[lora.Linear]bool{}
	for _, l := range m.Linears() {
		has[l] = true
	}
	for _, l := range a.Layers() {
		if !has[l] {
			return fmt.Errorf("%w: %s of %d x %d", ErrAdapter, l.Name, l.Out, l.In)
		}
	}
	return nil
}

// project returns the queries, keys and values of normalized rows.
func (l *layer) project(rows lora.Rows, x *tensor.Tensor) (q, k, v *tensor.Tensor) {
	list := l.QKV.Forward(x)
	q, k, v = l.adapters.q.Add(list[0], x), l.adapters.k.Add(list[1], x), l.adapters.v.Add(list[2], x)
	q = l.banks.qkv.Add(rows, x, q, k, v)
	return normed(l.QNorm, q), normed(l.KNorm, k), v
}
