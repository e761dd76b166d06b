package llama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// Model is a model on a device.
type Model struct {
	Config
	layers   network
	adapters *lora.Set // or nil
	params   *nn.Params
	again    Recompute
	rotation *device.Buffer[float32] // the frequencies of the rotary embedding
}

// network is the layers of a model.
type network struct {
	Embed  nn.Embedding `weights:"model.embed_tokens" gguf:"token_embd"`
	Layers []layer      `weights:"model.layers.%d" gguf:"blk.%d"`
	Norm   nn.RMSNorm   `weights:"model.norm" gguf:"output_norm"`
	Head   *nn.Linear   `weights:"lm_head" gguf:"output"` // nil if the model uses the table of Embed
}

// layer is a decoder layer.
type layer struct {
	AttnNorm nn.RMSNorm  `weights:"input_layernorm" gguf:"attn_norm"`
	QKV      nn.Stacked  `weights:"self_attn.{q,k,v}_proj" gguf:"attn_{q,k,v}"`
	QNorm    *nn.RMSNorm `weights:"self_attn.q_norm" gguf:"attn_q_norm"` // nil if heads are not normalized
	KNorm    *nn.RMSNorm `weights:"self_attn.k_norm" gguf:"attn_k_norm"`
	O        nn.Linear   `weights:"self_attn.o_proj" gguf:"attn_output"`
	MLPNorm  nn.RMSNorm  `weights:"post_attention_layernorm" gguf:"ffn_norm"`
	GateUp   nn.Stacked  `weights:"mlp.{gate,up}_proj" gguf:"ffn_{gate,up}"`
	Down     nn.Linear   `weights:"mlp.down_proj" gguf:"ffn_down"`

	adapters adapters
	banks    banks
}

// newNetwork returns the layers of a model of a size, without parameters.
func newNetwork(c Config) network {
	n := network{
		Embed: nn.Embedding{Count: c.Vocabulary, Width: c.Hidden}, Layers: make([]layer, c.Layers),
		Norm: nn.RMSNorm{Width: c.Hidden, Epsilon: float32(c.Epsilon)},
	}
	if !c.Tied {
		n.Head = &nn.Linear{In: c.Hidden, Out: c.Vocabulary}
	}
	queries, keys := c.Heads*c.HeadDim, c.KeyHeads*c.HeadDim
	for i := range n.Layers {
		l := layer{
			AttnNorm: n.Norm, MLPNorm: n.Norm,
			QKV:    nn.Stacked{In: c.Hidden, Out: []int{queries, keys, keys}, Bias: c.QueryBias},
			O:      nn.Linear{In: queries, Out: c.Hidden, Bias: c.OutputBias},
			GateUp: nn.Stacked{In: c.Hidden, Out: []int{c.FFN, c.FFN}, Bias: c.MLPBias},
			Down:   nn.Linear{In: c.FFN, Out: c.Hidden, Bias: c.MLPBias},
		}
		if c.HeadNorms {
			norm := nn.RMSNorm{Width: c.HeadDim, Epsilon: float32(c.Epsilon)}
			l.QNorm, l.KNorm = &norm, &nn.RMSNorm{Width: c.HeadDim, Epsilon: norm.Epsilon}
		}
		n.Layers[i] = l
	}
	return n
}

// LoadOptions are the options of Load.
type LoadOptions struct {
	// Config is the result of ParseConfig, for a model in safetensors files. GGUF files contain their Config.
	Config Config
	// DType is the type of activations: see nn.Options. Models with float16 activations are for training: a Cache does not support them.
	DType dtype.Type
	// Blank is that of nn.Options.
	Blank bool
	// Train means that all parameters are trained: see Model.Params and nn.LoadOptions.
	Train bool
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
	// Interrupt, unless it is nil, is called before each layer. If it returns an error, Load returns this error.
	Interrupt func() error
}

