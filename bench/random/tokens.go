package random

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// specials is the number of special tokens, which are the last ones. As in Llama 3, most of them are reserved.
const specials = 256

// Numbers of special tokens.
const (
	begin       = 0
	end         = 1
	beginHeader = 6
	endHeader   = 7
	endOfTurn   = 9
)

// template is a chat template in the style of Llama 3.
const template = "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content }}<|eot_id|>{% endfor %}" +
	"{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"

// split is the expression by which a tokenizer in the style of Llama 3 cuts text.
const split = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// errVocabulary is the error of a vocabulary without room for the bytes and the special tokens.
var errVocabulary = errors.New("random: a vocabulary has at least 512 tokens")

// check reports whether the vocabulary has room for its tokens.
func (s Shape) check() error {
	if s.Vocabulary < 256+specials {
		return fmt.Errorf("%w: %d", errVocabulary, s.Vocabulary)
	}
	return nil
}

// special returns a special token by its number.
func (s Shape) special(number int) int { return s.Vocabulary - specials + number }

// tokens returns the texts of the tokens: the bytes, then as many invented words as there is room for, then the special tokens.
func (s Shape) tokens() []string {
	list := llamatest.ByteTokens()
	for i := range s.Vocabulary - 256 - specials {
		list = append(list, "Ġ"+word(i))
	}
	for i := range specials {
		list = append(list, specialText(i))
	}
	return list
}

// word returns the invented word with a number, which has letters only, because texts are cut between letters and digits.
func word(i int) string {
	w := []byte{'q'}
	for ; i > 0; i /= 26 {
		w = append(w, byte('a'+i%26))
	}
	return string(w)
}

// specialText returns the text of a special token.
func specialText(number int) string {
	switch number {
	case begin:
		return "<|begin_of_text|>"
	case end:
		return "<|end_of_text|>"
	case beginHeader:
		return "<|start_header_id|>"
	case endHeader:
		return "<|end_header_id|>"
	case endOfTurn:
		return "<|eot_id|>"
	}
	return fmt.Sprintf("<|reserved_special_token_%d|>", number)
}

// metadata returns the metadata of a GGUF file.
func (s Shape) metadata() weights.Metadata {
	types := make([]int32, s.Vocabulary)
	for i := range types {
		types[i] = 1 // normal
		if i >= s.special(0) {
			types[i] = 3 // control
		}
	}
	return weights.Metadata{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "Random"},
		{Key: "llama.block_count", Value: uint32(s.Layers)},
		{Key: "llama.context_length", Value: uint32(s.Context)},
		{Key: "llama.embedding_length", Value: uint32(s.Hidden)},
		{Key: "llama.feed_forward_length", Value: uint32(s.FFN)},
		{Key: "llama.attention.head_count", Value: uint32(s.Heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(s.KeyHeads)},
		{Key: "llama.attention.key_length", Value: uint32(s.HeadDim)},
		{Key: "llama.attention.value_length", Value: uint32(s.HeadDim)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(epsilon)},
		{Key: "llama.rope.freq_base", Value: float32(base)},
		{Key: "llama.rope.dimension_count", Value: uint32(s.HeadDim)},
		{Key: "llama.vocab_size", Value: uint32(s.Vocabulary)},
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "llama-bpe"},
		{Key: "tokenizer.ggml.tokens", Value: s.tokens()},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: []string{}},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(s.special(begin))},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(s.special(endOfTurn))},
		{Key: "tokenizer.chat_template", Value: template},
	}
}

// tokenizer returns the contents of a tokenizer.json.
func (s Shape) tokenizer() map[string]any {
	vocabulary, added := map[string]int{}, []any{}
	for i, text := range s.tokens() {
		if i < s.special(0) {
			vocabulary[text] = i
			continue
		}
		added = append(added, map[string]any{"id": i, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
	}
	bytes := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}
	first := map[string]any{"SpecialToken": map[string]any{"id": specialText(begin), "type_id": 0}}
	cut := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": split}, "behavior": "Isolated", "invert": false}
	return map[string]any{
		"version": "1.0", "added_tokens": added, "decoder": bytes,
		"post_processor": map[string]any{
			"type":           "TemplateProcessing",
			"single":         []any{first, map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}}},
			"pair":           []any{first, map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}}, map[string]any{"Sequence": map[string]any{"id": "B", "type_id": 1}}},
			"special_tokens": map[string]any{specialText(begin): map[string]any{"id": specialText(begin), "ids": []int{s.special(begin)}, "tokens": []string{specialText(begin)}}},
		},
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{cut, bytes}},
		"model":         map[string]any{"type": "BPE", "ignore_merges": true, "vocab": vocabulary, "merges": []string{}},
	}
}
