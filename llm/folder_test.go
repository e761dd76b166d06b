package llm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestCacheFolder generates text with a model in the cache of Hugging Face, in which files are links, and copies its files.
func TestCacheFolder(t *testing.T) {
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	path := filepath.Join(t.TempDir(), "models--org--Some-Model")
	refs, snapshot := filepath.Join(path, "refs"), filepath.Join(path, "snapshots", "0123abc")
	entries, err := os.ReadDir(folder)
	if err := errors.Join(err, os.MkdirAll(refs, 0o777), os.MkdirAll(snapshot, 0o777), os.WriteFile(filepath.Join(refs, "main"), []byte("0123abc"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(snapshot, e.Name())); err != nil {
			t.Skip(err)
		}
	}
	want, _ := text(t, open(t, folder, llm.Options{}), "Hello", llm.Request{MaxTokens: 10})
	m := open(t, path, llm.Options{})
	if got, _ := text(t, m, "Hello", llm.Request{MaxTokens: 10}); got != want || m.Name() != "org/Some-Model" {
		t.Errorf("%s: got %q, want %q", m.Name(), got, want)
	}
	f, err := llm.OpenFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := llm.WriteFolder(snapshot, path, f.Weights); err == nil || !strings.Contains(err.Error(), "the folder of the model itself") {
		t.Errorf("a copy to the same folder: %v", err)
	}
	if err := errors.Join(llm.WriteFolder(to, path, f.Weights), f.Weights.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := text(t, open(t, to, llm.Options{}), "Hello", llm.Request{MaxTokens: 10}); got != want {
		t.Errorf("a copy: got %q, want %q", got, want)
	}
	if err := os.Rename(snapshot, snapshot+"4"); err != nil {
		t.Fatal(err)
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := llm.Open(dev, path, llm.Options{}); !errors.Is(err, llm.ErrFiles) || !errors.Is(err, weights.ErrNotFound) {
		t.Errorf("without the snapshot of refs/main: %v", err)
	}
}
