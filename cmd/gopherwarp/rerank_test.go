package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/rerank"
)

// ranked returns the output of the command for the given standard input.
func ranked(t *testing.T, c rerankCommand, input string) (string, error) {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out strings.Builder
	dev, m, err := c.open(terminal{&out, io.Discard})
	if err != nil {
		return "", err
	}
	texts := readTexts(strings.NewReader(input), c.JSON)
	if len(c.Documents) > 0 {
		texts = arguments(c.Documents)
	}
	err = c.rank(t.Context(), terminal{&out, io.Discard}, m, texts)
	return out.String(), errors.Join(err, m.Close(), dev.Close())
}

// The order of arguments, of lines, and of JSON is the same.
func TestRerank(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{Seed: 5, Labels: 1})
	documents := []string{"the cat sat", "a dog", "red mat"}
	plain, err := ranked(t, rerankCommand{Model: folder, Query: "a red cat", Documents: documents}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := ranked(t, rerankCommand{Model: folder, Query: "a red cat"}, strings.Join(documents, "\n")+"\n")
	if err != nil || lines != plain || strings.Count(plain, "\n") != 3 {
		t.Errorf("lines give %q, %v; arguments %q", lines, err, plain)
	}
	objects, err := ranked(t, rerankCommand{Model: folder, Query: "a red cat", JSON: true}, `"the cat sat"`+"\n"+`{"id": 7, "text": "a dog"}`+"\n"+`{"text": "red mat"}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	last := 2.0
	for d := json.NewDecoder(strings.NewReader(objects)); d.More(); {
		var o struct {
			ID, Index int
			Text      string
			Score     float64
			Truncated bool
		}
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&again, "%.6f\t%d\t%s\n", o.Score, o.Index, o.Text)
		if (o.ID == 7) != (o.Index == 1) || o.Truncated || o.Score > last || o.Text != documents[o.Index] {
			t.Errorf("got %+v", o)
		}
		last = o.Score
	}
	if again.String() != plain {
		t.Errorf("JSON gives %q, arguments %q", objects, plain)
	}
}

func TestRerankMistakes(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{Labels: 1})
	if out, err := ranked(t, rerankCommand{Model: folder, Query: "a", JSON: true}, "\"a\"\n{\"id\": 1}\n"); err == nil || !strings.Contains(err.Error(), "line 2: the object has no text") || out != "" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := ranked(t, rerankCommand{Model: berttest.WriteFolder(t, berttest.Options{})}, ""); !errors.Is(err, rerank.ErrModel) || !strings.Contains(err.Error(), "BertForSequenceClassification") {
		t.Errorf("an embedding model: %v", err)
	}
	other := berttest.WriteFolder(t, berttest.Options{Labels: 1, Change: func(c map[string]any) { c["model_type"] = "deberta-v2" }})
	if err := (&rerankCommand{Model: other, Query: "a", Documents: []string{"b"}}).Run(context.Background(), terminal{io.Discard, io.Discard}); !errors.Is(err, bert.ErrArchitecture) {
		t.Errorf("another model: %v", err)
	}
}
