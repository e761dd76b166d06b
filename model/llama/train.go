package llama

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Packed is several sequences of tokens, one after another.
type Packed struct {
	Tokens  []int32
	Lengths []int // the number of tokens of each sequence; the sum is len(Tokens)
}

// check returns ErrSequence or ErrContext if the model cannot read the sequences.
func (m *Model) check(p Packed) error {
	rest := len(p.Tokens)
	for i, n := range p.Lengths {
		switch {
		case n < 1 || n > rest:
			return fmt.Errorf("%w: sequence %d has %d tokens of %d that remain", ErrSequence, i, n, rest)
		case n > m.Context:
			return fmt.Errorf("%w: %d tokens, %d", ErrContext, n, m.Context)
		}
		rest -= n
	}
	if rest != 0 {
		return fmt.Errorf("%w: %d of %d tokens belong to no sequence", ErrSequence, rest, len(p.Tokens))
	}
	for _, id := range p.Tokens {
		if id < 0 || int(id) >= m.Vocabulary {
			return fmt.Errorf("%w: token %d of %d", ErrSequence, id, m.Vocabulary)
		}
	}
	return nil
}

// Read returns the residual stream after the last layer, as Forward does, for whole sequences. Tokens attend only to tokens of their sequence.
// While s records, the result has derivatives with respect to the parameters that are trained: those of the adapter or, with
// LoadOptions.Train, of the model. The errors match ErrContext and ErrSequence.
func (m *Model) Read(s *tensor.Scope, p Packed) (*tensor.Tensor, error) {
	if err := m.check(p); err != nil {
		return nil, err
	}
	n := len(p.Tokens)
	positions, starts := make([]int32, 0, n), make([]int32, 1, len(p.Lengths)+1)
	for _, length := range p.Lengths {
		for i := range int32(length) {
			positions = append(positions, i)
		}
		starts = append(starts, int32(len(positions)))
	}
	frequencies, err := tensor.Wrap(m.rotation.All(), m.rotation.Len())
	if err != nil {
		return nil, err
	}
	w := &whole{m.Config, tensor.Angles(tensor.From(s, positions, n), frequencies), tensor.From(s, starts, len(starts)), s.Recording(), m.again}
	x := m.layers.forward(tensor.From(s, p.Tokens, n), w)
	return x, x.Err()
}

// Loss returns the mean cross-entropy of the labels, given x, the result of Read. The argument labels has the next token for each row of x,
// or -1 for a row that does not count.
func (m *Model) Loss(x *tensor.Tensor, labels []int32) *tensor.Tensor {
	x, wanted := m.learned(x, labels)
	if m.layers.Head != nil {
		return m.layers.Head.CrossEntropy(x, wanted)
	}
	return m.layers.Embed.CrossEntropy(x, wanted)
}

// Losses returns the cross-entropies of the rows that count, in the order of the rows. Loss returns their mean.
func (m *Model) Losses(x *tensor.Tensor, labels []int32) *tensor.Tensor {
	x, wanted := m.learned(x, labels)
	if m.layers.Head != nil {
		return m.layers.Head.Losses(x, wanted)
	}
	return m.layers.Embed.Losses(x, wanted)
}

// learned returns the normalized rows of x that count, and their labels.
func (m *Model) learned(x *tensor.Tensor, labels []int32) (rows, wanted *tensor.Tensor) {
	s := x.Scope()
	var at, list []int32
	for i, l := range labels {
		if l >= 0 {
			at, list = append(at, int32(i)), append(list, l)
		}
	}
	rows = m.layers.Norm.Forward(nn.Rows(x, tensor.From(s, at, len(at))))
	return rows, tensor.From(s, list, len(list))
}

// whole is the attention of the tokens of whole sequences.
type whole struct {
	Config
	angles *tensor.Tensor
	starts *tensor.Tensor // the first token of each sequence, and the number of all tokens

	training bool // derivatives are needed
	again    Recompute
}

// Recompute selects intermediate results that are not kept after the forward pass, because Backward computes them again. The derivatives have
// the same bits. The results of an MLP take most of the memory of a layer.
type Recompute struct {
	Cheap  bool // the results of norms and of SwiGLU, in all layers
	Layers int  // the first Layers layers keep only their input
	MLPs   int  // this number of layers after the first Layers layers keep only the input of their MLP
}

// Recompute sets which intermediate results Backward computes again. It applies to later calls of Read.
func (m *Model) Recompute(r Recompute) { m.again = r }

// cheap returns x, whose elements Backward computes again if r says so.
func (r Recompute) cheap(x *tensor.Tensor) *tensor.Tensor {
	if r.Cheap {
		return x.Forget()
	}
	return x
}

// learn is forward of layer i while derivatives are needed.
func (l *layer) learn(i int, x *tensor.Tensor, w *whole) *tensor.Tensor {
	mlp := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Scope().Tidy(func() *tensor.Tensor {
			y := w.again.cheap(l.MLPNorm.Forward(x))
			list := l.GateUp.Forward(y)
			y = w.again.cheap(tensor.SwiGLU(l.adapters.gate.Add(list[0], y), l.adapters.up.Add(list[1], y)))
			return rounded(&l.Down, l.adapters.down, x, y)
		})
	}
	all := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Scope().Tidy(func() *tensor.Tensor {
			x = rounded(&l.O, l.adapters.o, x, w.attend(i, l, x))
			if i >= w.again.Layers && i < w.again.Layers+w.again.MLPs {
				return tensor.Checkpoint(mlp, x)
			}
			return mlp(x)
		})
	}
	if i < w.again.Layers {
		return tensor.Checkpoint(all, x)
	}
	return all(x)
}

// rounded is sum with results that are rounded to the type of activations first: products of such results are faster.
func rounded(l *nn.Linear, p *lora.Pair, x, y *tensor.Tensor) *tensor.Tensor {
	return x.Add(p.Add(l.Forward(y), y))
}

func (w *whole) rowAdapters() lora.Rows { return lora.Rows{} }

func (w *whole) attend(_ int, l *layer, x *tensor.Tensor) *tensor.Tensor {
	q, k, v := l.project(lora.Rows{}, w.again.cheap(l.AttnNorm.Forward(x)))
	n := x.Dim(0)
	q = q.Reshape(n, w.Heads, w.HeadDim).Rotate(w.angles)
	k = k.Reshape(n, w.KeyHeads, w.HeadDim).Rotate(w.angles)
	v = v.Reshape(n, w.KeyHeads, w.HeadDim)
	return tensor.Attention(q, k, v, tensor.AttentionOptions{Causal: true, Starts: w.starts}).Reshape(n, w.Heads*w.HeadDim)
}
