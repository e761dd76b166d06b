package finetune_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
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

// sums returns a file of n texts.
func sums(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"prompt": "%d+1=", "completion": "%d"}`+"\n", i, i+1)
	}
	name := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// config returns a configuration with a small model and some texts.
func config(t *testing.T) finetune.Config {
	t.Helper()
	return finetune.Config{
		Model: llamatest.Write(t, llamatest.Options{}), Data: []string{sums(t, 12)}, Out: filepath.Join(t.TempDir(), "out"),
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

// TestForms trains adapters of all forms, which continue after an interruption with the same bits.
func TestForms(t *testing.T) {
	dev := open(t)
	stop := errors.New("stop")
	for name, change := range map[string]func(c *finetune.Config){
		"dropout": func(c *finetune.Config) { c.Dropout = 0.1 }, "DoRA": func(c *finetune.Config) { c.DoRA, c.Dropout = true, 0.1 },
		"rslora": func(c *finetune.Config) { c.RankStabilized, c.Schedule, c.WarmUp = true, "linear", 3 },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			change(&c)
			whole, err := train(t, dev, c, proceed)
			if err != nil {
				t.Fatal(err)
			}
			if first, last := whole[0], whole[len(whole)-1]; !(last.Loss < 0.8*first.Loss) {
				t.Errorf("the loss is %g, then %g", first.Loss, last.Loss)
			}
			want := files(t, c.Out)
			c.Out, c.Resume = filepath.Join(t.TempDir(), "out"), true
			if _, err := train(t, dev, c, func(p finetune.Progress) error {
				if p.Step == 5 {
					return stop
				}
				return nil
			}); !errors.Is(err, stop) {
				t.Fatal(err)
			}
			if _, err := train(t, dev, c, proceed); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(files(t, c.Out), want) {
				t.Error("the training that was interrupted has other results")
			}
			o, err := lora.ReadOptions(c.Out)
			if err != nil || o.Dropout != c.Dropout || o.DoRA != c.DoRA || o.RankStabilized != c.RankStabilized {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}

// TestPatience ends a training whose evaluation gets worse, also if it was interrupted. The result is the adapter of the checkpoint with the least loss.
func TestPatience(t *testing.T) {
	dev, c := open(t), config(t)
	other := filepath.Join(t.TempDir(), "eval.jsonl")
	if err := os.WriteFile(other, []byte(`{"prompt": "a", "completion": "zzzzzzzzzz"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Eval, c.Epochs, c.Save, c.Patience, c.Keep = []string{other}, 10, 1, 3, 100
	list, err := train(t, dev, c, proceed)
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	for i, p := range list {
		if p.Eval < list[best].Eval {
			best = i
		}
	}
	if last := list[len(list)-1]; last.Step == last.Steps || len(list) != best+1+c.Patience {
		t.Fatalf("the least loss is that of step %d; the last step is %d of %d", best+1, last.Step, last.Steps)
	}
	want := files(t, c.Out)
	saved, err := os.ReadFile(filepath.Join(c.Out, "checkpoints", fmt.Sprintf("step-%08d", best+1), "adapter_model.safetensors"))
	if err != nil || string(saved) != want["adapter_model.safetensors"] {
		t.Errorf("the result is not that of step %d: %v", best+1, err)
	}
	c.Out, c.Resume = filepath.Join(t.TempDir(), "out"), true
	stop := errors.New("stop")
	if _, err := train(t, dev, c, func(p finetune.Progress) error {
		if p.Step == best+2 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if rest, err := train(t, dev, c, proceed); err != nil || len(rest) != 2 || !maps.Equal(files(t, c.Out), want) {
		t.Errorf("continued with %d steps, want 2, or with other results: %v", len(rest), err)
	}
	if rest, err := train(t, dev, c, proceed); err != nil || len(rest) != 0 {
		t.Errorf("continued with %d steps after the end, %v", len(rest), err)
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
	other.Optimizer = "adamw_8bit"
	if _, err := finetune.New(dev, other); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), "adamw_8bit") {
		t.Errorf("another optimizer: %v", err)
	}
	other = c
	other.Seed = 2
	if _, err := finetune.New(dev, other); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), "seed 2") {
		t.Errorf("another seed: %v", err)
	}
	last := filepath.Join(parent, entries[1].Name())
	names, err := os.ReadDir(last)
	if err != nil || len(names) != 4 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		corrupt(t, filepath.Join(last, name.Name()), func() error {
			tr, err := finetune.New(dev, c)
			if err == nil {
				err = tr.Close()
			}
			return err
		})
	}
}

// corrupt changes one of 64 ranges of bytes of a file each time, or every fourth unless it runs in a sweep, and cuts the file: resume must return an error that names it.
func corrupt(t *testing.T, name string, resume func() error) {
	t.Helper()
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{good[:len(good)/2], good[:len(good)-1], append(slices.Clone(good), ' '), {}}
	for i, size := 0, (len(good)+63)/64; i < len(good); i += size {
		x := slices.Clone(good)
		for j := range x[i:min(i+size, len(x))] {
			x[i+j] ^= 0x55
		}
		bad = append(bad, x)
	}
	for i, x := range bad {
		if i >= 4 && !sweep.Every(4, i) {
			continue
		}
		if err := os.WriteFile(name, x, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := resume(); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), name) {
			t.Errorf("change %d of %s: %v", i, name, err)
		}
	}
	if err := os.WriteFile(name, good, 0o600); err != nil {
		t.Fatal(err)
	}
}

// long is the number of steps of TestLong.
var long = flag.Int("long", 40, "the steps of TestLong")

// TestLong trains twice with the same seed: the losses are the same, and the memory in use does not grow.
func TestLong(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(name, func(t *testing.T) {
			dev, c := kerneltest.Device(t, open), tiny(t)
			c.Steps, c.Epochs, c.Save = *long, *long, max(*long/10, 1)
			var want map[string]string
			for range 2 {
				c.Out = filepath.Join(t.TempDir(), "out")
				trainFlat(t, dev, c)
				got := files(t, c.Out)
				if want == nil {
					want = got
				}
				if !maps.Equal(got, want) {
					t.Error("two trainings with the same seed differ")
				}
			}
			if owners := dev.Owners(); len(owners) > 0 {
				t.Errorf("memory that was not freed: %v", owners)
			}
		})
	}
}

// trainFlat trains, and compares the memory in use after a quarter of the steps and at the end.
func trainFlat(t *testing.T, dev *device.Device, c finetune.Config) {
	t.Helper()
	var first, last memory
	tr, err := finetune.New(dev, c)
	if err != nil {
		t.Fatal(err)
	}
	err = tr.Run(t.Context(), func(p finetune.Progress) (err error) {
		switch p.Step {
		case c.Steps / 4:
			first, err = memoryOf(dev)
		case c.Steps:
			last, err = memoryOf(dev)
		}
		return err
	})
	if err := errors.Join(err, tr.Close()); err != nil {
		t.Fatal(err)
	}
	if t.Logf("after a quarter of the steps %+v, at the end %+v", first, last); first.MemoryStats != last.MemoryStats || last.heap > first.heap+1<<18 {
		t.Errorf("memory after a quarter of the steps and at the end: %+v, %+v", first, last)
	}
}

// memory is the memory of a device, and the bytes of live objects of Go.
type memory struct {
	device.MemoryStats
	heap uint64
}

// memoryOf returns the memory in use.
func memoryOf(dev *device.Device) (m memory, err error) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.heap = stats.HeapAlloc
	m.MemoryStats, err = dev.MemoryStats()
	return m, err
}

func TestConfigErrors(t *testing.T) {
	dev := open(t)
	for _, x := range []struct {
		change func(c *finetune.Config)
		want   error
		text   string
	}{
		{func(c *finetune.Config) { c.Model, c.Out = "", "" }, finetune.ErrConfig, "out is needed"},
		{func(c *finetune.Config) { c.Rank, c.Rate = -1, math.NaN() }, finetune.ErrConfig, "lr is NaN"},
		{func(c *finetune.Config) { c.Schedule = "step" }, finetune.ErrConfig, `"step"`},
		{func(c *finetune.Config) { c.Optimizer = "lion" }, finetune.ErrConfig, `"lion"`},
		{func(c *finetune.Config) { c.Zero = 2 }, finetune.ErrConfig, "zero is 2"},
		{func(c *finetune.Config) { c.Dropout = 1 }, finetune.ErrConfig, "dropout is 1"},
		{func(c *finetune.Config) { c.Patience = 2 }, finetune.ErrConfig, "patience needs eval"},
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

// TestNoClip says that derivatives are not clipped with a negative Clip.
func TestNoClip(t *testing.T) {
	dev, results := open(t), map[float64]map[string]string{}
	for _, clip := range []float64{-1, 1e30, 0, 1} {
		c := tiny(t)
		c.Steps, c.Clip = 2, clip
		if _, err := train(t, dev, c, proceed); err != nil {
			t.Fatal(err)
		}
		results[clip] = files(t, c.Out)
	}
	if !maps.Equal(results[-1], results[1e30]) || !maps.Equal(results[0], results[1]) || maps.Equal(results[-1], results[1]) {
		t.Error("a negative Clip is not like a great one, or a Clip of 0 is not like 1")
	}
}
