package llm

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// Files are the parts of a model, read from its files.
type Files struct {
	Name      string        // the name of the model; may be empty
	Weights   *weights.File // the caller closes it
	Config    llama.Config  // for llama.LoadOptions
	Tokenizer *tokenizer.Tokenizer
	Template  *chat.Template // or nil
	Ends      []int32        // tokens that end a text, in ascending order
}

// OpenFiles opens the files of a model. See Open for the path and the errors.
func OpenFiles(path string) (*Files, error) {
	f, err := openFile(path)
	if err == nil {
		path, err = formats.Resolve(path)
	}
	if err != nil {
		return nil, err
	}
	d := description{ends: map[int32]bool{}}
	config, err := d.read(f, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &Files{Name: d.name, Weights: f, Config: config, Tokenizer: d.tokenizer, Template: d.template, Ends: slices.Sorted(maps.Keys(d.ends))}, nil
}
