package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestGrammar generates texts with random weights, which satisfy their grammars whatever the weights are: some at once, beside a text
// without a grammar, which is the same as alone.
func TestGrammar(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 4})
	free, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30})
	schema, err := grammar.Schema([]byte(`{"properties": {"n": {"type": "integer", "minimum": 7, "maximum": 4000}, "b": {"enum": [true, null, "xyz"]}}, "required": ["n", "b"], "additionalProperties": false, "type": "object"}`))
	if err != nil {
		t.Fatal(err)
	}
	digits, err := grammar.Pattern(`[0-9]{3}-(a|b){2,4}`)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			g := schema
			if i%2 == 0 {
				g = digits
			}
			r := llm.Request{Grammar: g, Temperature: 2, Seed: uint64(i)}
			got, last := text(t, m, fmt.Sprint("prompt ", i), r)
			if last.Finish != llm.Ended || !g.Match(got) || g == schema && !json.Valid([]byte(got)) {
				t.Errorf("text %d is %q and ends with %+v", i, got, last)
			}
			if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 30}); got != free {
				t.Errorf("without a grammar: %q, want %q", got, free)
			}
		})
	}
	wait.Wait()
}

// TestGrammarAhead generates texts with and without grammars at once on a device for which the engine works ahead of texts without one.
func TestGrammarAhead(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	digits, err := grammar.Pattern(`[0-9]{2,3}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, opener := range kerneltest.Executions() {
		if name != "interp" && name != "cuda" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, err := llm.Open(kerneltest.Device(t, opener), path, llm.Options{Sequences: 3})
			if err != nil {
				t.Fatal(err)
			}
			restricted := llm.Request{Grammar: digits, Temperature: 2, Seed: 4}
			prompts, requests := []string{"a", "b", "c", "d"}, []llm.Request{restricted, {MaxTokens: 8}, restricted, {MaxTokens: 3}}
			got, last := texts(t, m, prompts, requests)
			for i, r := range requests {
				if r.Grammar != nil && (!digits.Match(got[i]) || last[i].Finish != llm.Ended) {
					t.Errorf("text %d is %q and ends with %+v", i, got[i], last[i])
				}
				if last[i].Finish == llm.Unfinished {
					t.Errorf("text %d ends with %+v", i, last[i])
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGrammarLimited ends a text of a grammar before it is complete.
func TestGrammarLimited(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	long, err := grammar.Pattern(`a{900}`)
	if err != nil {
		t.Fatal(err)
	}
	got, last := text(t, m, "x", llm.Request{Grammar: long, MaxTokens: 5})
	if last.Finish != llm.Limited || got == "" || strings.Trim(got, "a") != "" {
		t.Errorf("five tokens of a{900} are %q, %+v", got, last)
	}
}
