package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/model"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pretokenize"
)

// file is a tokenizer.json.
type file struct {
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	Model         json.RawMessage `json:"model"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
}

// Parse returns the tokenizer of the contents of a tokenizer.json. The error
// wraps ErrFormat or ErrUnsupported.
func Parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	t := &Tokenizer{post: plainPost(), decoder: decode.Joined(), special: specialIDs{-1, -1}}
	if err := t.setComponents(f); err != nil {
		return nil, classify(err)
	}
	if present(f.PostProcessor) {
		var err error
		if t.post, err = parsePost(f.PostProcessor); err != nil {
			return nil, err
		}
	}
	if err := t.setAdded(f.AddedTokens); err != nil {
		return nil, err
	}
	return t, nil
}

// setComponents sets what the internal packages parse.
func (t *Tokenizer) setComponents(f file) (err error) {
	if present(f.Normalizer) {
		if t.normalizer, err = normalize.Parse(f.Normalizer); err != nil {
			return err
		}
	}
	if present(f.PreTokenizer) {
		if t.pre, err = pretokenize.Parse(f.PreTokenizer); err != nil {
			return err
		}
	}
	if present(f.Decoder) {
		if t.decoder, err = decode.Parse(f.Decoder); err != nil {
			return err
		}
	}
	if !present(f.Model) {
		return fmt.Errorf("%w: the file has no model", ErrFormat)
	}
	var o model.Options
	if model.Type(f.Model) == "BPE" && model.Plain(f.Model) {
		t.pre, o.Bytes = pretokenize.Raw(t.pre)
	}
	if t.model, err = model.Parse(f.Model, o); err != nil {
		return err
	}
	t.vocab = t.model.Vocab()
	t.track = pretokenize.NeedsStart(t.pre)
	return nil
}

// present reports whether a field is in the file and not null.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}
