package tokenizer

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/model"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pretokenize"
)

// The errors of this package wrap one of these.
var (
	// ErrFormat is the error of a file or metadata without a valid tokenizer.
	ErrFormat = errors.New("tokenizer: invalid tokenizer")
	// ErrUnsupported is the error of a tokenizer with a component that this package does not
	// support.
	ErrUnsupported = errors.New("tokenizer: unsupported tokenizer")
)

// Tokenizer converts between text and token IDs.
type Tokenizer struct {
	normalizer normalize.Normalizer     // nil if there is none
	pre        pretokenize.PreTokenizer // nil if there is none
	model      model.Model
	vocab      *model.Vocab // the model's
	added      added
	post       post
	decoder    *decode.Decoder
	track      bool // pre needs to know where a piece starts in the text
	special    specialIDs

	memory sync.Pool // of *memory
}

// specialIDs are the IDs of tokens with a role, or -1.
type specialIDs struct{ bos, eos int32 }

// Open reads a tokenizer.json. The error wraps ErrFormat, ErrUnsupported or an
// error of package os.
func Open(path string) (*Tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, path)
	}
	return t, nil
}

// Size returns the number of tokens, including added tokens. If every ID below
// the largest is in use, Size is the largest ID plus one.
func (t *Tokenizer) Size() int { return t.vocab.Size() + t.added.extra }

// TokenID returns the ID of a token, and false if the vocabulary does not contain the token. The
// token is spelled as in the vocabulary, for example "Ġworld" or "<|im_end|>".
func (t *Tokenizer) TokenID(token string) (int32, bool) {
	if id, ok := t.added.ids[token]; ok {
		return id, true
	}
	return t.vocab.ID(token)
}

// Token returns the token with an ID, as the vocabulary spells it, or false if no token has the ID.
func (t *Tokenizer) Token(id int32) (string, bool) {
	if a, ok := t.added.tokens[id]; ok {
		return a.Content, true
	}
	return t.vocab.Token(id)
}

// IsSpecial reports whether the token with an ID is a special token, such as the
// end of a text.
func (t *Tokenizer) IsSpecial(id int32) bool {
	a, ok := t.added.tokens[id]
	return ok && a.Special
}

// BOS returns the ID of the token that begins a text, if the metadata of a GGUF file names one.
// Otherwise, and for every tokenizer.json, it returns false.
func (t *Tokenizer) BOS() (int32, bool) { return t.special.bos, t.special.bos >= 0 }

// EOS returns the ID of the token that ends a text, if the metadata of a GGUF file names one.
// Otherwise, and for every tokenizer.json, it returns false.
func (t *Tokenizer) EOS() (int32, bool) { return t.special.eos, t.special.eos >= 0 }

// classify wraps an error of an internal package in one of this package.
func classify(err error) error {
	if errors.Is(err, model.ErrUnknown) || errors.Is(err, normalize.ErrUnknown) ||
		errors.Is(err, pretokenize.ErrUnknown) || errors.Is(err, decode.ErrUnknown) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}
