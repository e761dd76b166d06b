package finetune_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// tree returns the contents of all files below a folder.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEarlier says that a training refuses the folder of an earlier one, whose files stay, unless Overwrite removes them at the start.
func TestEarlier(t *testing.T) {
	dev, c := open(t), tiny(t)
	c.Steps, c.Epochs, c.Save = 4, 4, 1
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	want := tree(t, c.Out)
	other := c
	other.Rate, other.Steps = c.Rate/100, 2
	refuse := func(c finetune.Config, is error, words ...string) {
		t.Helper()
		_, err := train(t, dev, c, proceed)
		if !errors.Is(err, is) || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
			t.Errorf("%v, want %v with %q", err, is, words)
		}
		if !maps.Equal(tree(t, c.Out), want) {
			t.Error("files of the earlier training changed")
		}
	}
	refuse(other, finetune.ErrEarlier, c.Out, "step-00000004", "choose another folder", "resume", "overwrite")
	both, invalid := other, other
	both.Resume, both.Overwrite = true, true
	refuse(both, finetune.ErrConfig, "overwrite")
	invalid.Overwrite, invalid.Length = true, 4
	refuse(invalid, text.ErrLong)

	alone := other
	alone.Out = filepath.Join(t.TempDir(), "out")
	for _, x := range []*finetune.Config{&alone, &other} {
		x.Overwrite = true
		if _, err := train(t, dev, *x, proceed); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(files(t, other.Out), files(t, alone.Out)) {
		t.Error("the result in a folder of an earlier training differs")
	}
	list, err := os.ReadDir(filepath.Join(other.Out, "checkpoints"))
	if err != nil || len(list) != 2 || list[1].Name() != "step-00000002" {
		t.Errorf("checkpoints %v, %v", list, err)
	}
	if err := os.RemoveAll(filepath.Join(other.Out, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	want, other.Overwrite = tree(t, c.Out), false
	refuse(other, finetune.ErrEarlier, "adapter_model.safetensors")
	other.Resume = true
	refuse(other, finetune.ErrEarlier, "adapter_model.safetensors")
}

// TestForeign says that a training does not remove or replace checkpoints that another training writes to its folder.
func TestForeign(t *testing.T) {
	dev, c := open(t), tiny(t)
	c.Steps, c.Epochs, c.Save = 4, 4, 1
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	other := c
	other.Seed, other.Out = c.Seed+1, filepath.Join(t.TempDir(), "out")
	parent := filepath.Join(other.Out, "checkpoints")
	_, err := train(t, dev, other, func(p finetune.Progress) error {
		if p.Step > 1 {
			return nil
		}
		return os.CopyFS(parent, os.DirFS(filepath.Join(c.Out, "checkpoints")))
	})
	if !errors.Is(err, finetune.ErrEarlier) || !strings.Contains(err.Error(), "step-00000003") {
		t.Errorf("%v, want %v", err, finetune.ErrEarlier)
	}
	for name, text := range tree(t, filepath.Join(c.Out, "checkpoints")) {
		got, err := os.ReadFile(filepath.Join(parent, filepath.Base(filepath.Dir(name)), filepath.Base(name)))
		if err != nil || string(got) != text {
			t.Errorf("%s differs, %v", name, err)
		}
	}
}

// TestAnother says that a training does not continue with another model of the same shapes or with other options of steps. It may have another number
// of steps, and checkpoints without these fields continue.
func TestAnother(t *testing.T) {
	dev, c := open(t), tiny(t)
	c.Steps, c.Epochs, c.Save, c.Keep = 2, 4, 1, 1
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	c.Resume = true
	another := filepath.Join(t.TempDir(), "another.gguf")
	data, err := os.ReadFile(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved.gguf")
	changed := slices.Clone(data)
	changed[len(changed)-40] ^= 1
	if err := errors.Join(os.WriteFile(another, changed, 0o600), os.WriteFile(moved, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(c *finetune.Config){
		"model ": func(c *finetune.Config) { c.Model = another }, "lr 0.1,": func(c *finetune.Config) { c.Rate = 0.1 },
		"decay 0.5,": func(c *finetune.Config) { c.Decay = 0.5 }, "schedule constant": func(c *finetune.Config) { c.Schedule = "constant" },
		"warmup 3": func(c *finetune.Config) { c.WarmUp = 3 }, "clip 7": func(c *finetune.Config) { c.Clip = 7 },
	}
	for text, change := range changes {
		x := c
		change(&x)
		if _, err := finetune.New(dev, x); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c.Model, c.Steps = moved, 4
	if rest, err := train(t, dev, c, proceed); err != nil || rest[0].Step != 3 {
		t.Errorf("more steps of a model at another path: %v", err)
	}
	withoutFields(t, filepath.Join(c.Out, "checkpoints", "step-00000004", "state.json"))
	c.Steps, c.Decay = 6, 0.5
	if rest, err := train(t, dev, c, proceed); err != nil || rest[0].Step != 5 {
		t.Errorf("from a checkpoint of an earlier version: %v", err)
	}
}

// withoutFields removes the fields from a state.json that earlier versions did not write.
func withoutFields(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^  "(model|rule)": .*\n`).ReplaceAll(text, nil)
	sum := regexp.MustCompile(`"sum": "[0-9a-f]*"`)
	empty := bytes.TrimSpace(sum.ReplaceAll(text, []byte(`"sum": ""`)))
	text = sum.ReplaceAll(text, fmt.Appendf(nil, `"sum": "%x"`, sha256.Sum256(empty)))
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOwnModel says that the training of all parameters does not replace its own model.
func TestOwnModel(t *testing.T) {
	dev, c := open(t), tiny(t)
	c.Method, c.Modules, c.Overwrite = "full", nil, true
	c.Out = t.TempDir()
	link := filepath.Join(c.Out, "model.gguf")
	if err := os.Symlink(c.Model, link); err != nil {
		t.Skip(err)
	}
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	for _, x := range [][2]string{{c.Model, c.Out}, {link, c.Out}, {folder, folder}} {
		c.Model, c.Out = x[0], x[1]
		if _, err := finetune.New(dev, c); !errors.Is(err, finetune.ErrConfig) || !strings.Contains(err.Error(), "replace the model") {
			t.Errorf("%q: %v", x, err)
		}
	}
}
