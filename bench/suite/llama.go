package suite

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// A language model with random weights: a step that generates a token, and the processing of a prompt. The logits of each are compared with
// those of the other, which other kernels compute on a GPU.

// bigLayers is the number of layers of Llama 3.1 8B. Models with fewer layers are small.
const bigLayers = 32

// shapeOf returns the shape of a model with a number of layers, and the numbers of tokens before a step and of a prompt.
func shapeOf(layers int) (s random.Shape, context, prompt int) {
	if layers == bigLayers {
		return random.Llama8B(), 128, 2048
	}
	return random.Shape{Layers: layers, Hidden: 256, FFN: 512, Heads: 4, KeyHeads: 2, HeadDim: 64, Vocabulary: 512, Context: 128}, 20, 40
}

// languageModel is a model, and a sequence of tokens.
type languageModel struct {
	bench   *harness.Bench
	model   *llama.Model
	cache   *llama.Cache
	decoder *llama.Decoder
	params  *device.Buffer[sampling.Params]
	work    *device.Buffer[int32]
	tokens  []int32
	logits  *harness.Array[float32] // after the last token
	want    []float32
	weights float64 // bytes that a step reads
}

// newLanguageModel returns a model in a format with a sequence of n tokens. Errors are those of the bench.
func newLanguageModel(b *harness.Bench, shape random.Shape, format string, n int) (m *languageModel, err error) {
	m = &languageModel{bench: b}
	mixture, err := random.ParseMixture(format)
	if err != nil {
		return nil, err
	}
	f, err := random.GGUF(shape, random.Options{Mixture: mixture, Seed: b.Seed()})
	if err != nil {
		return nil, err
	}
	if m.model, err = llama.Load(b.Stream(), f, llama.LoadOptions{}); err != nil {
		return nil, err
	}
	b.Own(m.model)
	for _, t := range f.Tensors {
		if t.Name() != "model.embed_tokens.weight" && t.Name() != "token_embd.weight" { // of which a step reads one row
			m.weights += float64(t.Size())
		}
	}
	if m.cache, err = m.model.NewCache(b.Stream(), llama.CacheOptions{Sequences: 1, Tokens: n}); err != nil {
		return nil, err
	}
	b.Own(m.cache)
	m.logits = harness.Result(b, shape.Vocabulary, float32(math.NaN()))
	if m.params, err = device.Make[sampling.Params](b.Stream(), 1); err != nil {
		return nil, err
	}
	b.Own(m.params)
	if m.work, err = device.Make[int32](b.Stream(), max(1, sampling.Workspace(b.Stream(), m.row()))); err != nil {
		return nil, err
	}
	b.Own(m.work)
	if m.decoder, err = m.model.NewDecoder(m.cache, 1, m.choose); err != nil {
		return nil, err
	}
	b.Own(m.decoder)
	for i := range n {
		m.tokens = append(m.tokens, int32(i*7919%shape.Vocabulary))
	}
	return m, nil
}

// row returns the shape of the logits of one token.
func (m *languageModel) row() sampling.Shape {
	return sampling.Shape{Rows: 1, Vocabulary: m.model.Vocabulary}
}

// choose is a llama.Chooser of the most probable token, and copies the logits.
func (m *languageModel) choose(s *tensor.Scope, c llama.Choice) error {
	logits, err := tensor.SliceOf[float32](c.Logits)
	if err != nil {
		return err
	}
	return errors.Join(device.Copy(s.Stream(), m.logits.All(), logits), sampling.Sample(s.Stream(), m.row(), sampling.Operands{
		Logits: logits, Params: m.params.All(), Positions: c.Positions, Work: m.work.All(), Tokens: c.Tokens,
	}))
}

// step computes the last token with a step of the decoder. The cache has those before it.
func (m *languageModel) step(*device.Stream) error {
	n := len(m.tokens) - 1
	m.cache.Truncate(0, n)
	return errors.Join(m.decoder.Put(0, m.tokens[n:]), m.decoder.Step(0))
}

// extend computes the last n tokens as a prompt. The cache has those before it.
func (m *languageModel) extend(n int) error {
	m.cache.Truncate(0, len(m.tokens)-n)
	return tensor.Enqueue(context.Background(), m.bench.Stream(), func(s *tensor.Scope) error {
		x, err := m.model.Forward(s, m.cache, llama.Span{Tokens: m.tokens[len(m.tokens)-n:]})
		if err != nil {
			return err
		}
		logits, err := tensor.SliceOf[float32](m.model.Logits(x.Slice(0, n-1, n)).Contiguous())
		if err != nil {
			return err
		}
		return device.Copy(s.Stream(), m.logits.All(), logits)
	})
}

// expect stores the logits that f computes as those that a run must compute.
func (m *languageModel) expect(f func() error) error {
	s := m.bench.Stream()
	m.want = make([]float32, m.model.Vocabulary)
	if err := f(); err != nil {
		return err
	}
	return errors.Join(device.Download(s, m.want, m.logits.All()), s.Synchronize(context.Background()))
}

// farthest is the largest distance of logits from those of other kernels, relative to their length: roundings to bfloat16 differ in each layer.
const farthest = 0.05

func (m *languageModel) check() error {
	var apart, length float64
	for i, want := range m.want {
		d := float64(m.logits.Host[i]) - float64(want)
		apart, length = apart+d*d, length+float64(want)*float64(want)
	}
	if r := math.Sqrt(apart / length); !(r <= farthest) {
		return fmt.Errorf("the distance of the logits is %v of their length", r)
	}
	return nil
}

// newLlamaStep returns a function that prepares a step with weights in a format.
func newLlamaStep(format string) func(b *harness.Bench, layers int) harness.Work {
	return func(b *harness.Bench, layers int) harness.Work {
		shape, n, _ := shapeOf(layers)
		m, err := newLanguageModel(b, shape, format, n+1)
		if err == nil {
			err = m.expect(func() error { return m.extend(n + 1) })
		}
		if err != nil {
			b.Fail(err)
			return harness.Work{}
		}
		return harness.Work{Bytes: m.weights, More: called(m.step), Check: m.check}
	}
}

// newLlamaPrompt prepares the processing of a prompt with bfloat16 weights.
func newLlamaPrompt(b *harness.Bench, layers int) harness.Work {
	shape, _, n := shapeOf(layers)
	m, err := newLanguageModel(b, shape, "BF16", n)
	if err == nil {
		err = m.expect(func() error { return errors.Join(m.extend(n), m.step(b.Stream())) })
	}
	if err != nil {
		b.Fail(err)
		return harness.Work{}
	}
	products := shape.Layers * shape.Hidden * (shape.HeadDim*2*(shape.Heads+shape.KeyHeads) + 3*shape.FFN)
	return harness.Work{Flops: 2 * float64(n) * float64(products), More: called(func(*device.Stream) error { return m.extend(n) }), Check: m.check}
}
