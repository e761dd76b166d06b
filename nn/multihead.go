package nn

import (
	"github.com/gopherwarp/gopherwarp/tensor"
)

// MultiHead is attention of several heads between linear layers (Vaswani et al., "Attention Is All You Need"). The vectors of tokens have
// Heads*HeadDim elements. KeyHeads is the number of heads of keys and values; it must divide Heads.
type MultiHead struct {
	Heads, KeyHeads, HeadDim int

	QKV Stacked `weights:"{q,k,v}_proj" gguf:"attn_{q,k,v}"` // the queries, keys and values of tokens
	O   Linear  `weights:"o_proj" gguf:"attn_output"`        // is applied to the heads' results
}

// MultiHeadOptions are the options of MultiHead.Forward.
type MultiHeadOptions struct {
	tensor.AttentionOptions
	Angles *tensor.Tensor // the result of tensor.Angles by which queries and keys are rotated, or nil
}

// NewMultiHead returns a MultiHead that is trained. Its layers begin with the values of NewLinear.
func NewMultiHead(p *Params, heads, keyHeads, headDim int) MultiHead {
	width, keys := heads*headDim, keyHeads*headDim
	whole := NewLinear(p, width, width+2*keys).trained
	qkv := Stacked{In: width, Out: []int{width, keys, keys}, Bias: true, whole: whole}
	return MultiHead{Heads: heads, KeyHeads: keyHeads, HeadDim: headDim, QKV: qkv, O: NewLinear(p, width, width)}
}

// Forward returns the attention of tokens to each other. x has the shape [... tokens Heads*HeadDim]; the first dimensions are batches.
func (m *MultiHead) Forward(x *tensor.Tensor, o MultiHeadOptions) *tensor.Tensor {
	return m.O.Forward(m.heads(x, o))
}

// ForwardFrom returns the attention of tokens to other tokens (cross-attention). The queries are those of x, of shape [... tokens
// Heads*HeadDim]. The keys and values are those of other, of shape [... keys Heads*HeadDim]. If the sizes tokens and keys differ, Causal,
// Starts and Angles must not be set: see tensor.Attention.
func (m *MultiHead) ForwardFrom(x, other *tensor.Tensor, o MultiHeadOptions) *tensor.Tensor {
	list := append(m.QKV.some(x, 0, 1), m.QKV.some(other, 1, 3)...)
	return m.O.Forward(m.attend(list, x, other, o))
}

// AddTo adds Forward(x, o) to sum as Linear.AddTo does.
func (m *MultiHead) AddTo(sum, x *tensor.Tensor, o MultiHeadOptions) *tensor.Tensor {
	return m.O.AddTo(sum, m.heads(x, o))
}

// heads returns the results of the heads, side by side.
func (m *MultiHead) heads(x *tensor.Tensor, o MultiHeadOptions) *tensor.Tensor {
	if w := m.QKV.whole; w != nil && o.Angles == nil {
		h := tensor.Heads{Heads: m.Heads, KeyHeads: m.KeyHeads, Dim: m.HeadDim}
		return tensor.AttentionTogether(w.forward(x), h, o.AttentionOptions)
	}
	return m.attend(m.QKV.Forward(x), x, x, o)
}

// attend returns the results of the heads for the queries of x and the keys and values of from, which list has.
func (m *MultiHead) attend(list []*tensor.Tensor, x, from *tensor.Tensor, o MultiHeadOptions) *tensor.Tensor {
	for i, heads := range []int{m.Heads, m.KeyHeads, m.KeyHeads} {
		shape := x.Shape()
		if i > 0 {
			shape = from.Shape()
		}
		at := max(len(shape)-1, 0)
		list[i] = list[i].Reshape(append(shape[:at:at], heads, m.HeadDim)...)
		if i < 2 && o.Angles != nil {
			list[i] = list[i].Rotate(o.Angles)
		}
	}
	return tensor.Attention(list[0], list[1], list[2], o.AttentionOptions).Reshape(x.Shape()...)
}
