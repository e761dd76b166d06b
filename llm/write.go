package llm

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// WriteFolder writes a model in the format of Hugging Face to the folder dst: the weights f, as model.safetensors, and copies of those files of the
// model src that contain no weights. src is a path that Open accepts. dst must be a different folder.
func WriteFolder(dst, src string, f *weights.File) error {
	src, err := formats.Resolve(src)
	if err != nil {
		return err
	}
	if info, err := os.Stat(src); err == nil && !info.IsDir() {
		src = filepath.Dir(src)
	}
	if err := os.MkdirAll(dst, 0o777); err != nil {
		return err
	}
	if to, err := os.Stat(dst); err != nil {
		return err
	} else if from, err := os.Stat(src); err == nil && os.SameFile(from, to) {
		return fmt.Errorf("llm: %s is the folder of the model itself", dst)
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(src, e.Name())) // of what a link in the cache of Hugging Face refers to
		if err != nil || !info.Mode().IsRegular() || hasWeights(e.Name()) {
			continue
		}
		if err := copyFile(filepath.Join(dst, e.Name()), filepath.Join(src, e.Name())); err != nil {
			return err
		}
	}
	return safetensors.Save(filepath.Join(dst, "model.safetensors"), f)
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
