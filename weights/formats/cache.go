package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Resolve returns the folder with the files of a model. For a folder models--ORG--NAME of the cache of Hugging Face, $HF_HOME/hub, this is the
// snapshot that refs/main names, or else the only snapshot. If there is no such snapshot, the error matches weights.ErrNotFound. Resolve
// returns any other path unchanged.
func Resolve(path string) (string, error) {
	snapshots := filepath.Join(path, "snapshots")
	if info, err := os.Stat(snapshots); !inCache(path) || err != nil || !info.IsDir() {
		return path, nil
	}
	text, err := os.ReadFile(filepath.Join(path, "refs", "main"))
	if err == nil {
		hash := strings.TrimSpace(string(text))
		folder := filepath.Join(snapshots, hash)
		if info, err := os.Stat(folder); hash == "" || filepath.Base(hash) != hash || err != nil || !info.IsDir() {
			return "", fmt.Errorf("%w: the snapshot %q in %s, which refs/main names; download the model again", weights.ErrNotFound, hash, snapshots)
		}
		return folder, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	list, err := os.ReadDir(snapshots)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", fmt.Errorf("%w: a snapshot in %s; download the model again", weights.ErrNotFound, snapshots)
	case len(list) > 1:
		return "", fmt.Errorf("%w: refs/main in %s, which has %d snapshots; name one of the folders in %s", weights.ErrNotFound, path, len(list), snapshots)
	}
	return filepath.Join(snapshots, list[0].Name()), nil
}

// cached is how the names of folders of models begin in the cache of Hugging Face.
const cached = "models--"

// inCache reports whether a path is the folder of a model in the cache.
func inCache(path string) bool { return strings.HasPrefix(filepath.Base(clean(path)), cached) }

// Name returns the name of the model at a path: the name of the file or folder, without .gguf. If the path is a folder models--ORG--NAME of the
// cache of Hugging Face, or a snapshot in such a folder, the name is ORG/NAME.
func Name(path string) string {
	path = clean(path)
	if up := filepath.Dir(path); filepath.Base(up) == "snapshots" && inCache(filepath.Dir(up)) {
		path = filepath.Dir(up)
	}
	base := strings.TrimSuffix(filepath.Base(path), ".gguf")
	if id, ok := strings.CutPrefix(base, cached); ok {
		return strings.ReplaceAll(id, "--", "/")
	}
	return base
}

// clean returns an absolute path, if the working directory is known.
func clean(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return filepath.Clean(path)
}
