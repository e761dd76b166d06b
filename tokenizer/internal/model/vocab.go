package model

import (
	"encoding/json"
	"fmt"
)

// Vocab maps tokens to IDs and back.
type Vocab struct {
	ids    map[string]int32
	tokens []string
	count  int
}

// ID returns the ID of a token.
func (v *Vocab) ID(token string) (int32, bool) {
	id, ok := v.ids[token]
	return id, ok
}

// Token returns the token with an ID. It reports false if there is none.
func (v *Vocab) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(v.tokens) {
		return "", false
	}
	t := v.tokens[id]
	if t == "" {
		_, ok := v.ids[t]
		return t, ok
	}
	return t, true
}

// Size returns the number of tokens.
func (v *Vocab) Size() int { return v.count }

// NewVocab returns the vocabulary in which the ID of a token is its index, the
// last one if the token occurs twice.
func NewVocab(tokens []string) *Vocab {
	v := &Vocab{ids: make(map[string]int32, len(tokens)), tokens: tokens, count: len(tokens)}
	for i, t := range tokens {
		v.ids[t] = int32(i)
	}
	return v
}

// sparse limits the IDs of a vocabulary of n tokens. The table by ID has one
// entry for each, also for those that no token has.
func sparse(n int) int { return 8*n + 1024 }

// parseVocab reads a JSON object of IDs by token.
func parseVocab(raw json.RawMessage) (*Vocab, error) {
	ids := map[string]int32{}
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("%w: vocab: %w", ErrFormat, err)
	}
	last := int32(-1)
	for t, id := range ids {
		if id < 0 || int(id) >= sparse(len(ids)) {
			return nil, fmt.Errorf("%w: token %q of %d has ID %d", ErrFormat, t, len(ids), id)
		}
		last = max(last, id)
	}
	v := &Vocab{ids: ids, tokens: make([]string, last+1), count: len(ids)}
	for t, id := range ids {
		v.tokens[id] = t
	}
	return v, nil
}

// require returns the ID of a token that the model needs.
func (v *Vocab) require(token, use string) (int32, error) {
	id, ok := v.ids[token]
	if !ok {
		return 0, fmt.Errorf("%w: the vocabulary lacks the %s %q", ErrFormat, use, token)
	}
	return id, nil
}

// byteTokens returns the IDs of the tokens <0x00> to <0xFF>, and whether all
// are in the vocabulary. A missing one is -1.
func (v *Vocab) byteTokens() (ids [256]int32, all bool) {
	all = true
	for b := range 256 {
		id, ok := v.ids[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			id, all = -1, false
		}
		ids[b] = id
	}
	return ids, all
}
