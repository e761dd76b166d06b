package finetune_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
)

// longTexts returns a file of texts that fill packs of a length.
func longTexts(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 24 {
		fmt.Fprintf(&b, `{"text": "%d and %d: %s"}`+"\n", i, i+1, strings.Repeat("abc ", 10))
	}
	name := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPlan compares the memory of plans with what trainings take, which agree to within 5 %.
func TestPlan(t *testing.T) {
	dense := llamatest.Write(t, llamatest.Options{Matrices: weights.F32, Of: func(string) weights.Type { return weights.F32 }})
	data := longTexts(t)
	for device, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		for name, change := range map[string]func(c *finetune.Config){
			"QLoRA":        func(*finetune.Config) {},
			"LoRA":         func(c *finetune.Config) { c.Model, c.Batch, c.Length, c.Epochs, c.Steps = dense, 1, 100, 2, 0 },
			"DoRA":         func(c *finetune.Config) { c.DoRA, c.Dropout, c.Modules = true, 0.1, []string{"q_proj", "down_proj"} },
			"full":         func(c *finetune.Config) { c.Model, c.Method = dense, "full" },
			"full, 8 bits": func(c *finetune.Config) { c.Model, c.Method, c.Optimizer, c.Batch = dense, "full", "adamw_8bit", 4 },
			"full, MLPs":   func(c *finetune.Config) { c.Model, c.Method, c.Recompute = dense, "full", "mlp" },
			"LoRA, layers": func(c *finetune.Config) { c.Recompute = "layers" },
			"fp16":         func(c *finetune.Config) { c.Precision = "fp16" },
			"full, fp16":   func(c *finetune.Config) { c.Model, c.Method, c.Precision = dense, "full", "fp16" },
		} {
			t.Run(device+"/"+name, func(t *testing.T) {
				c := config(t)
				c.Data, c.Length, c.Epochs, c.Steps, c.Save = []string{data}, 190, 1, 2, 0
				change(&c)
				dev := kerneltest.Device(t, open)
				tr, err := finetune.New(dev, c)
				if err != nil {
					t.Fatal(err)
				}
				plan := tr.Plan()
				err = tr.Run(t.Context(), proceed)
				stats, failed := dev.MemoryStats()
				if err := errors.Join(err, failed, tr.Close()); err != nil {
					t.Fatal(err)
				}
				if off := float64(plan.Total)/float64(stats.Peak) - 1; math.Abs(off) > 0.05 {
					t.Errorf("the plan is %d bytes, the training took %d: %.1f %% off", plan.Total, stats.Peak, 100*off)
				}
				t.Logf("the plan is %d bytes, the training took %d\n%v", plan.Total, stats.Peak, plan)
			})
		}
	}
}

// TestRecompute trains with memory for less and less of the intermediate results: the plan fits the limit, the results have the same bits. Without
// enough memory, the error has changes that fit.
func TestRecompute(t *testing.T) {
	data := longTexts(t)
	for _, method := range []string{"lora", "full"} {
		var want map[string]string
		var last finetune.Plan
		seen := map[llama.Recompute]bool{}
		c := config(t)
		c.Data, c.Length, c.Epochs, c.Steps, c.Save, c.Method = []string{data}, 190, 1, 3, 0, method
		for limit := int64(0); ; limit = last.Total - last.Total/50 {
			dev := open(t)
			dev.SetMemoryLimit(limit)
			c.Out = filepath.Join(t.TempDir(), "out")
			tr, err := finetune.New(dev, c)
			if errors.Is(err, finetune.ErrMemory) {
				if len(seen) < 2 || !strings.Contains(err.Error(), "These fit: ") || !strings.Contains(err.Error(), "length ") {
					t.Errorf("after %d plans: %v", len(seen), err)
				}
				t.Log(err)
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			last = tr.Plan()
			seen[last.Recompute] = true
			if err := errors.Join(tr.Run(t.Context(), proceed), tr.Close()); err != nil {
				t.Fatal(err)
			}
			stats, err := dev.MemoryStats()
			if err != nil || limit > 0 && stats.Peak > limit {
				t.Errorf("%d bytes with a limit of %d, %v", stats.Peak, limit, err)
			}
			got := results(t, c.Out)
			if want == nil {
				want = got
			}
			for name, text := range got {
				if text != want[name] {
					t.Errorf("%s: %+v: %s differs", method, last.Recompute, name)
				}
			}
		}
	}
}

// results returns the contents of the files of a result.
func results(t *testing.T, folder string) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, name := range []string{"adapter_model.safetensors", "model.gguf", "losses.csv"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && name == "losses.csv" {
			t.Fatal(err)
		}
		list[name] = string(text)
	}
	return list
}

// TestPlanText prints a plan for narrow and wide terminals.
func TestPlanText(t *testing.T) {
	p := finetune.Plan{
		Weights: 16 << 30, Masters: 64 << 20, Gradients: 32 << 20, Optimizer: 128 << 20, Activations: 10 << 30, Workspace: 1 << 29, Total: 27<<30 + 1<<28,
		Room: 140 << 30, Layers: 32, Recompute: llama.Recompute{Layers: 3, MLPs: 29},
	}
	text := p.String()
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for _, want := range []string{"weights               16.00 GiB\n", "gradients              32.0 MiB\n", "computed again: 3 of 32 layers\n", "computed again: MLPs of 29 of 32 layers\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if p.Room = math.MaxInt64; strings.Contains(p.String(), "free") {
		t.Error(p)
	}
}
