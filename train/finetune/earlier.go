package finetune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// ErrEarlier is the error of a folder Out that has checkpoints or the result of an earlier training.
var ErrEarlier = errors.New("finetune: the folder has an earlier training")

// results returns the names of the files that the result of a training consists of, apart from the copies of files of the model.
func (c Config) results() []string {
	if c.Method == full {
		return []string{"model.gguf", "model.safetensors"}
	}
	return []string{"adapter_model.safetensors", "adapter_config.json"}
}

// vacant returns ErrEarlier if the training would lose or mix up files of an earlier one, and ErrConfig if it would overwrite its own model.
func (t *Trainer) vacant(model *weights.File) error {
	c := t.config
	var replaced []string
	switch {
	case c.Method != full:
	case strings.HasPrefix(model.Format, "GGUF"):
		replaced = []string{filepath.Join(c.Out, "model.gguf")}
	default:
		replaced = []string{c.Out, filepath.Join(c.Out, "model.safetensors")}
	}
	if slices.ContainsFunc(replaced, model.ReadsFrom) {
		return fmt.Errorf("%w: in the folder %s, the result would replace the model; choose another folder for out", ErrConfig, c.Out)
	}
	if c.Overwrite {
		return nil
	}
	list, err := t.checkpoints()
	if err != nil || c.Resume && len(list) > 0 {
		return err
	}
	found, again := list, ", or use resume to continue that training"
	if c.Resume {
		again = ""
	}
	// Without a checkpoint, a training with Patience that ended early may have a result and nevertheless begin again.
	for _, name := range c.results() {
		path := filepath.Join(c.Out, name)
		if _, err := os.Stat(path); err == nil && !(c.Resume && c.Patience > 0) {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s has %s; choose another folder for out, or use overwrite to remove that training%s", ErrEarlier, c.Out, strings.Join(found, ", "), again)
}

// clearOut removes the checkpoints, the losses and the result of an earlier training.
func (t *Trainer) clearOut() error {
	list, err := t.checkpoints()
	if err != nil {
		return err
	}
	list = append(list, t.losses.name)
	for _, name := range t.config.results() {
		list = append(list, filepath.Join(t.config.Out, name))
	}
	for _, name := range list {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}
