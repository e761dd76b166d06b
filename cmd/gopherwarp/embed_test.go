package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// embedded returns the output of the command for the given standard input.
func embedded(t *testing.T, c embedCommand, input string) (string, error) {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out strings.Builder
	dev, m, err := c.openEmbeddings(t.Context(), terminal{&out, io.Discard})
	if err != nil {
		return "", err
	}
	texts := readTexts(strings.NewReader(input), c.JSON)
	if len(c.Texts) > 0 {
		texts = arguments(c.Texts)
	}
	err = c.embed(t.Context(), terminal{&out, io.Discard}, m, texts)
	return out.String(), errors.Join(err, m.Close(), dev.Close())
}

// The vectors of arguments, of lines, and of JSON are the same.
func TestEmbed(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{Pooling: "pooling_mode_mean_tokens"})
	plain, err := embedded(t, embedCommand{Model: folder, Texts: []string{"the cat sat", "a dog"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := embedded(t, embedCommand{Model: folder}, "the cat sat\na dog\n")
	if err != nil || lines != plain || strings.Count(plain, "\n") != 2 {
		t.Errorf("lines give %q, %v; arguments %q", lines, err, plain)
	}
	objects, err := embedded(t, embedCommand{Model: folder, JSON: true}, `"the cat sat"`+"\n"+`{"id": 7, "text": "a dog"}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	long, err := embedded(t, embedCommand{Model: folder, JSON: true}, strconv.Quote(strings.Repeat("red ", 40)))
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		ID        int
		Text      string
		Tokens    int
		Truncated bool
		Embedding []float32
	}
	var list []object
	for d := json.NewDecoder(strings.NewReader(objects + long)); d.More(); {
		var o object
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	var vectors strings.Builder
	out := bufio.NewWriter(&vectors)
	for _, o := range list[:2] {
		printVector(out, o.Embedding)
	}
	if err := out.Flush(); err != nil || vectors.String() != plain {
		t.Errorf("JSON gives %q, arguments %q", objects, plain)
	}
	if len(list) != 3 || list[1].ID != 7 || list[1].Text != "a dog" || list[1].Tokens != 4 || list[1].Truncated || !list[2].Truncated || list[2].Tokens != 24 {
		t.Errorf("got %+v", list)
	}
}

// A language model has vectors with -pooling.
func TestEmbedPooling(t *testing.T) {
	language := llamatest.Write(t, llamatest.Options{})
	last, err := embedded(t, embedCommand{Model: language, poolingFlag: poolingFlag{"last"}}, "the cat sat\n")
	if err != nil || len(strings.Fields(last)) != llamatest.Hidden {
		t.Fatalf("%v: %q", err, last)
	}
	if mean, err := embedded(t, embedCommand{Model: language, poolingFlag: poolingFlag{"mean"}}, "the cat sat\n"); err != nil || mean == last {
		t.Errorf("%v: the mean is %q", err, mean)
	}
}

// Lines before one that makes no sense are embedded.
func TestEmbedMistakes(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{})
	for input, want := range map[string]string{
		"\"a\"\n{\"id\": 1}\n": "line 2: the object has no text", "{\"text\": \"a\"}\n12\n": "line 2: neither a text nor an object",
	} {
		out, err := embedded(t, embedCommand{Model: folder, JSON: true}, input)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: %v, want %q; output %q", input, err, want, out)
		}
	}
	if _, err := embedded(t, embedCommand{Model: folder + "/nothing"}, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	language := llamatest.Write(t, llamatest.Options{})
	if _, err := embedded(t, embedCommand{Model: language}, ""); !errors.Is(err, embeddings.ErrModel) || !strings.Contains(err.Error(), "language models need -pooling") {
		t.Errorf("a language model without -pooling: %v", err)
	}
	other := berttest.WriteFolder(t, berttest.Options{Change: func(c map[string]any) { c["model_type"] = "llama" }})
	if err := (&embedCommand{Model: other, Texts: []string{"a"}}).Run(context.Background(), terminal{io.Discard, io.Discard}); !errors.Is(err, bert.ErrArchitecture) {
		t.Errorf("another model: %v", err)
	}
}
