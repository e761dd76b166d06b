package bert

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// Model is a model on a device.
type Model struct {
	Config
	layers network
	head   classifier // without parameters if Labels is 0
	params *nn.Params
}

// network is the layers of a model, with the names of their tensors. See family.rename.
type network struct {
	Words     nn.Embedding `weights:"embeddings.word_embeddings"`
	Positions nn.Embedding `weights:"embeddings.position_embeddings"`
	Types     nn.Embedding `weights:"embeddings.token_type_embeddings"`
	Norm      nn.LayerNorm `weights:"embeddings.LayerNorm"`
	Layers    []layer      `weights:"encoder.layer.%d"`
}

// layer is an encoder layer.
type layer struct {
	QKV     nn.Stacked   `weights:"attention.self.{query,key,value}"`
	O       nn.Linear    `weights:"attention.output.dense"`
	Norm    nn.LayerNorm `weights:"attention.output.LayerNorm"`
	Up      nn.Linear    `weights:"intermediate.dense"`
	Down    nn.Linear    `weights:"output.dense"`
	OutNorm nn.LayerNorm `weights:"output.LayerNorm"`
}

// classifier is the head of a model that computes scores of labels from the first token's activations.
type classifier struct {
	Dense  nn.Linear `weights:"dense"`
	Scores nn.Linear `weights:"scores"`
}

// newNetwork returns the layers of a model of a size, without parameters.
func newNetwork(c Config) network {
	norm := nn.LayerNorm{Width: c.Hidden, Epsilon: float32(c.Epsilon)}
	n := network{
		Words: nn.Embedding{Count: c.Vocabulary, Width: c.Hidden}, Positions: nn.Embedding{Count: c.Shift + c.Positions, Width: c.Hidden},
		Types: nn.Embedding{Count: c.Types, Width: c.Hidden}, Norm: norm, Layers: make([]layer, c.Layers),
	}
	for i := range n.Layers {
		n.Layers[i] = layer{
			QKV: nn.Stacked{In: c.Hidden, Out: []int{c.Hidden, c.Hidden, c.Hidden}, Bias: true},
			O:   nn.Linear{In: c.Hidden, Out: c.Hidden, Bias: true}, Norm: norm,
			Up: nn.Linear{In: c.Hidden, Out: c.FFN, Bias: true}, Down: nn.Linear{In: c.FFN, Out: c.Hidden, Bias: true}, OutNorm: norm,
		}
	}
	return n
}

// LoadOptions are the options of Load.
type LoadOptions struct {
	// DType is the type of activations and weights: dtype.Float32, BFloat16 or Float16. The default is Float16 on GPUs of compute capability 8.0 or
	// later, and Float32 on other devices.
	DType dtype.Type
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
	// Map maps the files into memory, which avoids a copy, if the device is a CPU and the system supports it. Otherwise, the files are read.
	Map bool
}

// LoadFolder loads a model from the files of a folder. It returns when the weights are on the device. The errors are those of Load and of
// formats.Open.
func LoadFolder(s *device.Stream, folder string, c Config, o LoadOptions) (*Model, error) {
	f, err := formats.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Load(s, f, c, o)
	if err != nil {
		return nil, err
	}
	if err := s.Synchronize(context.Background()); err != nil { // after it, the file is closed
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Load loads a model onto a stream's device. If c.Labels is 0, Load ignores the tensors of layers after the encoder, such as the pooler.
// Otherwise, the file must have the tensors of BertForSequenceClassification, or of the corresponding architecture of c.Type. The errors match
// ErrArchitecture, ErrConfig and those of nn.Load.
func Load(s *device.Stream, f *weights.File, c Config, o LoadOptions) (*Model, error) {
	err := c.check()
	if err == nil && c.Layers > len(f.Tensors) {
		err = fmt.Errorf("%w: %d layers of a file with %d tensors", ErrConfig, c.Layers, len(f.Tensors))
	}
	if err == nil && o.Map {
		err = f.MapIfSupported()
	}
	if err != nil {
		return nil, err
	}
	if info := s.Device().Info(); o.DType == dtype.Invalid && info.Kind != "cpu" && info.Capability.Major >= 8 {
		o.DType = dtype.Float16
	}
	m := &Model{Config: c, layers: newNetwork(c), params: nn.NewParams(s, nn.Options{DType: o.DType})}
	if err := m.load(f, nn.LoadOptions{Progress: o.Progress}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// load loads the parameters.
func (m *Model) load(f *weights.File, o nn.LoadOptions) error {
	of, _ := familyOf(m.Type)
	_, missing := f.Tensor("embeddings.word_embeddings.weight")
	o.Rename, o.Ignore = of.rename(m.Labels > 0 || missing != nil), of.ignored(f, m.Labels > 0)
	encoder := struct {
		Encoder network `weights:"encoder"`
	}{m.layers}
	if m.Labels == 0 {
		err := nn.Load(m.params, &encoder, f, o)
		m.layers = encoder.Encoder
		return err
	}
	both := struct {
		Encoder network    `weights:"encoder"`
		Head    classifier `weights:"head"`
	}{m.layers, classifier{nn.Linear{In: m.Hidden, Out: m.Hidden, Bias: true}, nn.Linear{In: m.Hidden, Out: m.Labels, Bias: true}}}
	err := nn.Load(m.params, &both, f, o)
	m.layers, m.head = both.Encoder, both.Head
	return err
}

// Close frees the model's memory.
func (m *Model) Close() error { return m.params.Close() }

// Bytes returns the size of the parameters on the device.
func (m *Model) Bytes() int64 { return m.params.Bytes() }

// DType returns the type of activations.
func (m *Model) DType() dtype.Type { return m.params.Activations() }

// Forward returns the activations after the last layer: a row of Hidden elements for each token of a batch.
func (m *Model) Forward(b *Batch) *tensor.Tensor {
	n := &m.layers
	x := b.ids.Scope().Tidy(func() *tensor.Tensor {
		return n.Norm.Forward(nn.SumForward([3]*nn.Embedding{&n.Words, &n.Positions, &n.Types}, [3]*tensor.Tensor{b.ids, b.positions, b.types}))
	})
	for i := range n.Layers {
		x = n.Layers[i].forward(x, b)
	}
	return x
}

// scores returns the scores of a batch's texts: a row of Labels elements of float32 for each.
func (m *Model) scores(b *Batch) *tensor.Tensor {
	first := b.Pool(m.Forward(b), First, false).To(m.DType())
	return m.head.Scores.Forward(m.head.Dense.Forward(first).Tanh()).To(dtype.Float32)
}

// forward returns the activations after a layer.
func (l *layer) forward(x *tensor.Tensor, b *Batch) *tensor.Tensor {
	if x.Err() != nil {
		return x
	}
	return x.Scope().Tidy(func() *tensor.Tensor {
		y := l.Norm.Forward(l.O.ForwardSum(l.attend(x, b), x))
		return l.OutNorm.Forward(l.Down.ForwardSum(l.Up.ForwardGELU(y), y))
	})
}

// attend returns the attention of the queries, keys and values of x.
func (l *layer) attend(x *tensor.Tensor, b *Batch) *tensor.Tensor {
	if all, ok := l.QKV.Together(x); ok {
		return b.attend(all)
	}
	return b.attend(l.QKV.Forward(x)...)
}