// Load loads the model of a GGUF file or of safetensors files onto a stream's device. The errors match ErrArchitecture, ErrConfig, and
// those of nn.Load.
func Load(s *device.Stream, f *weights.File, o LoadOptions) (*Model, error) {
	c, err := ConfigFor(f, o.Config)
	if err != nil {
		return nil, err
	}
	m := &Model{Config: c, layers: newNetwork(c), params: nn.NewParams(s, nn.Options{DType: o.DType, Blank: o.Blank})}
	options := nn.LoadOptions{Ignore: c.ignored(f), Order: c.order, Train: o.Train, Progress: o.Progress, Interrupt: o.Interrupt}
	if err := errors.Join(nn.Load(m.params, &m.layers, f, options), m.layers.complete(c)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	var frequencies []float32
	err = f.Guard(func() (err error) { // because the file may be mapped
		frequencies, err = c.frequencies(f)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.rotation, err = device.Upload(s, frequencies); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// ConfigFor returns the Config with which Load loads a file: for a GGUF file, the Config in its metadata, otherwise c. The errors are those of
// Load.
func ConfigFor(f *weights.File, c Config) (Config, error) {
	var err error
	if strings.HasPrefix(f.Format, "GGUF") {
		c, err = ofMetadata(f)
	} else {
		err = c.check("")
	}
	if err == nil && c.Layers > len(f.Tensors) {
		err = fmt.Errorf("%w: %d layers of a file with %d tensors", ErrConfig, c.Layers, len(f.Tensors))
	}
	return c, err
}

// ignored returns the tensors of a file that the model does not use: those that repeat others, or the Config.
func (c Config) ignored(f *weights.File) []string {
	list := []string{factors}
	for _, t := range f.Tensors {
		if name := t.Name(); c.Tied && name == "lm_head.weight" || strings.HasSuffix(name, ".rotary_emb.inv_freq") {
			list = append(list, name)
		}
	}
	return list
}

// complete returns nn.ErrMissing if the file lacked a layer that the Config requires.
func (n *network) complete(c Config) error {
	if !c.Tied && n.Head == nil {
		return fmt.Errorf("%w: the output matrix of a model whose output does not use the table of the input", nn.ErrMissing)
	}
	for i, l := range n.Layers {
		if c.HeadNorms && (l.QNorm == nil || l.KNorm == nil) {
			return fmt.Errorf("%w: the norms of the queries and keys of layer %d", nn.ErrMissing, i)
		}
	}
	return nil
}

// factors is the tensor by whose elements the frequencies are divided, as in the files of Llama 3.1.
const factors = "rope_freqs.weight"

// frequencies returns the frequencies of the rotary embedding.
func (c Config) frequencies(f *weights.File) ([]float32, error) {
	list := rope.Frequencies(c.Rotary, c.Base, (*rope.Scaling)(c.Scaling))
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

// Params returns the parameters of a model loaded with LoadOptions.Train, for an optimizer.
func (m *Model) Params() *nn.Params { return m.params }

// order returns the order of the rows of queries and keys. GGUF files with the architecture llama have the two elements of each rotated
// pair next to each other; other files, and the kernels, have all first elements of a head before all second ones.
func (c Config) order(name string) func(row int) int {
	if !c.interleaved || !strings.Contains(name, ".attn_q.") && !strings.Contains(name, ".attn_k.") {
		return nil
	}
	half := c.HeadDim / 2
	return func(row int) int {
		head, i := row/c.HeadDim, row%c.HeadDim
		return head*c.HeadDim + i%half*2 + i/half
	}
}

// A Span has tokens to append to a sequence of a Cache.
type Span struct {
	Sequence int
	Tokens   []int32
}

// Forward appends spans to their sequences and returns the residual stream after the last layer: a row of Hidden float32 elements for
// each token, in the order of the spans. The errors match ErrFull, ErrContext and ErrSequence. After an error, the cache is unchanged.
func (m *Model) Forward(s *tensor.Scope, c *Cache, spans ...Span) (*tensor.Tensor, error) {
	e, err := c.extension(nil, nil, spans)
	if err != nil {
		return nil, err
	}
	x, _, err := m.extend(s, c, e)
	return x, err
}

// extend returns the residual stream of an extension, and its inputs.
func (m *Model) extend(s *tensor.Scope, c *Cache, e *extension) (*tensor.Tensor, inputs, error) {
	in, err := m.place(s, c, e)
	if err != nil {
		return nil, in, err
	}
	a, err := c.attender(m, in)
	if err != nil {
		return nil, in, err
	}
	a.longest, a.rows = c.longest(), e.rows
	a.prompts = in.spans.Len() > 0 && len(e.ids)-e.rows > shortest*in.spans.Len()
	x := m.layers.forward(in.ids, a)
	return x, in, x.Err()
}

// forward returns the residual stream of tokens.
func (n *network) forward(ids *tensor.Tensor, a attending) *tensor.Tensor {
	x := n.Embed.Forward(ids)
	for i := range n.Layers {
		x = n.Layers[i].forward(i, x, a)
	}
	return x
}

// forward adds what layer i computes to the residual stream x.
func (l *layer) forward(i int, x *tensor.Tensor, a attending) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	if w, ok := a.(*whole); ok && w.training {
		return l.learn(i, x, w)
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		rows, y := a.rowAdapters(), a.attend(i, l, x)
		x = l.banks.o.Add(rows, y, sum(&l.O, l.adapters.o, x, y))
		y = l.swiGLU(rows, x)
		return l.banks.down.Add(rows, y, sum(&l.Down, l.adapters.down, x, y))
	})
}

// sum returns the residual stream x plus the results of a linear layer and its adapter for the rows of y.
func sum(l *nn.Linear, p *lora.Pair, x, y *tensor.Tensor) *tensor.Tensor {
	if p.Decomposed() {
		return x.Add(p.Add(l.Forward(y), y))
	}
	return p.Add(l.AddTo(x, y), y)
}

// swiGLU returns SwiGLU of the gate and up layers for rows of the residual stream.
func (l *layer) swiGLU(rows lora.Rows, x *tensor.Tensor) *tensor.Tensor {
	plain, bank := l.adapters.gate == nil && l.adapters.up == nil, l.banks.gateUp
	if plain && !bank.Uses(rows) {
		return l.GateUp.SwiGLU(&l.MLPNorm, x)
	}
	x = l.MLPNorm.Forward(x)
	if plain {
		if both, ok := l.GateUp.Together(x); ok {
			return l.GateUp.Gated(bank.Add(rows, x, both))
		}
	}
	list := l.GateUp.Forward(x)
	gate, up := l.adapters.gate.Add(list[0], x), l.adapters.up.Add(list[1], x)
	return tensor.SwiGLU(bank.Add(rows, x, gate, up), up)
}

// Normalized applies the last norm to rows of Forward's result, and returns the last hidden state, as float32 numbers.
func (m *Model) Normalized(x *tensor.Tensor) *tensor.Tensor {
	return m.layers.Norm.Forward(x).To(dtype.Float32)
}

// Logits returns the scores of all tokens of the vocabulary for rows of Forward's result, as float32 numbers.
func (m *Model) Logits(x *tensor.Tensor) *tensor.Tensor {
	if m.layers.Head != nil {
		return m.layers.Head.Scores(&m.layers.Norm, x)
	}
	return m.layers.Embed.Scores(&m.layers.Norm, x)
}
