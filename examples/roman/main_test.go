package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
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
	for _, x := range asked {
		if slices.Contains(learned, x) {
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
