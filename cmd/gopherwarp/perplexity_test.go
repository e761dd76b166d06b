package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

func TestPerplexity(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	path := llamatest.Write(t, llamatest.Options{Wide: true, Of: func(name string) weights.Type {
		if strings.HasSuffix(name, "attn_v.weight") {
			return weights.Q6_K
		}
		return weights.Q4_K
	}})
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	long, short, empty, binary := write("long", strings.Repeat("All happy families are alike. ", 10)), write("short", "Hi"), write("empty", ""), write("binary", "\xff\xfe")
	for _, c := range []struct {
		args []string
		code int
		out  string // a regular expression
		errs string
	}{
		{[]string{"-model", path, "-context=64", long}, exitOK, `^perplexity \d+\.\d{4} ± \d+\.\d{4} \(124 tokens in 4 chunks of 64\)\n$`, ""},
		{[]string{"-model", path, long}, exitOK, `\(99 tokens in 1 chunk of 200\)\n$`, ""},
		{[]string{"-model", path, short}, exitFailed, "^$", "short: llm: the text is too short: it has 2 tokens, fewer than a chunk of 200"},
		{[]string{"-model", path, "-context=300", long}, exitFailed, "^$", "300 tokens; the context has 200"},
		{[]string{"-model", path, "-context=2", long}, exitFailed, "^$", "2 tokens; a chunk has at least 4"},
		{[]string{"-model", path, empty}, exitFailed, "^$", "empty is empty"},
		{[]string{"-model", path, binary}, exitFailed, "^$", "binary is not a text in UTF-8"},
		{[]string{"-model", path, dir + "/none"}, exitFailed, "^$", "no such file"},
		{[]string{"-model", path, "-context=-1", long}, exitUsage, "^$", "-context must not be negative"},
		{[]string{"-model", path}, exitUsage, "^$", "file"},
		{[]string{long}, exitUsage, "^$", "-model"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"perplexity"}, c.args...), terminal{&out, &errs})
		text := strings.Join(strings.Fields(errs.String()), " ")
		if code != c.code || !regexp.MustCompile(c.out).MatchString(out.String()) || !strings.Contains(text, c.errs) {
			t.Errorf("%q: exit code %d, %q, %q", c.args, code, out.String(), text)
		}
	}
}

// TestPerplexityWithAdapter demands that an adapter changes the perplexity.
func TestPerplexityWithAdapter(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	args := []string{"perplexity", "-model", llamatest.Write(t, llamatest.Options{}), "perplexity.go"}
	var plain, adapted, errs bytes.Buffer
	codes := [...]int{run(t.Context(), args, terminal{&plain, &errs}), run(t.Context(), append(args, "-adapter", llamatest.WriteAdapter(t, 1)), terminal{&adapted, &errs})}
	if codes != [...]int{exitOK, exitOK} || !strings.HasPrefix(adapted.String(), "perplexity ") || adapted.String() == plain.String() {
		t.Errorf("exit codes %v, %q, with the adapter %q\n%s", codes, &plain, &adapted, &errs)
	}
}
