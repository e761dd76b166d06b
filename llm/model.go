package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
)

// ErrFiles is the error of a folder without a single model.
var ErrFiles = errors.New("llm: not one model")

// Options are the options of Open.
type Options struct {
	// Context is the largest number of tokens of a conversation. 0 means that of the model, but at most 8192.
	Context int
	// Progress is called while the weights are loaded, with the bytes that have been loaded and all.
	Progress func(done, total int64)
}

// Model is a language model on a device. It generates one text at a time; other goroutines wait.
type Model struct {
	name      string
	tokenizer *tokenizer.Tokenizer
	template  *chat.Template // or nil
	ends      map[int32]bool // tokens that end a text

	mu      sync.Mutex // held while a text is generated
	stream  *device.Stream
	network *llama.Model
	cache   *llama.Cache
	sampler *sampler
	decoder *llama.Decoder
	mailbox *mailbox
	ahead   bool // compute the next token while the host reads one: a stop wastes a token
	context int
	tokens  []int32 // of the cache's sequence
}

// Open loads a model onto a device: from a GGUF file, from a folder with one, or from a folder of Hugging Face, which has safetensors
// files, config.json, tokenizer.json and tokenizer_config.json. The errors match those of the packages weights, tokenizer and
// model/llama, and ErrFiles.
func Open(dev *device.Device, path string, o Options) (*Model, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	m := &Model{ends: map[int32]bool{}}
	err = m.load(dev, f, source{path, o})
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), m.Close())
	}
	return m, nil
}

// source is where a model comes from, and how to open it.
type source struct {
	path string
	Options
}

// load loads a file.
func (m *Model) load(dev *device.Device, f *weights.File, from source) error {
	config, err := m.describe(f, from.path)
	if err != nil {
		return err
	}
	if m.stream, err = dev.NewStream(); err != nil {
		return err
	}
	if m.network, err = llama.Load(m.stream, f, llama.LoadOptions{Config: config, Progress: from.Progress}); err != nil {
		return err
	}
	if m.context = from.Context; m.context == 0 {
		m.context = 8192
	}
	m.context = min(m.context, m.network.Context)
	m.ahead = dev.Info().Kind != "cpu"
	return m.prepare()
}

// prepare allocates what the generation of a text needs.
func (m *Model) prepare() (err error) {
	if m.cache, err = m.network.NewCache(m.stream, llama.CacheOptions{Sequences: 1, Tokens: m.context}); err != nil {
		return err
	}
	if m.sampler, err = newSampler(m.stream, m.network.Vocabulary); err != nil {
		return err
	}
	if m.decoder, err = m.network.NewDecoder(m.cache, 1, m.sampler.choose); err != nil {
		return err
	}
	m.mailbox, err = newMailbox(m.stream)
	return err
}

// Close frees the memory. It waits for a text that is being generated.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	if m.stream != nil {
		err = m.stream.Synchronize(context.Background())
	}
	if m.mailbox != nil {
		err = errors.Join(err, m.mailbox.Close())
	}
	if m.decoder != nil {
		err = errors.Join(err, m.decoder.Close())
	}
	if m.sampler != nil {
		err = errors.Join(err, m.sampler.Close())
	}
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close())
	}
	if m.network != nil {
		err = errors.Join(err, m.network.Close())
	}
	if m.stream != nil {
		err = errors.Join(err, m.stream.Close())
	}
	m.mailbox, m.decoder, m.sampler, m.cache, m.network, m.stream = nil, nil, nil, nil, nil, nil
	return err
}

// Name returns the name in the model's metadata, which may be empty.
func (m *Model) Name() string { return m.name }

// Context returns the largest number of tokens of a conversation.
func (m *Model) Context() int { return m.context }

// HasChat reports whether the model has a template for conversations.
func (m *Model) HasChat() bool { return m.template != nil }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }
