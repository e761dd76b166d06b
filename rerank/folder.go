package rerank

import (
	"cmp"
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

// ErrModel is the error of a folder without a model for this package: files are missing or invalid, or the model is not a cross-encoder
// with one label. Errors of packages tokenizer and model/bert do not match ErrModel.
var ErrModel = errors.New("rerank: not a supported model")

// Supports reports whether a folder contains a model with a classification head, according to its config.json. Open refuses models
// with several labels.
func Supports(folder string) bool {
	found, err := formats.Resolve(folder)
	if err != nil {
		return false // Open returns the error
	}
	var f struct{ Architectures []string }
	err = readJSON(filepath.Join(found, "config.json"), &f)
	return err == nil && len(f.Architectures) > 0 && strings.HasSuffix(f.Architectures[0], "ForSequenceClassification")
}

// recipe is what the files of a folder say.
type recipe struct {
	folder  string
	sigmoid bool
	length  int // the largest number of tokens of a pair
	config  bert.Config
}

// configFile is what this package reads in a config.json, besides package bert.
type configFile struct {
	Architectures []string
	Old           string `json:"sbert_ce_default_activation_function"`
	New           struct {
		Activation string `json:"activation_fn"`
	} `json:"sentence_transformers"`
}

// recipeOf reads config.json and tokenizer_config.json.
func recipeOf(folder string) (r recipe, err error) {
	if r.folder, err = formats.Resolve(folder); err != nil {
		return r, fmt.Errorf("%w: %w", ErrModel, err)
	}
	text, err := os.ReadFile(filepath.Join(r.folder, "config.json"))
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrModel, err)
	}
	var f configFile
	if r.config, err = bert.ParseConfig(text); err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return r, fmt.Errorf("%w: config.json: %w", ErrModel, err)
	}
	switch {
	case r.config.Labels == 0:
		return r, fmt.Errorf("%w: config.json has the architectures %q; a cross-encoder with the model_type %s has %s", ErrModel, f.Architectures, r.config.Type, r.config.Classifier())
	case r.config.Labels > 1:
		return r, fmt.Errorf("%w: config.json has %d labels; a cross-encoder has one", ErrModel, r.config.Labels)
	}
	if err := r.activate(cmp.Or(f.New.Activation, f.Old)); err != nil {
		return r, err
	}
	return r, r.limit()
}

// activate reads config_sentence_transformers.json, which a folder need not have, and sets whether scores are sigmoids. The file may name
// the activation, which is otherwise that of config.json. The default and the names are those of sentence-transformers.
func (r *recipe) activate(name string) error {
	var f struct {
		Activation string `json:"activation_fn"`
	}
	if err := readJSON(filepath.Join(r.folder, "config_sentence_transformers.json"), &f); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name = cmp.Or(f.Activation, name)
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "", "Sigmoid":
		r.sigmoid = true
	case "Identity":
	default:
		return fmt.Errorf("%w: the configuration has the activation %s; Sigmoid and Identity are supported", ErrModel, name)
	}
	return nil
}

// limit sets the length to the smaller one of config.json and tokenizer_config.json, which a folder need not have.
func (r *recipe) limit() error {
	r.length = r.config.Positions
	var f struct {
		Length float64 `json:"model_max_length"` // transformers writes 1e30 if there is no limit
	}
	err := readJSON(filepath.Join(r.folder, "tokenizer_config.json"), &f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if f.Length >= 1 && f.Length < float64(r.length) {
		r.length = int(f.Length)
	}
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
