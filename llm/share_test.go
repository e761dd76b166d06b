package llm_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestSharedPrompt generates texts of prompts with the same beginning at once: it is computed once, and the texts are those that each
// prompt has alone.
func TestSharedPrompt(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	system := strings.Repeat("be kind and brief. ", 8)[:140] // two pages and a part
	var prompts []string
	var requests []llm.Request
	usage := make([]llm.Usage, 4)
	for i := range usage {
		prompts = append(prompts, system+strings.Repeat(string(rune('a'+i)), 3+i))
		requests = append(requests, llm.Request{MaxTokens: 8, Usage: &usage[i]})
	}
	m := open(t, path, llm.Options{Sequences: 4})
	m.Chunk(16) // rounded as steps of texts are, whatever is computed at once
	got, _ := texts(t, m, prompts, requests)
	known := 0
	for i, p := range prompts {
		alone := open(t, path, llm.Options{})
		alone.Chunk(16)
		if want, _ := text(t, alone, p, llm.Request{MaxTokens: 8}); got[i] != want {
			t.Errorf("text %d: got %q, want %q", i, got[i], want)
		}
		known += usage[i].Known
	}
	// A text that begins while the first one runs knows whole pages; one that begins later knows the rest of system, too.
	if low, high := 3*2*llama.PageTokens, 3*len(system); known < low || known > high {
		t.Errorf("%d tokens were known, want %d to %d", known, low, high)
	}
	if _, _ = text(t, m, prompts[0], llm.Request{MaxTokens: 1, Salt: "other", Usage: &usage[0]}); usage[0].Known != 0 {
		t.Errorf("with another salt, %d tokens were known", usage[0].Known)
	}
	if _, _ = text(t, m, prompts[0], llm.Request{MaxTokens: 1, Usage: &usage[0]}); usage[0].Known < 2*llama.PageTokens {
		t.Errorf("once more, %d tokens were known", usage[0].Known)
	}
}

// TestSeveralTexts generates several texts of one prompt, which are those of single requests with their seeds.
func TestSeveralTexts(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.F32})
	prompt := strings.Repeat("once upon a time ", 9)[:145]
	r := llm.Request{MaxTokens: 12, Temperature: 1, Seed: 40}
	for _, sequences := range []int{1, 2, 8} {
		m := open(t, path, llm.Options{Sequences: sequences})
		m.Chunk(16)
		var usage llm.Usage
		all := r
		all.N, all.Usage = 5, &usage
		got, ends := make([]string, all.N), 0
		for token, err := range m.Generate(t.Context(), prompt, all) {
			if err != nil {
				t.Fatal(err)
			}
			got[token.Choice] += token.Text
			if token.Finish != llm.Unfinished {
				ends++
			}
		}
		if ends != 5 || usage.Prompt != 145 || usage.Generated != 60 && usage.Generated < 30 {
			t.Errorf("%d at once: %d texts ended, %+v", sequences, ends, usage)
		}
		alone := open(t, path, llm.Options{})
		alone.Chunk(16)
		for i := range got {
			one := r
			one.Seed += uint64(i)
			if want, _ := text(t, alone, prompt, one); got[i] != want {
				t.Errorf("%d at once, text %d: got %q, want %q", sequences, i, got[i], want)
			}
		}
		s := settled(m)
		if want := int64(4 * 2 * llama.PageTokens); s.Known < want || s.Prompt != 5*145 {
			t.Errorf("%d at once: %d tokens of %d were known, want %d", sequences, s.Known, s.Prompt, want)
		}
		if s.Texts.Sum != 5 || s.Texts.Count() != 1 {
			t.Errorf("texts of a request: %+v", s.Texts)
		}
	}
}

// TestSharedMemory generates more texts of one long prompt than there is memory for without sharing, none of which is dropped.
func TestSharedMemory(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 6, Tokens: 1})
	prompt := strings.Repeat("z", 3*llama.PageTokens+1)
	for _, err := range m.Generate(t.Context(), prompt, llm.Request{N: 6, MaxTokens: 20}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if s := settled(m); s.Dropped > 0 {
		t.Errorf("%d texts were dropped: %+v", s.Dropped, s)
	}
}

// TestSeveralConstrained generates several texts of a grammar with memory for few of them: each is in the grammar, and has its own place in
// it when it is computed again.
func TestSeveralConstrained(t *testing.T) {
	g, err := grammar.Pattern(`[a-c]{70,90}(x|yz){3}`)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 6, Tokens: 1})
	got := make([]string, 6)
	r := llm.Request{N: len(got), Grammar: g, Temperature: 1.5, Seed: 7}
	for token, err := range m.Generate(t.Context(), strings.Repeat("p", 60), r) {
		if err != nil {
			t.Fatal(err)
		}
		got[token.Choice] += token.Text
	}
	for i, text := range got {
		if !g.Match(text) {
			t.Errorf("text %d is %q", i, text)
		}
	}
	if s := settled(m); s.Dropped == 0 {
		t.Errorf("no text was dropped: %+v", s)
	}
}
