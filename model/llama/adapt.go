package llama

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrAdapter is the error of an adapter for layers that the model does not have.
var ErrAdapter = errors.New("llama: the adapter does not fit the model")

// adapters are the matrices of a decoder layer's adapter, nil where a linear layer has none.
type adapters struct{ q, k, v, o, gate, up, down *lora.Pair }

// slot is a linear layer of a decoder layer: its name, sizes and place for an adapter.
type slot struct {
	name    string
	in, out int
	pair    **lora.Pair
}

// slots returns the linear layers of a decoder layer.
func (l *layer) slots() []slot {
	a, queries, keys, ffn := &l.adapters, l.QKV.Out[0], l.QKV.Out[1], l.GateUp.Out[0]
	hidden := l.QKV.In
	return []slot{
		{"self_attn.q_proj", hidden, queries, &a.q}, {"self_attn.k_proj", hidden, keys, &a.k}, {"self_attn.v_proj", hidden, keys, &a.v},
		{"self_attn.o_proj", queries, hidden, &a.o}, {"mlp.gate_proj", hidden, ffn, &a.gate}, {"mlp.up_proj", hidden, ffn, &a.up},
		{"mlp.down_proj", ffn, hidden, &a.down},
	}
}

// nameOf returns the name of a linear layer of decoder layer i in the Python package transformers.
func nameOf(i int, name string) string { return fmt.Sprintf("model.layers.%d.%s", i, name) }

// Adapt makes the model use an adapter, or none if a is nil. It is called before NewDecoder, whose graphs contain the adapter, and the
// adapter must not be closed before the model. The error matches ErrAdapter.
func (m *Model) Adapt(a *lora.Adapter) error {
	if err := m.fits(a); err != nil {
		return err
	}
	for i := range m.layers.Layers {
		for _, s := range m.layers.Layers[i].slots() {
			*s.pair = a.Pair(nameOf(i, s.name))
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
func (l *layer) project(x *tensor.Tensor) (q, k, v *tensor.Tensor) {
	list := l.QKV.Forward(x)
	q, k, v = l.adapters.q.Add(list[0], x), l.adapters.k.Add(list[1], x), l.adapters.v.Add(list[2], x)
	return normed(l.QNorm, q), normed(l.KNorm, k), v
}
