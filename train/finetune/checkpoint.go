package finetune

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/train/text"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// ErrCheckpoint is the error of a checkpoint that is corrupt, or of another training.
var ErrCheckpoint = errors.New("finetune: cannot continue from the checkpoint")

// The names of checkpoints in the folder Out, and of their files beside those of the adapter.
const (
	checkpointFolder = "checkpoints"
	stepPrefix       = "step-"
	stateFile        = "state.json"
	optimizerFile    = "optimizer.safetensors"
	momentsTensor    = "moments"
)

// state is the contents of a state.json. The random order of texts follows from the seed and the epoch.
type state struct {
	position
	Training string `json:"training"` // identifies the data and the options that must not change
	Sum      string `json:"sum"`      // SHA-256 of the files of tensors
}

// training identifies what must not change when a training continues.
func (t *Trainer) training() string {
	c := t.config
	return fmt.Sprintf("data %s, seed %d, length %d, batch %d, rank %d, alpha %g", t.print, c.Seed, c.Length, c.Batch, c.Rank, c.Alpha)
}

// fingerprint returns a hash of texts.
func fingerprint(d *text.Data) string {
	h := sha256.New()
	for _, e := range d.Examples {
		// A hash's Write never fails.
		_ = binary.Write(h, binary.LittleEndian, int64(len(e.Tokens)))
		_ = binary.Write(h, binary.LittleEndian, e.Tokens)
		_ = binary.Write(h, binary.LittleEndian, e.Learned)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// checkpoint writes a checkpoint: all files to a new folder, which it then renames. It removes the oldest.
func (t *Trainer) checkpoint(ctx context.Context) error {
	parent := filepath.Join(t.config.Out, checkpointFolder)
	final := filepath.Join(parent, fmt.Sprintf("%s%08d", stepPrefix, t.at.Step))
	if _, err := os.Stat(final); err == nil {
		return nil // it is the one that the training continued from
	}
	partial := filepath.Join(parent, "partial")
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := t.write(ctx, partial); err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	if err := weights.Rename(partial, final); err != nil {
		return err
	}
	return t.rotate()
}

// write writes the files of a checkpoint, the state last.
func (t *Trainer) write(ctx context.Context, folder string) error {
	if err := t.adapter.Save(ctx, t.stream, folder); err != nil {
		return err
	}
	var opt train.State
	err := tensor.RunOn(ctx, t.stream, func(s *tensor.Scope) (err error) {
		opt, err = t.opt.State(s)
		return err
	})
	if err != nil {
		return err
	}
	if err := saveMoments(filepath.Join(folder, optimizerFile), opt.Moments); err != nil {
		return err
	}
	sum, err := sumOf(folder)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(state{t.at, t.training(), sum}, "", "  ")
	if err != nil {
		return err
	}
	return weights.Save(filepath.Join(folder, stateFile), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// saveMoments writes what an optimizer knows.
func saveMoments(name string, moments []float32) error {
	data, err := binary.Append(nil, binary.LittleEndian, moments)
	if err != nil {
		return err
	}
	x, err := weights.NewTensor(weights.Spec{Name: momentsTensor, Type: weights.F32, Shape: []int{len(moments)}}, bytes.NewReader(data))
	if err != nil {
		return err
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}})
	if err != nil {
		return err
	}
	return safetensors.Save(name, f)
}

// sumOf returns the SHA-256 of the files of tensors of a checkpoint.
func sumOf(folder string) (string, error) {
	h := sha256.New()
	for _, name := range []string{"adapter_model.safetensors", optimizerFile} {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// checkpoints returns the folders of checkpoints, the oldest first.
func (t *Trainer) checkpoints() (list []string, err error) {
	parent := filepath.Join(t.config.Out, checkpointFolder)
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries { // which are sorted
		if _, err := strconv.Atoi(strings.TrimPrefix(e.Name(), stepPrefix)); err == nil && strings.HasPrefix(e.Name(), stepPrefix) {
			list = append(list, filepath.Join(parent, e.Name()))
		}
	}
	return list, err
}

// rotate removes the oldest checkpoints.
func (t *Trainer) rotate() error {
	list, err := t.checkpoints()
	for _, old := range list[:max(len(list)-t.config.Keep, 0)] {
		err = errors.Join(err, os.RemoveAll(old))
	}
	return err
}

// lastCheckpoint returns the folder of the last checkpoint, and sets the position. It returns "" if there is none.
func (t *Trainer) lastCheckpoint() (string, error) {
	list, err := t.checkpoints()
	if err != nil || len(list) == 0 {
		return "", err
	}
	folder := list[len(list)-1]
	text, err := os.ReadFile(filepath.Join(folder, stateFile))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrCheckpoint, folder, err)
	}
	sum, err := sumOf(folder)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrCheckpoint, err)
	case sum != s.Sum:
		return "", fmt.Errorf("%w: %s: the files of tensors have changed since they were written", ErrCheckpoint, folder)
	case s.Training != t.training():
		return "", fmt.Errorf("%w: %s is of the training of %s, not of %s", ErrCheckpoint, folder, s.Training, t.training())
	case s.Step < 0 || s.Epoch < 0 || s.Pack < 0 || s.Tokens < 0 || s.Pack >= max(len(t.data.Packs(uint64(s.Epoch), t.config.Seed)), 1):
		return "", fmt.Errorf("%w: %s: the position %+v does not exist", ErrCheckpoint, folder, s.position)
	}
	t.at = s.position
	return folder, nil
}

// restore sets what the optimizer knows.
func (t *Trainer) restore(folder string) error {
	f, err := safetensors.Open(filepath.Join(folder, optimizerFile))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	defer f.Close()
	x, err := f.Tensor(momentsTensor)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	moments, err := weights.Values[float32](x)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return tensor.RunOn(context.Background(), t.stream, func(s *tensor.Scope) error {
		return t.opt.Restore(s, train.State{Steps: t.at.Step, Moments: moments})
	})
}
