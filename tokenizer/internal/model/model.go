package model

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Errors that the errors of this package wrap.
var (
	ErrUnknown = errors.New("unknown tokenizer model")
	ErrFormat  = errors.New("invalid tokenizer model")
)

// Token is a token of a piece.
type Token struct {
	ID         int32
	Start, End int32 // bytes of the piece
}

// Model turns pieces into tokens.
type Model interface {
	// Append appends the tokens of a piece to dst.
	Append(dst []Token, piece string) []Token
	// Vocab returns the model's vocabulary.
	Vocab() *Vocab
}

// object is the union of the fields of all models.
type object struct {
	Type     string          `json:"type"`
	Vocab    json.RawMessage `json:"vocab"`
	Merges   json.RawMessage `json:"merges"`
	UnkToken *string         `json:"unk_token"`
	UnkID    *int32          `json:"unk_id"`
	Dropout  float64         `json:"dropout"`

	Prefix       *string `json:"continuing_subword_prefix"`
	Suffix       *string `json:"end_of_word_suffix"`
	FuseUnk      bool    `json:"fuse_unk"`
	ByteFallback bool    `json:"byte_fallback"`
	IgnoreMerges bool    `json:"ignore_merges"`

	MaxChars *int `json:"max_input_chars_per_word"`
}

// Options are properties of the tokenizer that a model depends on.
type Options struct {
	// Bytes says that pieces are raw bytes and not the characters of package
	// bytelevel, although the vocabulary consists of these. Only BPE accepts it.
	Bytes bool
}

// Parse returns the model of a JSON object.
func Parse(raw json.RawMessage, o Options) (Model, error) {
	var obj object
	if err := json.Unmarshal(raw, &obj); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch Type(raw) {
	case "BPE":
		return parseBPE(obj, o)
	case "WordPiece":
		return parseWordPiece(obj)
	case "Unigram":
		return parseUnigram(obj)
	case "WordLevel":
		return parseWordLevel(obj)
	}
	return nil, fmt.Errorf("%w %q", ErrUnknown, obj.Type)
}

// Type returns the type of a model's JSON object. Old files do not name it, and
// then a list of merges makes it BPE.
func Type(raw json.RawMessage) string {
	var obj struct {
		Type   string          `json:"type"`
		Merges json.RawMessage `json:"merges"`
	}
	if json.Unmarshal(raw, &obj) != nil {
		return ""
	}
	if obj.Type == "" && obj.Merges != nil {
		return "BPE"
	}
	return obj.Type
}

// Plain reports whether a BPE model's JSON object has no option that depends on
// characters, so that Options.Bytes is possible.
func Plain(raw json.RawMessage) bool {
	var o object
	return json.Unmarshal(raw, &o) == nil && !o.ByteFallback && value(o.Prefix) == "" && value(o.Suffix) == ""
}

// value returns *s, or "" if s is nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
