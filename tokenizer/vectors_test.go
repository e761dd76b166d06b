package tokenizer_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

var update = flag.Bool("update", false, "train the tokenizers in testdata/vectors again, and write the judge's IDs")

// small are the tokenizers in testdata/vectors.
var small = []string{"smollm", "bert", "unigram", "llama2", "xlm-roberta"}

// vector is what the tokenizers package gives for a text.
type vector struct {
	IDs     []int32
	Decoded string
}

// hard returns the texts of the vectors: one of each symbol, and lines.
func hard() []string {
	var list []string
	for _, s := range symbols {
		list = append(list, "x"+s+" "+s+"Y")
	}
	for _, l := range corpus(90, 11) {
		list = append(list, strings.ToValidUTF8(l, "\ufffd"))
	}
	return list
}

// TestVectors compares small tokenizers with the IDs that the tokenizers package
// gave for them.
func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	for _, name := range small {
		t.Run(name, func(t *testing.T) {
			tok := openSmall(t, name)
			vectors := readVectors(t, name)
			texts := readTexts(t)
			if len(vectors) < 200 || len(texts) != len(vectors) {
				t.Fatalf("there are %d vectors of %d texts", len(vectors), len(texts))
			}
			for i, v := range vectors {
				if ids := tok.Encode(texts[i]); !slices.Equal(ids, v.IDs) {
					t.Errorf("IDs of %q:\n got %v\nwant %v", texts[i], ids, v.IDs)
				}
				if s := lossy(tok.Decode(v.IDs)); s != v.Decoded {
					t.Errorf("text of the IDs of %q: %q, want %q", texts[i], s, v.Decoded)
				}
			}
		})
	}
}

// openSmall opens one of the small tokenizers.
func openSmall(t testing.TB, name string) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.Open(filepath.Join("testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// readTexts returns the texts of the vectors.
func readTexts(t testing.TB) []string {
	t.Helper()
	var texts []string
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", "texts.json"))
	if err == nil {
		err = json.Unmarshal(data, &texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func readVectors(t *testing.T, name string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	for line := range bytes.Lines(data) {
		var v vector
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// writeVectors has the judge train the tokenizers and encode the texts.
func writeVectors(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	writeJSON(t, filepath.Join(folder, "train.json"), corpus2(500))
	writeJSON(t, filepath.Join(folder, "texts.json"), hard())
	writeJSON(t, filepath.Join("testdata", "vectors", "texts.json"), hard())
	judge(t, "small", folder)
	for _, name := range small {
		judge(t, "encode", filepath.Join(folder, name))
		data, err := os.ReadFile(filepath.Join(folder, name, "tokenizer.json"))
		if err == nil {
			err = os.WriteFile(filepath.Join("testdata", "vectors", name+".json"), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := os.ReadFile(filepath.Join(folder, name, "encoded.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		for line := range bytes.Lines(encoded) {
			var v verdict
			err := json.Unmarshal(line, &v)
			if err == nil {
				err = enc.Encode(vector{v.IDs, v.Decoded})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join("testdata", "vectors", name+".jsonl"), out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
