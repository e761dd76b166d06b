package finetune

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/weights"
)

// ErrCheckpoint is the error of a checkpoint that is corrupt, or that belongs to another training.
var ErrCheckpoint = errors.New("finetune: cannot continue from the checkpoint")

// The names of checkpoints in the folder Out, and of their files beside those of the adapter.
const (
	checkpointFolder = "checkpoints"
	stepPrefix       = "step-"
	stateFile        = "state.json"
	optimizerFile    = "optimizer.safetensors"
)

// state is the contents of a state.json. The random order of texts follows from the seed and the epoch.
type state struct {
	position
	Devices  int               `json:"devices,omitempty"` // their number, or 0 for one
	Training string            `json:"training"`          // identifies the data and the options that must not change
	Model    string            `json:"model,omitempty"`   // the fingerprint of the model that the training began with
	Rule     string            `json:"rule,omitempty"`    // the options of steps
	Files    map[string]string `json:"files"`             // the SHA-256 of each other file
	Sum      string            `json:"sum"`               // the SHA-256 of this file with an empty Sum
}

// encode returns the text of a state.json.
func (s state) encode() ([]byte, error) {
	s.Sum = ""
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	s.Sum = fmt.Sprintf("%x", sha256.Sum256(text))
	text, err = json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// readState reads the state.json of a checkpoint, and compares all files with their sums.
func readState(folder string) (s state, err error) {
	corrupt := func(name string, cause error) error {
		err := fmt.Errorf("%w: %s is corrupt; remove the folder to continue from the previous checkpoint", ErrCheckpoint, filepath.Join(folder, name))
		if cause != nil {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		return err
	}
	if s, err = parseState(filepath.Join(folder, stateFile)); err != nil {
		return s, corrupt(stateFile, err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if sum, err := sumOf(filepath.Join(folder, name)); err != nil || sum != s.Files[name] {
			return s, corrupt(name, err)
		}
	}
	return s, nil
}

// parseState reads a state.json, and compares it with its sum.
func parseState(name string) (s state, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	again, err := s.encode()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("its sum differs")
	}
	return s, err
}

// checkpoint writes a checkpoint. All processes call it.
func (t *Trainer) checkpoint(ctx context.Context) error {
	opt, err := t.learned(ctx)
	if err != nil {
		return err
	}
	return t.whole(ctx, func() error { return t.record(ctx, opt) })
}

// record writes all files of a checkpoint, with the given state of the optimizer, to a new folder, which it then renames. It removes the oldest.
func (t *Trainer) record(ctx context.Context, opt train.State) error {
	parent := filepath.Join(t.config.Out, checkpointFolder)
	final := filepath.Join(parent, fmt.Sprintf("%s%08d", stepPrefix, t.at.Step))
	if final == t.last {
		return nil
	}
	if _, err := os.Stat(final); err == nil {
		return fmt.Errorf("%w: %s is of another training, which writes to the same folder", ErrEarlier, final)
	}
	partial := filepath.Join(parent, "partial")
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := t.write(ctx, partial, opt); err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	if err := t.losses.sync(); err != nil {
		return err
	}
	if err := weights.Rename(partial, final); err != nil {
		return err
	}
	t.last = final
	return t.rotate()
}

// write writes the files of a checkpoint, the state last.
func (t *Trainer) write(ctx context.Context, folder string, opt train.State) error {
	if err := t.subject.keep(ctx, folder); err != nil {
		return err
	}
	if err := opt.SaveFile(filepath.Join(folder, optimizerFile)); err != nil {
		return err
	}
	text, err := t.summary(folder)
	if err != nil {
		return err
	}
	return weights.Save(filepath.Join(folder, stateFile), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// summary returns the text of the state.json for the other files of a checkpoint.
func (t *Trainer) summary(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	s := state{position: t.at, Training: t.training(), Model: t.base, Rule: t.config.rule(), Files: map[string]string{}}
	if n := t.world(); n > 1 {
		s.Devices = n
	}
	for _, e := range entries {
		if s.Files[e.Name()], err = sumOf(filepath.Join(folder, e.Name())); err != nil {
			return nil, err
		}
	}
	return s.encode()
}

// sumOf returns the SHA-256 of a file.
func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), errors.Join(err, f.Close())
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

// rotate removes the oldest checkpoints of this training.
func (t *Trainer) rotate() error {
	list, err := t.checkpoints()
	list = slices.DeleteFunc(list, func(folder string) bool {
		s, err := parseState(filepath.Join(folder, stateFile))
		return err != nil || t.continues(s, folder) != nil
	})
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
	s, err := readState(folder)
	switch {
	case err != nil:
		return "", err
	case max(s.Devices, 1) != t.world() && !t.config.Elastic:
		return "", fmt.Errorf("%w: %s belongs to a training on %d devices, not %d; with another number, which elastic allows, sums of derivatives differ in their last bits", ErrCheckpoint, folder, max(s.Devices, 1), t.world())
	case s.Step < 0 || s.Epoch < 0 || s.Pack < 0 || s.Tokens < 0 || s.Worse < 0 || s.Pack >= max(len(t.data.Packs(uint64(s.Epoch), t.config.Seed)), 1):
		return "", fmt.Errorf("%w: %s: the position %+v does not exist", ErrCheckpoint, folder, s.position)
	}
	if err := t.continues(s, folder); err != nil {
		return "", err
	}
	t.at, t.last = s.position, folder
	return folder, nil
}

// restore sets what the optimizer knows after some steps.
func (r *replica) restore(folder string, steps int) error {
	st, err := train.LoadState(filepath.Join(folder, optimizerFile))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	st.Steps = steps // which files of earlier versions do not have
	return tensor.RunOn(context.Background(), r.stream, func(s *tensor.Scope) error { return r.opt.Restore(s, st) })
}
