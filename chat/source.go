package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Metadata is the metadata of a GGUF file.
type Metadata interface {
	// Value returns the value of a key and reports whether there is one.
	Value(key string) (any, bool)
}

// FromGGUF returns the template in the metadata of a GGUF file.
func FromGGUF(m Metadata) (*Template, error) {
	const key = "tokenizer.chat_template"
	special := map[string]string{}
	value, _ := m.Value("tokenizer.ggml.tokens")
	tokens, _ := value.([]string)
	for name, id := range map[string]string{"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"} {
		v, _ := m.Value("tokenizer.ggml." + id + "_token_id")
		if i, ok := index(v); ok && i < len(tokens) {
			special[name] = tokens[i]
		}
	}
	v, _ := m.Value(key)
	source, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("%w: the metadata has no string %s", ErrTemplate, key)
	}
	sources := map[string]string{"default": source}
	if v, _ := m.Value(key + ".tool_use"); v != nil {
		sources["tool_use"], _ = v.(string)
	}
	return fromSources(sources, special)
}

// index returns an integer of any type that can be an index.
func index(v any) (int, bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, false
	case r.CanUint() && r.Uint() <= 1<<31:
		return int(r.Uint()), true
	case r.CanInt() && r.Int() >= 0 && r.Int() <= 1<<31:
		return int(r.Int()), true
	}
	return 0, false
}

// Open returns the template of a model's folder, which contains tokenizer_config.json and, in newer
// models, chat_template.jinja.
func Open(folder string) (*Template, error) {
	data, err := os.ReadFile(filepath.Join(folder, "tokenizer_config.json"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	sources, special, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(folder, "chat_template.jinja"))
	switch {
	case err == nil:
		sources["default"] = string(file)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	return fromSources(sources, special)
}

// Parse returns the template in the contents of a tokenizer_config.json.
func Parse(data []byte) (*Template, error) {
	sources, special, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	return fromSources(sources, special)
}

// parseConfig returns the sources of the templates in a tokenizer_config.json by
// name, and the special tokens.
func parseConfig(data []byte) (sources, special map[string]string, err error) {
	var config map[string]json.RawMessage
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, nil, fmt.Errorf("%w: tokenizer_config.json: %w", ErrTemplate, err)
	}
	sources, special = map[string]string{}, map[string]string{}
	var one string
	var named []struct{ Name, Template string }
	raw, ok := config["chat_template"]
	switch {
	case !ok:
	case json.Unmarshal(raw, &one) == nil:
		sources["default"] = one
	case json.Unmarshal(raw, &named) == nil:
		for _, n := range named {
			sources[n.Name] = n.Template
		}
	default:
		return nil, nil, fmt.Errorf("%w: chat_template is neither a string nor a list of templates", ErrTemplate)
	}
	for key, raw := range config {
		var token struct{ Content string }
		if !strings.HasSuffix(key, "_token") {
			continue
		}
		ok := json.Unmarshal(raw, &token.Content) == nil || json.Unmarshal(raw, &token) == nil
		if ok && token.Content != "" {
			special[key] = token.Content
		}
	}
	return sources, special, nil
}

// fromSources compiles the templates that are used.
func fromSources(sources, special map[string]string) (*Template, error) {
	source, ok := sources["default"]
	if !ok || source == "" {
		return nil, fmt.Errorf("%w: the model has none", ErrTemplate)
	}
	t, err := New(source, special)
	if err != nil {
		return nil, err
	}
	if source := sources["tool_use"]; source != "" {
		if t.tools, err = compile(source); err != nil {
			return nil, err
		}
		t.calls = true
	}
	return t, nil
}
