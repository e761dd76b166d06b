package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// TestFinetune trains an adapter with a configuration file, plots the losses, and uses, merges and exports the adapter.
func TestFinetune(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	folder := t.TempDir()
	model, out := llamatest.Write(t, llamatest.Options{}), filepath.Join(folder, "adapter")
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("train.jsonl", strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 8))
	write("config.yaml", "# small\nmodel: "+model+"\ndata: ["+in("train.jsonl")+"]\nrank: 2\nlr: 0.05\nlength: 8\nmodules: [q_proj, up_proj]\n")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"finetune", in("config.yaml"), "-out", out, "-steps=3", "-plot", in("losses.svg")}, "step 3 of 3  loss "},
		{[]string{"adapter", "info", out}, "modules: q_proj up_proj\n4 layers, "},
		{[]string{"adapter", "merge", "-model", model, "-out", in("merged.gguf"), out}, ""},
		{[]string{"adapter", "export", "-model", model, "-out", in("adapter.gguf"), out}, ""},
		{[]string{"generate", "-model", model, "-adapter", out, "-raw", "-max-tokens=2", "a"}, ""},
		{[]string{"generate", "-model", in("merged.gguf"), "-raw", "-max-tokens=2", "a"}, ""},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), x.args, terminal{&stdout, &stderr}); code != exitOK || !strings.Contains(stdout.String(), x.want) {
			t.Fatalf("%q: exit code %d, want %q in\n%s\n%s", x.args, code, x.want, &stdout, &stderr)
		}
	}
	if text, err := os.ReadFile(in("losses.svg")); err != nil || !strings.HasPrefix(string(text), "<svg ") || strings.Count(string(text), "<polyline") != 1 {
		t.Errorf("the plot is %q, %v", text, err)
	}
	f, err := formats.Open(in("adapter.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || len(f.Tensors) != 8 {
		t.Errorf("%d tensors are exported, %v", len(f.Tensors), err)
	}
}

func TestFinetuneErrors(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("ranks: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"finetune", config}, exitUsage, "field ranks not found"},
		{[]string{"finetune", config + "x"}, exitUsage, "no such file"},
		{[]string{"finetune", "-rank=2"}, exitFailed, "model, data and out are needed"},
		{[]string{"adapter", "info", t.TempDir()}, exitFailed, "adapter_config.json"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), x.args, terminal{io.Discard, &stderr}); code != x.code || !strings.Contains(stderr.String(), x.want) {
			t.Errorf("%q: exit code %d, want %d with %q:\n%s", x.args, code, x.code, x.want, &stderr)
		}
	}
}
