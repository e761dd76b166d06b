package llm

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// ErrFiles is the error of a folder that contains no model, or several models.
var ErrFiles = errors.New("llm: not one model")

// Options are the options of Open.
type Options struct {
	// Context is the largest number of tokens of a conversation, at most the model's context. 0 means the model's context, but at most 8192.
	Context int
	// Sequences is the largest number of texts that are generated at once; further texts wait. 0 means 1.
	Sequences int
	// Tokens is the size of the cache in tokens, for all conversations together. 0 means Context + 1024*(Sequences-1), or fewer if the device has less
	// memory. Other values below Context mean Context.
	Tokens int
	// WaitingTexts and WaitingTokens limit the waiting texts, and the tokens of their prompts. A text beyond these limits ends with ErrBusy at once.
	// 0 means no limit.
	WaitingTexts, WaitingTokens int
	// Deterministic makes a text depend only on its request and on these options, and not on other texts. Texts then take longer, above all if few of
	// them run.
	Deterministic bool
	// DraftTokens is the largest number of guessed tokens of a text that one step checks (see the package documentation). 0 means no guesses, or 4 if
	// there is a DraftModel.
	DraftTokens int
	// DraftModel is the path of a smaller model with the same tokens, which makes the guesses.
	DraftModel string
	// CacheDType is the element type of the cache of keys and values (see llama.CacheOptions). Compared with the default, dtype.Float8E4M3 is less
	// exact and takes about half the memory on GPUs, and a quarter on CPUs.
	CacheDType dtype.Type
	// Adapter is a folder with an adapter for the model, in the format of the Python package PEFT, or "" for none.
	Adapter string
	// Adapters are the adapters that requests may choose: the folder of each adapter, by name. A chosen adapter is applied in addition to Adapter.
	Adapters map[string]string
	// Map maps the model's files into memory instead of reading them, which saves a copy of the data. It has an effect only on a CPU, and only if the
	// system can map files.
	Map bool
	// Memory, unless it is nil, is called before the weights are loaded, with the memory that the model will take.
	Memory func(m Memory)
	// Progress, unless it is nil, is called while the weights are loaded, with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
	// Interrupt, unless it is nil, is called often while the weights are loaded. If it returns an error, the load ends with this error.
	Interrupt func() error
}

// Model is a language model on a device. Several goroutines may generate texts; at most Options.Sequences texts are generated at once.
type Model struct {
	name      string
	tokenizer *tokenizer.Tokenizer
	template  *chat.Template // or nil
	ends      map[int32]bool // tokens that end a text
	context   int
	network   network
	drafter   drafter // or nil
	engine    *engine
	closing   func() error // frees the memory once

	vocabularyOnce sync.Once
	vocabularyMade *grammar.Vocabulary
}

