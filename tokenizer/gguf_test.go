package tokenizer_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// entries is metadata in memory.
type entries map[string]any

// Value implements Metadata.
func (m entries) Value(key string) (any, bool) {
	v, ok := m[key]
	return v, ok
}

// The types of tokens in a GGUF file, as llama.cpp numbers them.
const (
	typeControl     = 3
	typeUserDefined = 4
)

// addedToken is a token that is found in the text before the model sees it.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// smallFile is the part of a small tokenizer's file that its metadata is made of.
type smallFile struct {
	AddedTokens []addedToken `json:"added_tokens"`
	Model       struct {
		Vocab  map[string]uint32
		Merges [][2]string
	}
}

// metadataOf returns the metadata of a small tokenizer, as a converter to GGUF
// would write it.
func metadataOf(t testing.TB, name string) entries {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f smallFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	size := len(f.Model.Vocab)
	for _, a := range f.AddedTokens {
		size = max(size, int(a.ID)+1)
	}
	tokens, types := make([]string, size), make([]int32, size)
	for tok, id := range f.Model.Vocab {
		tokens[id], types[id] = tok, 1
		if strings.HasPrefix(tok, "<0x") && len(tok) == 6 {
			types[id] = 6
		}
	}
	for _, a := range f.AddedTokens {
		tokens[a.ID], types[a.ID] = a.Content, typeUserDefined
		if a.Special {
			types[a.ID] = typeControl
		}
	}
	var merges []string
	for _, m := range f.Model.Merges {
		merges = append(merges, m[0]+" "+m[1])
	}
	return entries{
		"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types, "tokenizer.ggml.merges": merges,
	}
}

// with returns m with more entries.
func (m entries) with(more entries) entries {
	out := maps.Clone(m)
	maps.Copy(out, more)
	return out
}

