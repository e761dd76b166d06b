package llama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// Model is a model on a device.
type Model struct {
	Config
	layers   network
	params   *nn.Params
	rotation *device.Buffer[float32] // the frequencies of the rotary embedding
}

// network is the layers of a model.
type network struct {
	Embed  nn.Embedding `gguf:"token_embd"`
	Layers []layer      `gguf:"blk.%d"`
	Norm   nn.RMSNorm   `gguf:"output_norm"`
	Head   *nn.Linear   `gguf:"output"` // nil if the model uses the table of Embed
}

// layer is a decoder layer.
type layer struct {
	AttnNorm nn.RMSNorm `gguf:"attn_norm"`
	Q        nn.Linear  `gguf:"attn_q"`
	K        nn.Linear  `gguf:"attn_k"`
	V        nn.Linear  `gguf:"attn_v"`
	O        nn.Linear  `gguf:"attn_output"`
	MLPNorm  nn.RMSNorm `gguf:"ffn_norm"`
	Gate     nn.Linear  `gguf:"ffn_gate"`
	Up       nn.Linear  `gguf:"ffn_up"`
	Down     nn.Linear  `gguf:"ffn_down"`
}

// newNetwork returns the layers of a model of a size, without parameters.
func newNetwork(c Config) network {
	n := network{
		Embed: nn.Embedding{Count: c.Vocabulary, Width: c.Hidden}, Layers: make([]layer, c.Layers),
		Norm: nn.RMSNorm{Width: c.Hidden, Epsilon: float32(c.Epsilon)}, Head: &nn.Linear{In: c.Hidden, Out: c.Vocabulary},
	}
	for i := range n.Layers {
		n.Layers[i] = layer{
			AttnNorm: n.Norm, MLPNorm: n.Norm,
			Q: nn.Linear{In: c.Hidden, Out: c.Heads * c.HeadDim}, K: nn.Linear{In: c.Hidden, Out: c.KeyHeads * c.HeadDim},
			V: nn.Linear{In: c.Hidden, Out: c.KeyHeads * c.HeadDim}, O: nn.Linear{In: c.Heads * c.HeadDim, Out: c.Hidden},
			Gate: nn.Linear{In: c.Hidden, Out: c.FFN}, Up: nn.Linear{In: c.Hidden, Out: c.FFN}, Down: nn.Linear{In: c.FFN, Out: c.Hidden},
		}
	}
	return n
}

// Load loads the model of a GGUF file onto a stream's device. It calls progress, unless that is nil, with the bytes that have been
// loaded and all. The errors match ErrArchitecture, ErrConfig, and those of nn.Load.
func Load(s *device.Stream, f *weights.File, progress func(done, total int64)) (*Model, error) {
	c, err := configOf(f.Metadata)
	if err != nil {
		return nil, err
	}
	m := &Model{Config: c, layers: newNetwork(c), params: nn.NewParams(s)}
	options := nn.LoadOptions{Ignore: []string{factors}, Order: c.order, Progress: progress}
	if err := nn.Load(m.params, &m.layers, f, options); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	frequencies, err := c.frequencies(f)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.rotation, err = device.Upload(s, frequencies); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// factors is the tensor by whose elements the frequencies are divided, as in the files of Llama 3.1.
const factors = "rope_freqs.weight"

// frequencies returns the frequencies of the rotary embedding.
func (c Config) frequencies(f *weights.File) ([]float32, error) {
	list := rope.Frequencies(c.Rotary, c.Base, nil)
	for i := range list {
		list[i] /= float32(c.Linear)
	}
	t, err := f.Tensor(factors)
	if err != nil {
		return list, nil // most models have none
	}
	by, err := weights.Values[float32](t)
	if err == nil && len(by) != len(list) {
		err = fmt.Errorf("%w: %s has %d elements, want %d", ErrConfig, factors, len(by), len(list))
	}
	for i := range min(len(by), len(list)) {
		list[i] /= by[i]
	}
	return list, err
}

// Close frees the model's memory.
func (m *Model) Close() error {
	err := m.params.Close()
	if m.rotation != nil {
		err = errors.Join(err, m.rotation.Close())
	}
	return err
}

// Bytes returns the size of the parameters on the device.
func (m *Model) Bytes() int64 { return m.params.Bytes() }

// order returns the order of the rows of queries and keys. GGUF files of this architecture have the two elements of each rotated pair
// next to each other; the kernels have all first elements of a head before all second ones.
func (c Config) order(name string) func(row int) int {
	if !strings.HasSuffix(name, ".attn_q.weight") && !strings.HasSuffix(name, ".attn_k.weight") {
		return nil
	}
	half := c.HeadDim / 2
	return func(row int) int {
		head, i := row/c.HeadDim, row%c.HeadDim
		return head*c.HeadDim + i%half*2 + i/half
	}
}

// Span is tokens to append to a sequence of a Cache.
type Span struct {
	Sequence int
	Tokens   []int32
}

// Forward appends spans to their sequences and returns the last layer's output: a row of Hidden elements for each token, in the order
// of the spans. The errors match ErrFull, ErrContext and ErrSequence, and leave the cache as it was.
func (m *Model) Forward(s *tensor.Scope, c *Cache, spans ...Span) (*tensor.Tensor, error) {
	b, err := c.append(spans)
	if err != nil {
		return nil, err
	}
	a, err := c.attender(s, m, b)
	if err != nil {
		return nil, err
	}
	x := m.layers.Embed.Forward(tensor.From(s, b.ids, len(b.ids)))
	var sum *tensor.Tensor
	for i := range m.layers.Layers {
		sum, x = m.layers.Layers[i].forward(s, sum, x, a.layer(i))
	}
	_, x = m.layers.Norm.AddForward(x, sum)
	return x, x.Err()
}

// forward returns the sum of what all layers have added so far, except the last, and what the last has added.
func (l *layer) forward(s *tensor.Scope, sum, added *tensor.Tensor, a nn.Attender) (*tensor.Tensor, *tensor.Tensor) {
	added = s.Tidy(func() *tensor.Tensor {
		var x *tensor.Tensor
		sum, x = addNorm(&l.AttnNorm, sum, added)
		o := l.O.Forward(a.Attend(l.Q.Forward(x), l.K.Forward(x), l.V.Forward(x)))
		sum, x = l.MLPNorm.AddForward(o, sum)
		s.Keep(sum)
		return l.Down.Forward(nn.SwiGLU(l.Gate.Forward(x), l.Up.Forward(x)))
	})
	return sum, added
}

// addNorm returns the sum of two tensors, of which the first may be nil, and its norm.
func addNorm(n *nn.RMSNorm, sum, x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	if sum == nil {
		return x, n.Forward(x)
	}
	return n.AddForward(x, sum)
}

// Logits returns the scores of all tokens of the vocabulary for rows of Forward's result.
func (m *Model) Logits(x *tensor.Tensor) *tensor.Tensor {
	if m.layers.Head != nil {
		return m.layers.Head.Forward(x)
	}
	return m.layers.Embed.Scores(x)
}
