package formats_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// save writes a file with a tensor of the given name, in the format of the file's suffix.
func save(t *testing.T, name, tensor string) {
	t.Helper()
	x, err := weights.NewTensor(weights.Spec{Name: tensor, Type: weights.U8, Shape: []int{3}}, strings.NewReader("abc"))
	write := safetensors.Save
	if filepath.Ext(name) == ".gguf" {
		x, err = weights.NewTensor(weights.Spec{Name: tensor, Type: weights.I8, Shape: []int{3}}, strings.NewReader("abc"))
		write = gguf.Save
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(name, f); err != nil {
		t.Fatal(err)
	}
}

// opens demands that a name opens a file with the given tensor.
func opens(t *testing.T, name, tensor string) {
	t.Helper()
	f, err := formats.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := f.Tensor(tensor)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := x.Bytes(); err != nil || !bytes.Equal(b, []byte("abc")) {
		t.Errorf("%s: %q, %v", name, b, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpen opens files by their contents, and folders in the order that Open documents.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	fails := func(name string, want error, text string) {
		t.Helper()
		if _, err := formats.Open(name); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %v with %q", name, err, want, text)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fails(path("none"), os.ErrNotExist, "none")
	fails(folder, weights.ErrNotFound, "a safetensors or GGUF file")
	write("pytorch_model.bin", "PK\x03\x04 a zip archive of pickles")
	fails(path("pytorch_model.bin"), weights.ErrPickle, "pytorch_model.bin")
	write("text", "hello")
	fails(path("text"), weights.ErrFormat, "text")
	write("empty", "")
	fails(path("empty"), weights.ErrFormat, "0 bytes")

	save(t, path("m.gguf"), "in gguf")
	opens(t, folder, "in gguf")
	if err := os.Link(path("m.gguf"), path("blob")); err != nil { // as in the cache of Hugging Face, without a suffix
		t.Fatal(err)
	}
	opens(t, path("blob"), "in gguf")
	save(t, path("n.gguf"), "in gguf")
	fails(folder, weights.ErrNotFound, "m.gguf, n.gguf")
	save(t, path("model.safetensors"), "in safetensors")
	opens(t, folder, "in safetensors")
	save(t, path("other.safetensors"), "other")
	fails(folder, weights.ErrNotFound, "model.safetensors, other.safetensors")
	write("model.safetensors.index.json", `{"weight_map":{"other":"other.safetensors"}}`)
	opens(t, folder, "other")
	opens(t, path("model.safetensors.index.json"), "other")
}
