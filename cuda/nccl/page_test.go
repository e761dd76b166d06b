package nccl_test

import (
	"os"
	"strings"
	"testing"
)

// TestPage checks that all code on docs/libraries.md is in the examples of the packages.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range []string{"cublas", "cufft", "curand", "gonumblas", "nccl"} {
		text, err := os.ReadFile("../" + name + "/example_test.go")
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("the page has %d pieces of code", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(unindented(code.String()), unindented(block)) {
			t.Errorf("this code of the page is in no example:\n%s", block)
		}
	}
}

// unindented returns text without the white space at the start of its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
