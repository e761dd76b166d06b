package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// generated runs gopherwarp generate with a small model and returns what it prints.
func generated(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"generate"}, args...), terminal{&stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

func TestGenerate(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	out, errs, code := generated(t, "-model", path, "-max-tokens=5", "-seed=1", "-json", "-stats", "Hello")
	var answer struct {
		Text, Finish     string
		Prompt_tokens    int
		Generated_tokens int
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != exitOK {
		t.Fatalf("%v: exit code %d, %q, %q", err, code, out, errs)
	}
	if answer.Finish != "length" || answer.Generated_tokens != 5 || answer.Prompt_tokens != len("user: Hello")+3 || answer.Text == "" || !strings.Contains(errs, "answer: 5 tokens") {
		t.Errorf("got %+v, %q", answer, errs)
	}
	text, errs, code := generated(t, "-model", path, "-max-tokens=5", "-seed=1", "-stats", "Hello")
	if code != exitOK || !strings.HasSuffix(text, "\n") || !strings.Contains(errs, "answer: 5 tokens") {
		t.Errorf("exit code %d, %q, %q", code, text, errs)
	}
	const warning = ".gguf is 200 tokens, not the 201 of -context"
	for context, want := range map[string]bool{"-context=200": false, "-context=201": true} {
		if _, errs, code := generated(t, "-model", path, "-max-tokens=1", context, "Hello"); code != exitOK || strings.Contains(errs, warning) != want {
			t.Errorf("%s: exit code %d, %q", context, code, errs)
		}
	}
	if raw, _, _ := generated(t, "-model", path, "-max-tokens=5", "-seed=1", "-raw", "Hello"); raw == text {
		t.Errorf("with and without -raw: %q", raw)
	}
	if text, errs, _ := generated(t, "-model", path, "-pattern=[0-4]{6}x?", "Hello"); !regexp.MustCompile(`^[0-4]{6}x?\n$`).MatchString(text) {
		t.Errorf("with -pattern: %q, %q", text, errs)
	}
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, []byte(`{"enum": [[1, "b"], {"c": null}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, errs, _ := generated(t, "-model", path, "-schema", schema, "Hello"); !json.Valid([]byte(text)) || !strings.ContainsAny(text, "[{") {
		t.Errorf("with -schema: %q, %q", text, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"-model", path, "-top-p=2", "x"}, exitUsage, "-top-p"},
		{[]string{"-model", path, "-max-tokens=-1", "x"}, exitUsage, "-max-tokens"},
		{[]string{"-model", path + "x", "x"}, exitFailed, "no such file"},
		{[]string{"-model", path, strings.Repeat("x", 300)}, exitFailed, "it has 309 tokens, and the context 200"},
		{[]string{"-model", "../../examples/roman/roman.gguf", "-raw", ""}, exitFailed, "the prompt is empty"},
		{[]string{"-model", path, "-pattern=a(", "x"}, exitFailed, "missing closing )"},
		{[]string{"-model", path, "-pattern=a", "-schema=" + path, "x"}, exitUsage, "can't be used together"},
		{[]string{"-model", path, "-schema=" + path, "x"}, exitFailed, "not a JSON Schema"},
		{[]string{"x"}, exitUsage, "-model"},
	} {
		if _, errs, code := generated(t, c.args...); code != c.code || !strings.Contains(strings.Join(strings.Fields(errs), " "), c.text) {
			t.Errorf("%q: exit code %d, %q", c.args, code, errs)
		}
	}
}

// talk runs a conversation with a small model and returns what it prints. The file of the model may be changed.
func talk(t *testing.T, in io.Reader, o llamatest.Options, interrupts <-chan os.Signal) (string, error) {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	c := &chatCommand{modelFlags: modelFlags{modelSource: modelSource{Model: llamatest.Write(t, o)}, MaxTokens: 4, Seed: 1}}
	var out bytes.Buffer
	term := terminal{&out, io.Discard}
	dev, m, err := c.open(t.Context(), term)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	defer m.Close()
	s := &session{chatCommand: c, terminal: term, model: m, interrupts: interrupts, lines: newPipe(in, &out, interrupts), prompt: true}
	err = s.run(t.Context())
	return out.String(), err
}

func TestChat(t *testing.T) {
	out, err := talk(t, strings.NewReader("/help\n\n/nothing here\n/exit now\nHi\\\nthere\n/system Be brief.\nHi\n/clear\n/exit\nnever\n"), llamatest.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Random. /help lists commands.\n> ", "/clear          forget", "There is no command /nothing. /help lists them.\n", "/exit takes no argument.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the conversation lacks %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "> "); n < 9 {
		t.Errorf("%d prompts:\n%s", n, out)
	}
	if _, err := talk(t, strings.NewReader("Hi\n"), llamatest.Options{}, nil); err != nil {
		t.Errorf("input that ends: %v", err)
	}
}

func TestChatThatIsTooLong(t *testing.T) {
	out, err := talk(t, strings.NewReader(strings.Repeat("x", 300)+"\nHi\n"), llamatest.Options{}, nil)
	if err != nil || !strings.Contains(out, "longer than 200 tokens. /clear") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestChatWithoutTemplate(t *testing.T) {
	plain := llamatest.Options{Change: func(c *weights.Contents) { c.Metadata = c.Metadata[:len(c.Metadata)-1] }}
	if _, err := talk(t, strings.NewReader("Hi\n"), plain, nil); err == nil || !strings.Contains(err.Error(), "no chat template") {
		t.Errorf("got %v", err)
	}
}

func TestInterrupts(t *testing.T) {
	interrupts := make(chan os.Signal) // so that a send waits until it is received
	in, w := io.Pipe()
	go func() {
		defer w.Close()
		interrupts <- os.Interrupt // while the program waits for a line
		_, _ = io.WriteString(w, "Hi\n")
	}()
	out, err := talk(t, in, llamatest.Options{}, interrupts)
	if err != nil || !strings.Contains(out, "/exit or Ctrl-D leaves.") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestInterruptWhileLoading interrupts commands before the model is loaded, and while they wait for input. They end in silence.
func TestInterruptWhileLoading(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer func(f *os.File) { os.Stdin = f }(os.Stdin)
	os.Stdin = in
	path := llamatest.Write(t, llamatest.Options{})
	for _, args := range []string{"chat", "generate Hi", "generate", "perplexity chat.go", "perplexity -", "embed -pooling=last", "embed -pooling=last Hi"} {
		words := strings.Fields(args)
		var out bytes.Buffer
		if code := run(ctx, append([]string{words[0], "-model", path}, words[1:]...), terminal{&out, &out}); code != exitInterrupted || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q", args, code, out.String())
		}
	}
}

// TestInterrupted has errors of commands that an interrupt ended, and others.
func TestInterrupted(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := errors.New("stopped after step 3")
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code int
		text string
	}{
		{ended, nil, exitOK, ""},
		{ended, errors.Join(fmt.Errorf("model: %w", context.Canceled), nil), exitInterrupted, ""},
		{ended, exit{exitFailed, stopped}, exitInterrupted, "stopped after step 3\n"},
		{ended, exit{code: 7}, 7, ""},
		{ended, exit{exitUsage, stopped}, exitUsage, "stopped after step 3\n"},
		{ended, stopped, exitFailed, "stopped after step 3\n"},
		{t.Context(), context.Canceled, exitFailed, "context canceled\n"},
		{t.Context(), exit{exitFailed, stopped}, exitFailed, "stopped after step 3\n"},
	} {
		var out bytes.Buffer
		if got := code(interrupted(c.ctx, c.err), terminal{&out, &out}); got != c.code || out.String() != c.text {
			t.Errorf("%v: exit code %d, %q", c.err, got, out.String())
		}
	}
}

// TestRoman asks the model in the repository, as the README does.
func TestRoman(t *testing.T) {
	for prompt, want := range map[string]string{"1987": "MCMLXXXVII\n", "MCMLXXXVII": "1987\n"} {
		if out, errs, code := generated(t, "-model", "../../examples/roman/roman.gguf", prompt); code != exitOK || out != want {
			t.Errorf("%s: exit code %d, %q, %q", prompt, code, out, errs)
		}
	}
}