// TestGGUF compares tokenizers made of metadata with the vectors.
func TestGGUF(t *testing.T) {
	smollm := metadataOf(t, "smollm").with(entries{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"})
	llama := metadataOf(t, "llama2")
	tokens := llama["tokenizer.ggml.tokens"].([]string)
	scores := make([]float32, len(tokens))
	for rank, m := range llama["tokenizer.ggml.merges"].([]string) {
		if id := slices.Index(tokens, strings.Replace(m, " ", "", 1)); scores[id] == 0 {
			scores[id] = float32(-1 - rank)
		}
	}
	llama = llama.with(entries{
		"tokenizer.ggml.model": "llama", "tokenizer.ggml.scores": scores,
		"tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2), "tokenizer.ggml.unknown_token_id": uint32(0),
	})
	bert := metadataOf(t, "bert")
	var words []string
	for i, tok := range bert["tokenizer.ggml.tokens"].([]string) {
		rest, inside := strings.CutPrefix(tok, "##")
		if types := bert["tokenizer.ggml.token_type"].([]int32); !inside && types[i] == 1 {
			rest = "▁" + tok
		}
		words = append(words, rest)
	}
	bert = bert.with(entries{
		"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": words, "tokenizer.ggml.unknown_token_id": uint32(0),
		"tokenizer.ggml.cls_token_id": uint32(1), "tokenizer.ggml.seperator_token_id": uint32(2),
	})
	for name, m := range map[string]entries{"smollm": smollm, "bert": bert, "llama2": llama} {
		t.Run(name, func(t *testing.T) { compareGGUF(t, name, m) })
	}
}

func compareGGUF(t *testing.T, name string, m entries) {
	tok, err := tokenizer.FromGGUF(m)
	if err != nil {
		t.Fatal(err)
	}
	if want := openSmall(t, name).Size(); tok.Size() != want {
		t.Errorf("the tokenizer has %d tokens, want %d", tok.Size(), want)
	}
	vectors := readVectors(t, name)
	wrong := 0
	for i, text := range readTexts(t) {
		if v := vectors[i]; !slices.Equal(tok.Encode(text), v.IDs) {
			wrong++
			t.Errorf("IDs of %q:\n got %v\nwant %v", text, tok.Encode(text), v.IDs)
		} else if s := lossy(tok.Decode(v.IDs)); s != v.Decoded {
			t.Errorf("text of the IDs of %q: %q, want %q", text, s, v.Decoded)
		}
	}
}

// TestGGUFSpecial checks the tokens around a text.
func TestGGUFSpecial(t *testing.T) {
	base := metadataOf(t, "smollm").with(entries{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2)})
	for _, c := range []struct {
		more       entries
		begin, end bool
	}{
		{entries{"tokenizer.ggml.pre": "smollm"}, false, false},
		{entries{"tokenizer.ggml.pre": "llama-bpe"}, true, false},
		{entries{"tokenizer.ggml.pre": "llama-bpe", "tokenizer.ggml.add_bos_token": false}, false, false},
		{entries{"tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.add_bos_token": true, "tokenizer.ggml.add_eos_token": true}, true, true},
	} {
		tok, err := tokenizer.FromGGUF(base.with(c.more))
		if err != nil {
			t.Fatal(err)
		}
		bos, ok1 := tok.BOS()
		eos, ok2 := tok.EOS()
		if bos != 1 || eos != 2 || !ok1 || !ok2 {
			t.Errorf("%v: BOS is %d, %v, EOS is %d, %v", c.more, bos, ok1, eos, ok2)
		}
		ids := tok.Encode("a b")
		if got := ids[0] == 1; got != c.begin {
			t.Errorf("%v: the text begins with BOS: %v", c.more, got)
		}
		if got := ids[len(ids)-1] == 2; got != c.end {
			t.Errorf("%v: the text ends with EOS: %v", c.more, got)
		}
	}
}

// TestFamilies encodes with each kind of pre-tokenizer.
func TestFamilies(t *testing.T) {
	base := metadataOf(t, "smollm").with(entries{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.add_bos_token": false})
	for _, pre := range []string{"gpt-2", "smollm", "llama-bpe", "dbrx", "qwen2", "stablelm2", "qwen35", "gpt-4o", "tekken", "deepseek-coder", "deepseek-v3", "default"} {
		tok, err := tokenizer.FromGGUF(base.with(entries{"tokenizer.ggml.pre": pre}))
		if err != nil {
			t.Errorf("%s: %v", pre, err)
			continue
		}
		for _, text := range []string{"", " Hello, world's 12345 été\n\n  漢字!?  ", "\xffa\xe2\x82"} {
			if got := tok.Decode(tok.Encode(text)); got != text {
				t.Errorf("%s: Decode(Encode(%q)) is %q", pre, text, got)
			}
		}
	}
}

// TestGGUFErrors checks that metadata that is wrong or unknown is an error.
func TestGGUFErrors(t *testing.T) {
	base := metadataOf(t, "smollm").with(entries{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"})
	for _, c := range []struct {
		more entries
		want error
		text string
	}{
		{entries{"tokenizer.ggml.pre": "gopher"}, tokenizer.ErrUnsupported, `tokenizer.ggml.pre is "gopher"`},
		{entries{"tokenizer.ggml.pre": ""}, tokenizer.ErrUnsupported, `tokenizer.ggml.pre is ""`},
		{entries{"tokenizer.ggml.model": "rwkv"}, tokenizer.ErrUnsupported, `tokenizer.ggml.model is "rwkv"`},
		{entries{"tokenizer.ggml.tokens": []string{}}, tokenizer.ErrFormat, "no tokenizer.ggml.tokens"},
		{entries{"tokenizer.ggml.tokens": 5}, tokenizer.ErrFormat, "tokenizer.ggml.tokens is a int"},
		{entries{"tokenizer.ggml.token_type": []int32{1}}, tokenizer.ErrFormat, "1 token types for"},
		{entries{"tokenizer.ggml.bos_token_id": uint32(1 << 30)}, tokenizer.ErrFormat, "tokenizer.ggml.bos_token_id is 1073741824"},
		{entries{"tokenizer.ggml.bos_token_id": int64(-7)}, tokenizer.ErrFormat, "tokenizer.ggml.bos_token_id is -7"},
		{entries{"tokenizer.ggml.add_bos_token": true}, tokenizer.ErrFormat, "bos_token_id"},
		{entries{"tokenizer.ggml.merges": []string{"a"}}, tokenizer.ErrFormat, `merge 0 is "a"`},
		{entries{"tokenizer.ggml.merges": []string{"a gopher"}}, tokenizer.ErrFormat, `"gopher"`},
		{entries{"tokenizer.ggml.model": "llama"}, tokenizer.ErrFormat, "0 scores"},
		{entries{"tokenizer.ggml.model": "bert"}, tokenizer.ErrFormat, "unknown_token_id"},
	} {
		_, err := tokenizer.FromGGUF(base.with(c.more))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, want %v with %q", c.more, err, c.want, c.text)
		}
	}
}