// Open loads a model onto a device. The path names one of these:
//
//   - a GGUF file, or a folder with a GGUF file
//   - a folder in the format of Hugging Face: safetensors files, config.json, tokenizer.json and tokenizer_config.json
//   - a folder models--ORG--NAME of Hugging Face's cache
//
// The errors match ErrFiles, device.ErrMemory, or errors of packages weights, tokenizer and model/llama.
func Open(dev *device.Device, path string, o Options) (*Model, error) {
	f, err := OpenFiles(path)
	if err != nil {
		return nil, err
	}
	m, err := Load(dev, f, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Weights.Close())
	}
	if err := f.Weights.Close(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Load is like Open, for Files that OpenFiles has returned or that the program has made.
func Load(dev *device.Device, f *Files, o Options) (*Model, error) {
	m := &Model{name: f.Name, tokenizer: f.Tokenizer, template: f.Template, ends: map[int32]bool{}}
	m.closing = sync.OnceValue(m.free)
	for _, id := range f.Ends {
		m.ends[id] = true
	}
	if err := m.load(dev, f, o); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// load loads the weights.
func (m *Model) load(dev *device.Device, f *Files, o Options) (err error) {
	n := &m.network
	before, err := dev.MemoryStats()
	if err != nil {
		return err
	}
	l := loading{mapped: o.Map, progress: o.Progress, interrupt: o.Interrupt}
	if o.Memory != nil {
		l.foretell = func(weights int64) error {
			m, err := o.foretell(n.stream, f, before.Used, weights)
			if err == nil {
				o.Memory(m)
			}
			return err
		}
	}
	if err := n.load(dev, f, l); err != nil {
		return err
	}
	if err := errors.Join(n.adapt(o.Adapter), n.adaptEach(o.Adapters)); err != nil {
		return err
	}
	if err := m.draft(dev, &o); err != nil {
		return err
	}
	m.context = o.tokensOfText(n.model.Context)
	if o.Tokens, err = o.tokens(dev, budget{context: m.context, used: before.Used + m.bytes(), token: m.tokenBytes(o.CacheDType)}); err != nil {
		return err
	}
	if err := roomForTokens(dev, m.tokenBytes(o.CacheDType), o.Tokens+o.spare()); err != nil {
		return err
	}
	return m.start(dev, o)
}

// start allocates what the generation of texts needs, and starts the engine.
func (m *Model) start(dev *device.Device, o Options) (err error) {
	p := plan{ending: ending{m.ends, m.context}, limits: limits{o.WaitingTexts, o.WaitingTokens}, sequences: max(o.Sequences, 1), chunk: chunkGPU, crowd: crowd, ahead: true}
	if dev.Info().Kind == "cpu" {
		p.chunk, p.alone, p.ahead = chunkCPU, true, false
	}
	p.speculation = o.speculation(m.drafter, p.sequences)
	n, rows := &m.network, p.speculation.rows
	size := llama.CacheOptions{Sequences: p.sequences, Tokens: o.Tokens, DType: o.CacheDType}
	if o.Deterministic {
		p.deterministic, p.chunk, p.alone, size.Fixed = true, llama.PageTokens, true, m.context
	}
	if n.cache, err = n.model.NewCache(n.stream, size); err != nil {
		return err
	}
	if n.sampler, err = newSampler(n.stream, rows, n.model.Vocabulary); err != nil {
		return err
	}
	if n.decoder, err = n.model.NewDecoder(n.cache, rows, n.sampler.choose); err != nil {
		return err
	}
	if n.mailbox, err = newMailbox(n.stream, rows); err != nil {
		return err
	}
	if d, ok := m.drafter.(*draftModel); ok {
		if err := d.start(p.sequences, o.Tokens, n.model.Vocabulary); err != nil {
			return err
		}
	}
	m.engine = newEngine(*n, p)
	return nil
}

// The largest numbers of tokens of a step.
const (
	chunkCPU = 128
	chunkGPU = 2048
)

// bytes returns the size of the weights, of the model and of what belongs to it.
func (m *Model) bytes() int64 {
	n := m.network.model.Bytes()
	if d, ok := m.drafter.(*draftModel); ok {
		n += d.model.Bytes()
	}
	if set := m.network.set; set != nil {
		n += set.Bytes()
	}
	return n
}

// tokenBytes returns the size of the keys and values of a token, in the caches of the model and of the draft model.
func (m *Model) tokenBytes(cache dtype.Type) int64 {
	n := int64(m.network.model.TokenBytes(cache))
	if d, ok := m.drafter.(*draftModel); ok {
		n += int64(d.model.TokenBytes(dtype.Invalid))
	}
	return n
}

// draft makes the drafter, if the options ask for one.
func (m *Model) draft(dev *device.Device, o *Options) error {
	switch {
	case o.DraftModel != "":
		d, err := openDraft(dev, o.DraftModel, m.tokenizer, *o)
		if err != nil {
			return err
		}
		if m.drafter = d; o.DraftTokens == 0 {
			o.DraftTokens = draftTokens
		}
	case o.DraftTokens > 0:
		m.drafter = lookup{}
	}
	return nil
}

// draftTokens is the default of Options.DraftTokens with a draft model.
const draftTokens = 4

// free frees the memory.
func (m *Model) free() error {
	err := m.network.close()
	if m.drafter != nil {
		err = errors.Join(err, m.drafter.close())
	}
	return err
}

// Close frees the memory. It waits for the texts that are being generated; waiting texts end with ErrClosed.
func (m *Model) Close() error {
	if m.engine != nil {
		m.engine.close()
	}
	return m.closing()
}

// Name returns the model's name from its metadata, or an empty string.
func (m *Model) Name() string { return m.name }

// Context returns the largest number of tokens of a conversation.
func (m *Model) Context() int { return m.context }

// HasChat reports whether the model has a template for conversations.
func (m *Model) HasChat() bool { return m.template != nil }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }
