package finetune_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// open returns a device, which is closed when the test ends.
func open(t *testing.T) *device.Device {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if owners := dev.Owners(); len(owners) > 0 {
			t.Errorf("memory that was not freed: %v", owners)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// config returns a configuration with a small model and some texts.
func config(t *testing.T) finetune.Config {
	t.Helper()
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"prompt": "%d+1=", "completion": "%d"}`+"\n", i, i+1)
	}
	name := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return finetune.Config{
		Model: llamatest.Write(t, llamatest.Options{}), Data: []string{name}, Out: filepath.Join(t.TempDir(), "out"),
		Rank: 4, Rate: 0.02, Epochs: 3, Batch: 2, Length: 24, Seed: 1, Save: 2,
	}
}

// train trains until f returns an error, and returns what was reported.
func train(t *testing.T, dev *device.Device, c finetune.Config, f func(p finetune.Progress) error) (list []finetune.Progress, err error) {
	t.Helper()
	tr, err := finetune.New(dev, c)
	if err != nil {
		return nil, err
	}
	err = tr.Run(t.Context(), func(p finetune.Progress) error {
		list = append(list, p)
		return f(p)
	})
	return list, errors.Join(err, tr.Close())
}

// proceed is a report without effect.
func proceed(finetune.Progress) error { return nil }

// files returns the contents of the files of a training that does not depend on where and when it ran.
func files(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"adapter_model.safetensors", "losses.csv"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// TestResume stops a training after each number of steps, continues it, and compares all results with those of one that did not stop.
func TestResume(t *testing.T) {
	dev, c := open(t), config(t)
	whole, err := train(t, dev, c, proceed)
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, c.Out)
	if last := whole[len(whole)-1]; last.Step != len(whole) || last.Steps != last.Step || last.Loss > 0.8*whole[0].Loss {
		t.Errorf("first and last step: %+v, %+v", whole[0], last)
	}
	stop := errors.New("stop")
	for _, after := range []int{1, 3, len(whole) - 1} {
		c.Out, c.Resume = filepath.Join(t.TempDir(), "out"), true
		if _, err := train(t, dev, c, func(p finetune.Progress) error {
			if p.Step == after {
				return stop
			}
			return nil
		}); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		rest, err := train(t, dev, c, proceed)
		if err != nil {
			t.Fatal(err)
		}
		if first := after/c.Save*c.Save + 1; rest[0].Step != first {
			t.Errorf("stopped after step %d, continued with step %d, want %d", after, rest[0].Step, first)
		}
		for name, text := range files(t, c.Out) {
			if text != want[name] {
				t.Errorf("stopped after step %d: %s differs", after, name)
			}
		}
	}
	points, err := finetune.ReadLosses(filepath.Join(c.Out, "losses.csv"))
	if err != nil || len(points) != len(whole) || math.Abs(points[3].Loss-whole[3].Loss) > 1e-6 || !math.IsNaN(points[3].Eval) {
		t.Errorf("%d points of %d steps, %v", len(points), len(whole), err)
	}
}

// TestInterrupt ends the context: the training continues later.
func TestInterrupt(t *testing.T) {
	dev, c := open(t), config(t)
	c.Save, c.Eval = 0, c.Data
	tr, err := finetune.New(dev, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = tr.Run(ctx, func(p finetune.Progress) error {
		if p.Step == 2 {
			cancel()
		}
		return nil
	})
	if err := errors.Join(tr.Close()); err != nil {
		t.Error(err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want %v", err, context.Canceled)
	}
	c.Resume = true
	rest, err := train(t, dev, c, proceed)
	if err != nil || rest[0].Step != 3 {
		t.Fatalf("continued with step %d, %v", rest[0].Step, err)
	}
	if last := rest[len(rest)-1]; !(last.Eval > 0 && last.Eval < rest[0].Loss) || !math.IsNaN(rest[0].Eval) {
		t.Errorf("the loss of Eval after the last step is %v", last.Eval)
	}
}

// TestRotation says that two checkpoints are kept, and how corrupt ones and those of another training are refused.
func TestRotation(t *testing.T) {
	dev, c := open(t), config(t)
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	parent := filepath.Join(c.Out, "checkpoints")
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d checkpoints, %v", len(entries), err)
	}
	c.Resume = true
	if list, err := train(t, dev, c, proceed); err != nil || len(list) != 0 {
		t.Errorf("%d steps after the last one, %v", len(list), err)
	}
	other := c
	other.Seed = 2
	if _, err := finetune.New(dev, other); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), "seed 2") {
		t.Errorf("another seed: %v", err)
	}
	last := filepath.Join(parent, entries[1].Name())
	for _, name := range []string{"optimizer.safetensors", "adapter_model.safetensors", "state.json"} {
		path := filepath.Join(last, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for kind, bad := range map[string][]byte{"a byte": flipped(good), "an early end": good[:len(good)/2]} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := finetune.New(dev, c); err == nil || !strings.Contains(err.Error(), last) && !errors.Is(err, finetune.ErrCheckpoint) {
				t.Errorf("%s of %s: %v", kind, name, err)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// flipped returns a copy of data with another byte in the middle.
func flipped(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 0x55
	return data
}

func TestConfigErrors(t *testing.T) {
	dev := open(t)
	for _, x := range []struct {
		change func(c *finetune.Config)
		want   error
		text   string
	}{
		{func(c *finetune.Config) { c.Model, c.Out = "", "" }, finetune.ErrConfig, "are needed"},
		{func(c *finetune.Config) { c.Rank, c.Rate = -1, math.NaN() }, finetune.ErrConfig, "lr is NaN"},
		{func(c *finetune.Config) { c.Schedule = "step" }, finetune.ErrConfig, `"step"`},
		{func(c *finetune.Config) { c.Length = 201 }, finetune.ErrConfig, "201"},
		{func(c *finetune.Config) { c.Length = 4 }, text.ErrLong, "train.jsonl:1:"},
		{func(c *finetune.Config) { c.Modules = []string{"fc1"} }, lora.ErrModule, "fc1"},
	} {
		c := config(t)
		x.change(&c)
		if _, err := finetune.New(dev, c); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("got %v, want %q", err, x.text)
		}
	}
}
