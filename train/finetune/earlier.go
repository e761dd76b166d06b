package finetune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
func (t *Trainer) vacant() error {
	c := t.config
	if c.Method == full && (same(c.Model, c.Out) || same(c.Model, filepath.Join(c.Out, "model.gguf"))) {
		return fmt.Errorf("%w: out is %s, where the result would replace the model; choose another folder", ErrConfig, c.Out)
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

// same reports whether two paths lead to the same file or folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, failed := os.Stat(b)
	return err == nil && failed == nil && os.SameFile(x, y)
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
