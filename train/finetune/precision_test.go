package finetune_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestPrecision trains with activations of float16, which have scaled losses, and of bfloat16: the losses are those of float32 up to the roundings
// of the types. Derivatives of all parameters overflow float16 at first, so the first steps of the method full are skipped. A training with
// float16 that was interrupted has the same results.
func TestPrecision(t *testing.T) {
	dense := llamatest.Write(t, llamatest.Options{Matrices: weights.F32, Of: func(string) weights.Type { return weights.F32 }})
	for name, change := range map[string]func(c *finetune.Config){
		"quantized": func(*finetune.Config) {},
		"dense":     func(c *finetune.Config) { c.Model, c.DoRA = dense, true },
		"full":      func(c *finetune.Config) { c.Model, c.Method, c.Rate, c.Optimizer = dense, "full", 2e-3, "adamw_8bit" },
	} {
		t.Run(name, func(t *testing.T) {
			losses := map[string][]finetune.Progress{}
			c := config(t)
			change(&c)
			c.Eval, c.Epochs, c.Save = c.Data, 2, 0
			precisions := []string{"fp32", "fp16", "bf16"}
			if name != "full" { // bfloat16 takes long on CPUs
				precisions = precisions[:2]
			}
			for _, precision := range precisions {
				c.Precision, c.Out = precision, filepath.Join(t.TempDir(), "out")
				list, err := train(t, open(t), c, proceed)
				if err != nil {
					t.Fatal(err)
				}
				losses[precision] = list
			}
			for precision, tolerance := range map[string]float64{"fp16": 0.004, "bf16": 0.03} {
				for i, p := range losses[precision] { // none if it was not trained
					if want := losses["fp32"][i].Loss; p.Skipped == 0 && math.Abs(p.Loss/want-1) > tolerance {
						t.Errorf("%s: the loss of step %d is %g, want %g", precision, i+1, p.Loss, want)
					}
					if (p.Scale > 0) != (precision == "fp16") || i > 0 && p.Skipped > losses[precision][i-1].Skipped && math.IsNaN(p.Loss) {
						t.Errorf("%s: step %+v", precision, p)
					}
				}
				if list := losses[precision]; list != nil && !(list[len(list)-1].Eval < 0.8*list[0].Loss) {
					t.Errorf("%s: the last loss is %g, the first %g; %d steps skipped", precision, list[len(list)-1].Eval, list[0].Loss, list[len(list)-1].Skipped)
				}
			}
			if last := losses["fp16"][len(losses["fp16"])-1]; (name == "full") != (last.Skipped > 0) {
				t.Errorf("%d steps were skipped", last.Skipped)
			}
			c.Precision, c.Out, c.Save = "fp16", filepath.Join(t.TempDir(), "out"), 2
			rest := interrupted(t, c, 3)
			whole := losses["fp16"]
			if got, want := rest[len(rest)-1], whole[len(whole)-1]; got.Loss != want.Loss || got.Eval != want.Eval || got.Norm != want.Norm || got.Scale != want.Scale {
				t.Errorf("the last step of a training that was interrupted: %+v, want %+v", got, want)
			}
		})
	}
}

// TestPrecisionGPU is TestPrecision for float16 on a GPU.
func TestPrecisionGPU(t *testing.T) {
	dev := kerneltest.Device(t, kerneltest.Executions()["cuda"])
	for _, method := range []string{"lora", "full"} {
		var want []finetune.Progress
		for _, precision := range []string{"fp32", "fp16"} {
			c := config(t)
			c.Precision, c.Method, c.Eval = precision, method, c.Data
			if method == "full" {
				c.Rate = 2e-3
			}
			list, err := train(t, dev, c, proceed)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = list
			} else if got, want := list[len(list)-1], want[len(want)-1]; math.Abs(got.Eval/want.Eval-1) > 0.1*float64(1+got.Skipped) { // which learned less
				t.Errorf("%s: the last loss is %g, with float32 %g; %d steps skipped", method, got.Eval, want.Eval, got.Skipped)
			}
		}
	}
}
