package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// openFile opens the weights of a model: of a file, or of a folder with one model.
func openFile(path string) (*weights.File, error) {
	f, err := formats.Open(path)
	if errors.Is(err, weights.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrFiles, err)
	}
	return f, err
}

// description is what a model has beside its weights and its Config.
type description struct {
	name      string
	tokenizer *tokenizer.Tokenizer
	template  *chat.Template // or nil
	ends      map[int32]bool
}

// read reads the description of a file. It returns the network's Config, unless a GGUF file contains it.
func (d *description) read(f *weights.File, path string) (llama.Config, error) {
	if strings.HasPrefix(f.Format, "GGUF") {
		return llama.Config{}, d.fromGGUF(f.Metadata)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return d.fromFolder(path)
}

// fromGGUF reads the metadata of a GGUF file.
func (d *description) fromGGUF(meta weights.Metadata) (err error) {
	if d.tokenizer, err = tokenizer.FromGGUF(meta); err != nil {
		return err
	}
	if d.template, err = chat.FromGGUF(meta); err != nil {
		if _, has := meta.Value("tokenizer.chat_template"); has {
			return err
		}
		d.template = nil
	}
	d.name, _ = weights.Get[string](meta, "general.name")
	for _, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"} {
		if id, err := meta.Int(key); err == nil {
			d.ends[int32(id)] = true
		}
	}
	d.findEnds()
	return nil
}

// fromFolder reads the files of a folder of Hugging Face: config.json, tokenizer.json, tokenizer_config.json, and, if they are there,
// generation_config.json and chat_template.jinja.
func (d *description) fromFolder(folder string) (c llama.Config, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrFiles, err)
	}
	if c, err = llama.ParseConfig(text); err != nil {
		return c, err
	}
	if d.tokenizer, err = tokenizer.Open(filepath.Join(folder, "tokenizer.json")); err != nil {
		return c, err
	}
	if d.template, err = templateOf(folder); err != nil {
		return c, err
	}
	d.addEnds(text)
	if text, err := os.ReadFile(filepath.Join(folder, "generation_config.json")); err == nil {
		d.addEnds(text)
	}
	d.findEnds()
	d.name = formats.Name(folder)
	return c, nil
}

// templateOf returns the chat template of a folder, or nil if the model has none.
func templateOf(folder string) (*chat.Template, error) {
	t, err := chat.Open(folder)
	if err == nil {
		return t, nil
	}
	if _, missing := os.Stat(filepath.Join(folder, "chat_template.jinja")); missing == nil {
		return nil, err
	}
	text, missing := os.ReadFile(filepath.Join(folder, "tokenizer_config.json"))
	if errors.Is(missing, fs.ErrNotExist) {
		return nil, nil
	}
	var config struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if json.Unmarshal(text, &config) == nil && len(config.Template) == 0 {
		return nil, nil
	}
	return nil, err
}

// addEnds adds the tokens that end a text in a config.json or a generation_config.json: a number or a list of numbers.
func (d *description) addEnds(text []byte) {
	var config struct {
		End json.RawMessage `json:"eos_token_id"`
	}
	var one int32
	var list []int32
	switch {
	case json.Unmarshal(text, &config) != nil || len(config.End) == 0 || string(config.End) == "null":
		return
	case json.Unmarshal(config.End, &one) == nil:
		list = []int32{one}
	case json.Unmarshal(config.End, &list) != nil:
		return
	}
	for _, id := range list {
		d.ends[id] = true
	}
}

// findEnds adds the tokens that end a text in the common formats of chats.
func (d *description) findEnds() {
	for _, token := range []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>"} {
		if id, ok := d.tokenizer.TokenID(token); ok && d.tokenizer.IsSpecial(id) {
			d.ends[id] = true
		}
	}
}
