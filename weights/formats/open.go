package formats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// magic is how GGUF files begin.
const magic = "GGUF"

// Open opens a file or a folder. In a folder, it opens the index *.safetensors.index.json, or else the only *.safetensors file, or else the
// only GGUF model. For a folder of the cache of Hugging Face, see Resolve. The errors are those of the packages gguf and safetensors. If a folder has no such file, or several, the error matches
// weights.ErrNotFound.
func Open(name string) (*weights.File, error) {
	name, err := Resolve(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if name, err = inFolder(name); err != nil {
			return nil, err
		}
	}
	isGGUF, err := hasMagic(name)
	switch {
	case err != nil:
		return nil, err
	case isGGUF:
		return gguf.Open(name)
	}
	return safetensors.Open(name)
}

// hasMagic reports whether a file begins as GGUF files do.
func hasMagic(name string) (bool, error) {
	s, err := weights.OpenSource(name)
	if err != nil {
		return false, err
	}
	var b [len(magic)]byte
	if s.Size() >= int64(len(b)) {
		_, err = s.ReadAt(b[:], 0)
	}
	return string(b[:]) == magic, errors.Join(err, s.Close())
}

// inFolder returns the name of the file to open in a folder.
func inFolder(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, pattern := range []string{"*.safetensors.index.json", "*.safetensors", "*-00001-of-*.gguf", "*.gguf"} {
		var found []string
		for _, e := range entries {
			if ok, err := filepath.Match(pattern, e.Name()); err == nil && ok && !e.IsDir() {
				found = append(found, e.Name())
			}
		}
		if len(found) > 1 {
			return "", fmt.Errorf("%w: a single model in %s, which has %s", weights.ErrNotFound, folder, strings.Join(found, ", "))
		}
		if len(found) == 1 {
			return filepath.Join(folder, found[0]), nil
		}
	}
	return "", fmt.Errorf("%w: a safetensors or GGUF file in %s", weights.ErrNotFound, folder)
}
