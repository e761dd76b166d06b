package llm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
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
	context int
	tokens  []int32 // of the cache's sequence
}

// Open loads a model from a GGUF file, or from a folder with one, onto a device. The errors match those of the packages weights,
// tokenizer and model/llama, and ErrFiles.
func Open(dev *device.Device, path string, o Options) (*Model, error) {
	path, err := fileOf(path)
	if err != nil {
		return nil, err
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := load(dev, f, o)
	if err = errors.Join(err, f.Close()); err != nil {
		if m != nil {
			err = errors.Join(err, m.Close())
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// fileOf returns the path of the GGUF file, if path is a folder with one.
func fileOf(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, err
	}
	list, err := filepath.Glob(filepath.Join(path, "*.gguf"))
	if err != nil || len(list) == 0 {
		return "", fmt.Errorf("%w: %s has no file whose name ends with .gguf", ErrFiles, path)
	}
	if len(list) > 1 {
		return "", fmt.Errorf("%w: %s has %d files whose names end with .gguf; name one of them", ErrFiles, path, len(list))
	}
	return list[0], nil
}

// load returns the model of a file. It returns a model also with an error, to be closed.
func load(dev *device.Device, f *weights.File, o Options) (*Model, error) {
	m := &Model{ends: map[int32]bool{}}
	var err error
	if m.tokenizer, err = tokenizer.FromGGUF(f.Metadata); err != nil {
		return nil, err
	}
	if m.template, err = chat.FromGGUF(f.Metadata); err != nil {
		if _, has := f.Metadata.Value("tokenizer.chat_template"); has {
			return nil, err
		}
		m.template = nil
	}
	m.name, _ = weights.Get[string](f.Metadata, "general.name")
	m.findEnds(f.Metadata)
	if m.stream, err = dev.NewStream(); err != nil {
		return m, err
	}
	if m.network, err = llama.Load(m.stream, f, o.Progress); err != nil {
		return m, err
	}
	if m.context = o.Context; m.context == 0 {
		m.context = 8192
	}
	m.context = min(m.context, m.network.Context)
	m.cache, err = m.network.NewCache(m.stream, llama.CacheOptions{Sequences: 1, Tokens: m.context})
	return m, err
}

// findEnds finds the tokens that end a text: that of the metadata, and those that the common formats of chats use.
func (m *Model) findEnds(meta weights.Metadata) {
	for _, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"} {
		if id, err := meta.Int(key); err == nil {
			m.ends[int32(id)] = true
		}
	}
	for _, token := range []string{"<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>"} {
		if id, ok := m.tokenizer.TokenID(token); ok && m.tokenizer.IsSpecial(id) {
			m.ends[id] = true
		}
	}
}

// Close frees the memory. It waits for a text that is being generated.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	if m.cache != nil {
		err = m.cache.Close()
	}
	if m.network != nil {
		err = errors.Join(err, m.network.Close())
	}
	if m.stream != nil {
		err = errors.Join(err, m.stream.Synchronize(context.Background()), m.stream.Close())
	}
	m.cache, m.network, m.stream = nil, nil, nil
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
