package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

func TestRoman(t *testing.T) {
	for n, want := range map[int]string{1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 90: "XC", 400: "CD", 1994: "MCMXCIV", 2026: "MMXXVI", 3888: "MMMDCCCLXXXVIII", 3999: "MMMCMXCIX"} {
		if got := roman(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	learned, asked := texts()
	if len(learned) != most-held || len(asked) != held {
		t.Errorf("%d and %d texts", len(learned), len(asked))
	}
	both, some := bothWays()
	if len(both)+len(some) != 2*most || len(some) < 2*held*9/10 {
		t.Errorf("%d and %d texts in both ways", len(both), len(some))
	}
	for _, x := range asked {
		if slices.Contains(learned, x) {
			t.Errorf("%v is learned and asked for", x)
		}
	}
	for _, x := range some {
		if slices.Contains(both, x) {
			t.Errorf("%v is learned and asked for", x)
		}
	}
	name := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := writeTexts(name, asked); err != nil {
		t.Fatal(err)
	}
	if again, err := readTexts(name); err != nil || !slices.Equal(again, asked) {
		t.Errorf("%d of %d texts are read as they were written, %v", len(again), len(asked), err)
	}
}

// TestRun trains a small model with random weights for two steps, and asks it.
func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	model := llamatest.Write(t, llamatest.Options{Change: func(c *weights.Contents) {
		for i := range c.Metadata {
			if c.Metadata[i].Key == "llama.context_length" {
				c.Metadata[i].Value = uint32(512)
			}
		}
	}})
	o := options{model: model, out: filepath.Join(t.TempDir(), "out"), epochs: 1, steps: 2}
	var w strings.Builder
	right, err := run(t.Context(), &w, o)
	if err != nil || right > 0.1 {
		t.Errorf("%v of the answers are right, %v", right, err)
	}
	for _, part := range []string{"step 2 of 2 ", "of 200 numerals that the model did not learn are right"} {
		if !strings.Contains(w.String(), part) {
			t.Errorf("the output lacks %q:\n%s", part, &w)
		}
	}
}

// TestNew trains a new model for two steps. It has the metadata and the tensors of the model in this folder.
func TestNew(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	o := options{fresh: true, out: filepath.Join(t.TempDir(), "out"), epochs: 1, steps: 2}
	if err := errors.Join(learn(t.Context(), io.Discard, dev, o), dev.Close()); err != nil {
		t.Fatal(err)
	}
	got, want := open(t, filepath.Join(o.out, "roman.gguf")), open(t, committed)
	if !reflect.DeepEqual(got.Metadata, want.Metadata) || len(got.Tensors) != len(want.Tensors) {
		t.Fatalf("the metadata are\n%v, not\n%v", got.Metadata, want.Metadata)
	}
	for i, x := range want.Tensors {
		y := got.Tensors[i]
		if x.Name() != y.Name() || x.Type() != y.Type() || !slices.Equal(x.Shape(), y.Shape()) {
			t.Errorf("tensor %d is %s %v %v, not %s %v %v", i, y.Name(), y.Type(), y.Shape(), x.Name(), x.Type(), x.Shape())
		}
	}
}

// committed is the model in this folder.
const committed = "roman.gguf"

// open opens a model's file.
func open(t *testing.T, name string) *weights.File {
	t.Helper()
	f, err := gguf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestModel demands that the model in this folder answers all questions that it did not learn, and that it is small.
func TestModel(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, committed, llm.Options{Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	learned, asked := bothWays()
	if sweep.Whole() {
		asked = append(asked, learned...)
	}
	var w strings.Builder
	if right, err := ask(t.Context(), &w, m, asked); err != nil || right != 1 {
		t.Errorf("%v: %s", err, &w)
	}
	answer := ""
	for token, err := range m.Chat(t.Context(), []chat.Message{{Role: "user", Content: "1987"}}, llm.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		answer += token.Text
	}
	if answer != "MCMLXXXVII" {
		t.Errorf("1987 is %q", answer)
	}
	if err := errors.Join(m.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(committed); err != nil || info.Size() > 256<<10 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
