package llm

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// WriteFolder copies the files of a model in the format of Hugging Face to the folder to, except the weights. It writes f as the weights,
// in model.safetensors. The argument model is a path as for Open.
func WriteFolder(to, model string, f *weights.File) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	model, err := formats.Resolve(model)
	if err != nil {
		return err
	}
	if info, err := os.Stat(model); err == nil && !info.IsDir() {
		model = filepath.Dir(model)
	}
	entries, err := os.ReadDir(model)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(model, e.Name())) // of what a link in the cache of Hugging Face refers to
		if err != nil || !info.Mode().IsRegular() || hasWeights(e.Name()) {
			continue
		}
		if err := copyFile(filepath.Join(to, e.Name()), filepath.Join(model, e.Name())); err != nil {
			return err
		}
	}
	return safetensors.Save(filepath.Join(to, "model.safetensors"), f)
}

// hasWeights reports whether a file has weights, or an index of such files.
func hasWeights(name string) bool {
	return strings.Contains(name, ".safetensors") || slices.Contains([]string{".bin", ".gguf", ".h5", ".msgpack", ".onnx", ".ot", ".pt", ".pth"}, filepath.Ext(name))
}

// copyFile copies a file.
func copyFile(to, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return weights.Save(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
