package tokenizer

import (
	"fmt"
	"math"
	"reflect"
)

// The types of tokens in GGUF files that matter here.
const (
	typeUnknown     = 2
	typeControl     = 3
	typeUserDefined = 4
)

// fields is the metadata of a tokenizer in a GGUF file. IDs that the file lacks
// are -1.
type fields struct {
	model, pre              string
	tokens, merges          []string
	scores                  []float32
	types                   []int32
	bos, eos, unk, cls, sep int32
	addBOS, addEOS          *bool
	addSpacePrefix          *bool
	err                     error
}

// readGGUF reads the metadata and checks the types of the values.
func readGGUF(m Metadata) (*fields, error) {
	const prefix = "tokenizer.ggml."
	g := &fields{}
	g.model = get[string](g, m, prefix+"model")
	g.pre = get[string](g, m, prefix+"pre")
	g.tokens = get[[]string](g, m, prefix+"tokens")
	g.merges = get[[]string](g, m, prefix+"merges")
	g.scores = get[[]float32](g, m, prefix+"scores")
	g.types = get[[]int32](g, m, prefix+"token_type")
	g.bos = g.id(m, prefix+"bos_token_id")
	g.eos = g.id(m, prefix+"eos_token_id")
	g.unk = g.id(m, prefix+"unknown_token_id")
	g.cls = g.id(m, prefix+"cls_token_id")
	g.sep = g.id(m, prefix+"seperator_token_id") // sic
	g.addBOS = g.flag(m, prefix+"add_bos_token")
	g.addEOS = g.flag(m, prefix+"add_eos_token")
	g.addSpacePrefix = g.flag(m, prefix+"add_space_prefix")
	if g.err == nil && len(g.tokens) == 0 {
		g.err = fmt.Errorf("%w: the metadata has no tokenizer.ggml.tokens", ErrFormat)
	}
	if g.err == nil && len(g.types) > 0 && len(g.types) != len(g.tokens) {
		g.err = fmt.Errorf("%w: %d token types for %d tokens", ErrFormat, len(g.types), len(g.tokens))
	}
	return g, g.err
}

// get returns the value of a key, or the zero value if there is none. A value of
// another type sets g.err.
func get[T any](g *fields, m Metadata, key string) T {
	var zero T
	value, ok := m.Value(key)
	if !ok {
		return zero
	}
	v, ok := value.(T)
	if !ok {
		g.fail("%s is a %T", key, value)
	}
	return v
}

// flag returns the value of a key, or nil if there is none.
func (g *fields) flag(m Metadata, key string) *bool {
	if _, ok := m.Value(key); !ok {
		return nil
	}
	b := get[bool](g, m, key)
	return &b
}

// id returns the ID that is the value of a key, or -1.
func (g *fields) id(m Metadata, key string) int32 {
	value, ok := m.Value(key)
	if !ok {
		return -1
	}
	v := reflect.ValueOf(value)
	switch {
	case !v.CanUint() && !v.CanInt():
		g.fail("%s is a %T", key, value)
		return -1
	case v.CanUint() && v.Uint() < uint64(len(g.tokens)) && v.Uint() <= math.MaxInt32:
		return int32(v.Uint())
	case v.CanInt() && v.Int() >= 0 && v.Int() < int64(len(g.tokens)) && v.Int() <= math.MaxInt32:
		return int32(v.Int())
	}
	g.fail("%s is %v of %d tokens", key, value, len(g.tokens))
	return -1
}

// fail records the first error.
func (g *fields) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
}

// typeOf returns the type of a token, 0 if the file has no types.
func (g *fields) typeOf(id int) int32 {
	if g.types == nil {
		return 0
	}
	return g.types[id]
}

// addedTokens returns the tokens that are found in the text before the model
// sees it.
func (g *fields) addedTokens() []addedToken {
	var list []addedToken
	for id, tok := range g.tokens {
		switch g.typeOf(id) {
		case typeControl, typeUnknown:
			list = append(list, addedToken{ID: int32(id), Content: tok, Special: true})
		case typeUserDefined:
			list = append(list, addedToken{ID: int32(id), Content: tok})
		}
	}
	return list
}
