package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestRun measures a small model.
func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out bytes.Buffer
	p := plan{model: llamatest.Write(t, llamatest.Options{}), users: []int{1, 3}, requests: 2, tokens: 5, words: 2}
	if err := run(t.Context(), &out, p); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(strings.TrimSpace(lines[2]), "1 ") || !strings.HasPrefix(strings.TrimSpace(lines[3]), "3 ") {
		t.Errorf("the table is\n%s", out.String())
	}
}

// TestPrompts checks that prompts have a common beginning of the words that they share, and no more.
func TestPrompts(t *testing.T) {
	for shared, want := range map[int]string{0: "", 2: "fox bear "} {
		l := load{plan: plan{words: 3, shared: shared}}
		a, b := l.prompt(1), l.prompt(2)
		if !strings.HasPrefix(a, want+"1 ") || !strings.HasPrefix(b, want+"2 ") || len(strings.Fields(a)) != shared+6+3 {
			t.Errorf("with %d shared words, prompts are %q and %q", shared, a, b)
		}
	}
}
