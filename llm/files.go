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
)

// Files are the parts of a model as files have them, for programs that need others than Model has.
type Files struct {
	Weights   *weights.File // is closed by the caller
	Config    llama.Config  // of llama.LoadOptions
	Tokenizer *tokenizer.Tokenizer
	Template  *chat.Template // or nil
	Ends      []int32        // tokens that end a text, in ascending order
}

// OpenFiles opens the files of a model. The path and the errors are those of Open.
func OpenFiles(path string) (*Files, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	m := &Model{ends: map[int32]bool{}}
	config, err := m.describe(f, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &Files{Weights: f, Config: config, Tokenizer: m.tokenizer, Template: m.template, Ends: slices.Sorted(maps.Keys(m.ends))}, nil
}
