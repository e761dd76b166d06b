package finetune_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// interrupted trains up to a step, and then continues.
func interrupted(t *testing.T, c finetune.Config, after int) (rest []finetune.Progress) {
	t.Helper()
	dev, stop := open(t), errors.New("stop")
	c.Resume = true
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
	return rest
}

// TestFull trains all parameters of models in a GGUF file and in a folder. A training that was interrupted has the same result, which
// computes the last loss of Eval when it is loaded.
func TestFull(t *testing.T) {
	for name, model := range map[string]string{ // the first with moments of 8 bits
		"model.gguf":        llamatest.Write(t, llamatest.Options{Matrices: weights.F32, Of: func(string) weights.Type { return weights.F32 }}),
		"model.safetensors": llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen2ForCausalLM", Matrices: weights.F32}),
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.Model, c.Method, c.Rate, c.Eval, c.Save, c.TensorBoard = model, "full", 2e-3, c.Data, 4, filepath.Join(t.TempDir(), "logs")
			if name == "model.gguf" {
				c.Optimizer = "adamw_8bit"
			}
			list, err := train(t, open(t), c, proceed)
			if err != nil {
				t.Fatal(err)
			}
			last := list[len(list)-1]
			if !(last.Loss < 0.8*list[0].Loss) || !math.IsNaN(last.Accuracy) {
				t.Errorf("the first and the last step: %+v, %+v", list[0], last)
			}
			want, err := os.ReadFile(filepath.Join(c.Out, name))
			if err != nil {
				t.Fatal(err)
			}
			c.Out, c.TensorBoard = filepath.Join(t.TempDir(), "out"), ""
			interrupted(t, c, 5)
			if got, err := os.ReadFile(filepath.Join(c.Out, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the training that was interrupted has another result, %v", err)
			}
			sameTensors(t, c.Model, c.Out)
			c.Model, c.Out, c.Resume, c.Steps, c.Rate = c.Out, filepath.Join(t.TempDir(), "again"), false, 1, 1e-12
			again, err := train(t, open(t), c, proceed)
			if err != nil || math.Abs(again[0].Eval-last.Eval) > 1e-4 {
				t.Errorf("the loss of the result is %v, was %v: %v", again[0].Eval, last.Eval, err)
			}
		})
	}
}

// sameTensors compares names, types and shapes, and demands other values.
func sameTensors(t *testing.T, model, result string) {
	t.Helper()
	f, err := formats.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if strings.HasPrefix(f.Format, "GGUF") {
		result = filepath.Join(result, "model.gguf")
	}
	g, err := formats.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if len(f.Tensors) != len(g.Tensors) {
		t.Errorf("%d tensors, want %d", len(g.Tensors), len(f.Tensors))
	}
	for _, x := range f.Tensors {
		y, err := g.Tensor(x.Name())
		if err != nil {
			t.Error(err)
			continue
		}
		a, err := weights.Values[float32](x)
		b, other := weights.Values[float32](y)
		if err := errors.Join(err, other); err != nil || fmt.Sprint(x.Shape(), x.Type()) != fmt.Sprint(y.Shape(), y.Type()) {
			t.Errorf("%s: %v %v, want %v %v: %v", x.Name(), y.Type(), y.Shape(), x.Type(), x.Shape(), err)
		} else if fmt.Sprint(a) == fmt.Sprint(b) {
			t.Errorf("%s has not changed", x.Name())
		}
	}
}

// TestDPO trains with preferences, also after an interruption.
func TestDPO(t *testing.T) {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, `{"prompt": "%d+1=", "chosen": "%d", "rejected": "no"}`+"\n", i, i+1)
	}
	data := filepath.Join(t.TempDir(), "preferences.jsonl")
	if err := os.WriteFile(data, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Data, c.Eval, c.DPO, c.Beta, c.Length, c.Epochs, c.Dropout, c.Save = []string{data}, []string{data}, true, 0.5, 40, 8, 0.05, 4
	list, err := train(t, open(t), c, proceed)
	if err != nil {
		t.Fatal(err)
	}
	first, last := list[0], list[len(list)-1]
	if math.Abs(first.Loss-math.Ln2) > 1e-5 || !(last.Loss < 0.2) || last.Accuracy != 1 || !(last.Eval < 0.2) {
		t.Errorf("the first and the last step: %+v, %+v", first, last)
	}
	want := files(t, c.Out)
	c.Out = filepath.Join(t.TempDir(), "out")
	if interrupted(t, c, 5); !maps.Equal(files(t, c.Out), want) {
		t.Error("the training that was interrupted has other results")
	}
}
