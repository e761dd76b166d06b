package main

import (
	"strings"
	"testing"
)

// Texts of the command line may be empty and may have commas. Only without a prompt, or with "-", the prompt is standard input.
func TestTextsOfArguments(t *testing.T) {
	var c commands
	if _, err := newParser(&c).Parse([]string{"rerank", "-model=m", "q", "a, b", "", "c"}); err != nil || strings.Join(c.Rerank.Documents, "|") != "a, b||c" {
		t.Errorf("rerank: %v, %q", err, c.Rerank.Documents)
	}
	if _, err := newParser(&c).Parse([]string{"embed", "-model=m", ""}); err != nil || len(c.Embed.Texts) != 1 {
		t.Errorf("embed: %v, %q", err, c.Embed.Texts)
	}
	for _, test := range []struct{ args, want string }{{"", "in"}, {"|", ""}, {"|-", "in"}, {"|a", "a"}} {
		var c commands
		_, err := newParser(&c).Parse(append([]string{"generate", "-model=m"}, strings.Split(test.args, "|")[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Generate.prompt(strings.NewReader("in\n")); err != nil || got != test.want {
			t.Errorf("%q: %v, %q, want %q", test.args, err, got, test.want)
		}
	}
}
