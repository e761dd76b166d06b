package berttest

import (
	"maps"
	"slices"
	"strings"
)

// The vocabularies begin with five special tokens.
var (
	words = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "a", "dog", "runs", "##s", "##ing", "mat", "on", ".", "?", "red"}

	relativeSpecial = []string{"<s>", "<pad>", "</s>", "<unk>", "<mask>"}
	unigramWords    = append(slices.Clip(relativeSpecial), "▁the", "▁cat", "▁sat", "▁a", "▁dog", "▁runs", "s", "ing", "▁mat", "▁on", ".", "?", "▁red", "▁", "t", "a", "o", "n", "r", "e", "d")
)

// Vocabulary returns the number of tokens of a model of the type bert. Other models have more.
func Vocabulary() int { return len(words) }

// added returns the special tokens, as a tokenizer.json lists them.
func added(special []string) (list []any) {
	for id, word := range special {
		list = append(list, map[string]any{
			"id": id, "content": word, "single_word": false, "lstrip": word == "<mask>", "rstrip": false, "normalized": false, "special": true,
		})
	}
	return list
}

// template returns a post-processor that adds the special tokens of templates such as "[CLS] A [SEP] B:1 [SEP]:1".
func template(single, pair string, special []string) map[string]any {
	tokens := map[string]any{}
	for id, word := range special {
		tokens[word] = map[string]any{"id": word, "ids": []int{id}, "tokens": []string{word}}
	}
	used := map[string]any{}
	pieces := func(text string) (list []any) {
		for name := range strings.FieldsSeq(text) {
			name, second := strings.CutSuffix(name, ":1")
			kind, of := "Sequence", 0
			if second {
				of = 1
			}
			if t, ok := tokens[name]; ok {
				kind, used[name] = "SpecialToken", t
			}
			list = append(list, map[string]any{kind: map[string]any{"id": name, "type_id": of}})
		}
		return list
	}
	return map[string]any{"type": "TemplateProcessing", "single": pieces(single), "pair": pieces(pair), "special_tokens": used}
}

// wordPiece returns the contents of a tokenizer.json for BERT.
func wordPiece() map[string]any {
	special := words[:5]
	return map[string]any{
		"version": "1.0", "added_tokens": added(special),
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": template("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1", special),
		"decoder":        map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": numbered(words)},
	}
}

// numbered returns the indices of tokens.
func numbered(list []string) map[string]int {
	vocabulary := map[string]int{}
	for id, word := range list {
		vocabulary[word] = id
	}
	return vocabulary
}

// unigram returns the contents of a tokenizer.json for XLM-RoBERTa. Long tokens have higher scores.
func unigram() map[string]any {
	var vocabulary []any
	for id, word := range unigramWords {
		score := 0.0
		if id >= len(relativeSpecial) {
			score = -6 + 0.25*float64(len(word))
		}
		vocabulary = append(vocabulary, []any{word, score})
	}
	space := map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
	return map[string]any{
		"version": "1.0", "added_tokens": added(relativeSpecial),
		"normalizer":     map[string]any{"type": "NFKC"},
		"pre_tokenizer":  map[string]any{"type": "Sequence", "pretokenizers": []any{map[string]any{"type": "WhitespaceSplit"}, space}},
		"post_processor": template("<s> A </s>", "<s> A </s> </s> B </s>", relativeSpecial),
		"decoder":        space,
		"model":          map[string]any{"type": "Unigram", "unk_id": 3, "vocab": vocabulary, "byte_fallback": false},
	}
}

// merges are those of the byte-level tokenizer. A Ġ stands for a space.
var merges = []string{"t h", "th e", "a t", "c at", "s at", "m at", "o n", "Ġ the", "Ġ cat", "Ġ sat", "Ġ a", "Ġ mat", "Ġ on", "r u", "ru n", "run s", "Ġ runs", "d o", "do g", "Ġ dog", "r e", "re d", "Ġ red"}

// byteWords returns the vocabulary of the byte-level tokenizer, which lacks most bytes.
func byteWords() []string {
	known := map[string]bool{}
	for _, m := range merges {
		known[strings.ReplaceAll(m, " ", "")] = true
	}
	list := slices.Concat(relativeSpecial, strings.Split("abcdefghijklmnopqrstuvwxyzĠ.?", ""))
	return append(list, slices.Sorted(maps.Keys(known))...)
}

// byteLevel returns the contents of a tokenizer.json for RoBERTa.
func byteLevel() map[string]any {
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	return map[string]any{
		"version": "1.0", "added_tokens": added(relativeSpecial), "pre_tokenizer": level, "decoder": level,
		"post_processor": map[string]any{"type": "RobertaProcessing", "sep": []any{"</s>", 2}, "cls": []any{"<s>", 0}, "trim_offsets": true, "add_prefix_space": false},
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false,
			"vocab": numbered(byteWords()), "merges": merges,
		},
	}
}
