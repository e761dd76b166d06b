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
