package embeddings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// ErrModel is the error of a folder without a model for this package: files are missing or invalid, or need a feature that is not
// supported. Errors of packages tokenizer and model/bert do not match ErrModel.
var ErrModel = errors.New("embeddings: not a supported model")

// Supports reports whether a folder contains a supported encoder, according to its config.json.
func Supports(folder string) bool {
	r, _ := recipeOf(folder) // Open returns the error
	text, err := os.ReadFile(filepath.Join(r.encoder, "config.json"))
	return err == nil && bert.Supports(text)
}

// recipe is what the files of sentence-transformers say.
type recipe struct {
	encoder string // the folder of the encoder
	method  bert.Method
	unit    bool
	length  int // the largest number of tokens of a text, or 0
	lower   bool
}

// recipeOf reads modules.json and the files that it names. Without it, a folder has an encoder, and vectors are means, as in
// sentence-transformers.
func recipeOf(folder string) (recipe, error) {
	r := recipe{encoder: folder, method: bert.Mean}
	found, err := formats.Resolve(folder)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrModel, err)
	}
	r.encoder, folder = found, found
	var modules []struct{ Type, Path string }
	if err := readJSON(filepath.Join(folder, "modules.json"), &modules); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	for _, m := range modules {
		if !filepath.IsLocal(m.Path) && m.Path != "" {
			return r, fmt.Errorf("%w: modules.json names the folder %q", ErrModel, m.Path)
		}
		at := filepath.Join(folder, m.Path)
		var err error
		switch kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; kind {
		case "Transformer":
			r.encoder = at
		case "Pooling":
			err = r.pool(filepath.Join(at, "config.json"))
		case "Normalize":
			r.unit = true
		default:
			err = fmt.Errorf("%w: modules.json has a module %s; only Transformer, Pooling and Normalize are supported", ErrModel, kind)
		}
		if err != nil {
			return r, err
		}
	}
	return r, r.limit()
}

// pool reads the config.json of a Pooling module. Its methods are flags or, in files of newer versions of sentence-transformers, a name or a
// list of names.
func (r *recipe) pool(name string) error {
	var f map[string]any
	if err := readJSON(name, &f); err != nil {
		return err
	}
	var found []string
	if mode, ok := f["pooling_mode"]; ok {
		list, several := mode.([]any)
		if !several {
			list = []any{mode}
		}
		for _, mode := range list {
			found = append(found, fmt.Sprint(mode))
		}
	} else {
		for key, value := range f {
			mode, ok := strings.CutPrefix(key, "pooling_mode_")
			if on, _ := value.(bool); on && ok {
				found = append(found, strings.TrimSuffix(strings.TrimSuffix(mode, "_tokens"), "_token"))
			}
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%w: %s has %d methods of pooling; one is supported", ErrModel, name, len(found))
	}
	var ok bool
	if r.method, ok = map[string]bert.Method{"mean": bert.Mean, "max": bert.Max, "cls": bert.First}[found[0]]; !ok {
		return fmt.Errorf("%w: %s has the method %s of pooling; mean, max and cls are supported", ErrModel, name, found[0])
	}
	return nil
}

// limit reads sentence_bert_config.json, which a folder need not have.
func (r *recipe) limit() error {
	var f struct {
		Length int  `json:"max_seq_length"`
		Lower  bool `json:"do_lower_case"`
	}
	err := readJSON(filepath.Join(r.encoder, "sentence_bert_config.json"), &f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.length, r.lower = f.Length, f.Lower
	return err
}

// readJSON reads a file.
func readJSON(name string, to any) error {
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, to)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	return nil
}
