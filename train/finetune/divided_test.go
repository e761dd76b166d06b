package finetune

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// zeroConfig returns a configuration for all parameters of a small model, without clipping.
func zeroConfig(t *testing.T, wide bool) Config {
	t.Helper()
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `{"prompt": "%d+1=", "completion": "%d"}`+"\n", i, i+1)
	}
	data := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	model := llamatest.Write(t, llamatest.Options{Matrices: weights.F32, Of: func(string) weights.Type { return weights.F32 }, Wide: wide})
	return Config{Model: model, Data: []string{data}, Method: full, Rate: 0.01, Epochs: 20, Steps: 20, Length: 24, Seed: 1, Save: 5, Clip: math.MaxFloat32}
}

// zeroDevices opens CPU devices.
func zeroDevices(t *testing.T, n int) (list []*device.Device) {
	t.Helper()
	for range n {
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
		list = append(list, dev)
	}
	return list
}

// errStop ends a training.
var errStop = errors.New("stop")

// zeroTraining is a training of TestZero.
type zeroTraining struct {
	Config
	bucket int  // bytes
	copies bool // between the devices, not through the host
	fail   int  // the number of the range, from 1, whose copies fail
	stop   int  // the step after which it ends
}

// run trains in a new folder, unless Config.Out is set, and returns the folder and the loss and norm of each step.
func (x zeroTraining) run(t *testing.T, devices []*device.Device) (out string, losses, norms []float64) {
	t.Helper()
	if x.Out == "" {
		x.Out = filepath.Join(t.TempDir(), "out")
	}
	tr, err := open(devices, x.Config, x.bucket)
	if err != nil {
		t.Fatal(err)
	}
	if x.copies {
		x.copy(t, tr, devices)
	}
	err = tr.Run(t.Context(), func(p Progress) error {
		losses, norms = append(losses, p.Loss), append(norms, p.Norm)
		if p.Step == x.stop {
			return errStop
		}
		return nil
	})
	if x.stop > 0 && errors.Is(err, errStop) || x.fail > 0 && errors.Is(err, errCopy) {
		err = nil
	}
	if err := errors.Join(err, tr.Close()); err != nil {
		t.Fatal(err)
	}
	return x.Out, losses, norms
}

// errCopy is the error of copies that fail.
var errCopy = errors.New("copies fail")

// copy makes a Trainer copy between the devices.
func (x zeroTraining) copy(t *testing.T, tr *Trainer, devices []*device.Device) {
	t.Helper()
	tr.sums.bucket = x.bucket
	for _, dev := range devices {
		s, err := dev.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		tr.sums.streams = append(tr.sums.streams, s)
	}
	if err := tr.sums.copy(tr.subject.Params().Activations()); err != nil {
		t.Fatal(err)
	}
	gather, times := tr.sums.gather, 0
	tr.sums.gather = func(list []*tensor.Tensor) (func(begin, end int) error, error) {
		move, err := gather(list)
		return func(begin, end int) error {
			if times++; times == x.fail {
				return errCopy
			}
			return move(begin, end)
		}, err
	}
}

// TestZeroFails ends trainings in which the copies of norms, or of some of the new parameters, fail.
func TestZeroFails(t *testing.T) {
	devices := zeroDevices(t, 2)
	c := zeroConfig(t, false)
	c.Zero = 1
	for _, fail := range []int{1, 2, 4} {
		if _, losses, _ := (zeroTraining{Config: c, bucket: 8 << 10, copies: true, fail: fail}).run(t, devices); len(losses) > 0 {
			t.Errorf("%d steps although copy %d failed", len(losses), fail)
		}
	}
}

// TestZero compares trainings whose optimizer is divided with those whose optimizer is not: without clipping, the losses, the parameters and the
// moments have the same bits. So have those of a training that continues after an interruption, with a divided optimizer or without.
// Only sweeps interrupt all trainings, others one in three.
func TestZero(t *testing.T) {
	for i, x := range []struct {
		name    string
		devices int
		bucket  int
		change  func(c *Config)
	}{
		{"2", 2, 8 << 10, func(c *Config) { c.Steps, c.Save = 8, 2 }},
		{"4", 4, 8 << 10, func(c *Config) { c.Steps, c.Save = 8, 2 }},
		{"LoRA on 4", 4, bucketBytes, func(c *Config) { c.Method, c.Rank, c.DoRA = "lora", 4, true; c.Steps, c.Save = 6, 3 }},
		{"little on 6", 6, 8 << 10, func(c *Config) {
			c.Method, c.Rank, c.Modules, c.Optimizer, c.Steps, c.Save = "lora", 1, []string{"q_proj"}, eightBit, 4, 2
		}},
		{"8 bits on 2", 2, 8 << 10, func(c *Config) { c.Optimizer, c.Steps, c.Save, c.Rate = eightBit, 6, 3, 1e-3 }},
		{"bfloat16 on 2", 2, 8 << 10, func(c *Config) { c.Precision, c.Length, c.Steps, c.Save = "bf16", 12, 3, 1 }},
		{"float16 on 2", 2, 8 << 10, func(c *Config) { c.Precision, c.Length, c.Steps, c.Save = "fp16", 12, 3, 1 }},
	} {
		t.Run(x.name, func(t *testing.T) {
			devices := zeroDevices(t, x.devices)
			c := zeroConfig(t, false)
			x.change(&c)
			want, losses, _ := zeroTraining{Config: c, bucket: x.bucket}.run(t, devices)
			check := func(name, out string, got []float64) {
				t.Helper()
				if rest := losses[len(losses)-len(got):]; fmt.Sprint(got) != fmt.Sprint(rest) {
					t.Errorf("%s: losses %v, want %v", name, got, rest)
				}
				sameCheckpoints(t, name, out, want)
			}
			c.Zero = 1
			zero := zeroTraining{Config: c, bucket: x.bucket}
			out, got, _ := zero.run(t, devices)
			check("divided", out, got)
			if x.devices == 2 { // copies add up the derivatives of more devices in another order
				zero.copies = true
				out, got, _ = zero.run(t, devices)
				check("with copies", out, got)
			}
			if !sweep.Every(3, i) {
				return
			}
			zero.copies, zero.stop = false, c.Steps/2+1
			interrupted, _, _ := zero.run(t, devices)
			zero.Resume, zero.stop = true, 0
			for _, stage := range []int{1, 0}[:1+x.devices%4/2] {
				zero.Zero, zero.Out = stage, filepath.Join(t.TempDir(), "out")
				if err := os.CopyFS(zero.Out, os.DirFS(interrupted)); err != nil {
					t.Fatal(err)
				}
				out, got, _ = zero.run(t, devices)
				check(fmt.Sprintf("continued with zero %d", stage), out, got)
			}
		})
	}
}

// TestZeroGPU is like TestZero on the first two GPUs or, if there is only one, on two devices for the first GPU.
func TestZeroGPU(t *testing.T) {
	var devices []*device.Device
	for i := range 2 {
		dev, err := cuda.Open(i)
		if err != nil && i > 0 {
			dev, err = cuda.Open(0)
		}
		if err != nil {
			t.Skipf("no GPU: %v", err)
		}
		defer dev.Close()
		devices = append(devices, dev)
	}
	for name, change := range map[string]func(c *Config){
		"full": func(*Config) {}, "8 bits": func(c *Config) { c.Optimizer, c.Rate = eightBit, 1e-3 }, "float32": func(c *Config) { c.Precision = "fp32" },
		"LoRA": func(c *Config) { c.Method, c.DoRA = "lora", true }, "float16": func(c *Config) { c.Precision = "fp16" },
	} {
		t.Run(name, func(t *testing.T) {
			c := zeroConfig(t, false)
			change(&c)
			x := zeroTraining{Config: c, bucket: 8 << 10}
			want, losses, _ := x.run(t, devices)
			x.Zero = 1
			got, divided, _ := x.run(t, devices)
			if fmt.Sprint(divided) != fmt.Sprint(losses) {
				t.Errorf("losses %v, want %v", divided, losses)
			}
			sameCheckpoints(t, name, got, want)
			x.stop = 12
			x.Out, _, _ = x.run(t, devices)
			x.Resume, x.stop = true, 0
			got, _, _ = x.run(t, devices)
			sameCheckpoints(t, name+", continued", got, want)
		})
	}
}

// sameCheckpoints compares the files of tensors in the last checkpoints of two trainings.
func sameCheckpoints(t *testing.T, name, got, want string) {
	t.Helper()
	last := func(out string) (list []string) {
		folders, err := filepath.Glob(filepath.Join(out, checkpointFolder, stepPrefix+"*"))
		if err != nil || len(folders) == 0 {
			t.Fatalf("no checkpoints: %v", err)
		}
		list, err = filepath.Glob(filepath.Join(folders[len(folders)-1], "*.safetensors"))
		if err != nil || len(list) != 2 {
			t.Fatalf("files %v, %v", list, err)
		}
		return list
	}
	x, y := last(got), last(want)
	for i := range x {
		a, err := os.ReadFile(x[i])
		b, failed := os.ReadFile(y[i])
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("%s: %s differs", name, filepath.Base(x[i]))
		}
	}
}

// TestZeroClip clips derivatives by the norm of those of all processes. The norm is another sum than without division, so results agree to within 1e-5.
func TestZeroClip(t *testing.T) {
	devices := zeroDevices(t, 4)
	c := zeroConfig(t, false)
	c.Clip = 0.2
	_, losses, norms := zeroTraining{Config: c, bucket: 8 << 10}.run(t, devices)
	c.Zero = 1
	_, got, gotNorms := zeroTraining{Config: c, bucket: 8 << 10}.run(t, devices)
	for i, want := range losses {
		if math.Abs(got[i]/want-1) > 1e-5 || math.Abs(gotNorms[i]/norms[i]-1) > 1e-4 {
			t.Errorf("step %d: loss %v, norm %v, want %v, %v", i+1, got[i], gotNorms[i], want, norms[i])
		}
	}
	if norms[0] < c.Clip || norms[len(norms)-1] < c.Clip {
		t.Errorf("the norms %v are not clipped", norms)
	}
}

// TestZeroMemory compares the memory of divided optimizers with that of whole ones: the state of each is its share. Plans hold to within 5 %.
func TestZeroMemory(t *testing.T) {
	for _, x := range []struct {
		precision, optimizer string
		devices              int
	}{{"fp32", "adamw", 2}, {"fp32", "adamw", 4}, {"bf16", "adamw", 2}, {"fp32", eightBit, 4}} {
		t.Run(fmt.Sprintf("%s %s on %d", x.precision, x.optimizer, x.devices), func(t *testing.T) {
			c := zeroConfig(t, x.optimizer == eightBit)
			c.Precision, c.Optimizer, c.Steps, c.Save = x.precision, x.optimizer, 2, 0
			states := map[int]int64{}
			for _, c.Zero = range []int{0, 1} {
				devices := zeroDevices(t, x.devices)
				c.Out = filepath.Join(t.TempDir(), "out")
				tr, err := open(devices, c, bucketBytes)
				if err != nil {
					t.Fatal(err)
				}
				p := tr.Plan()
				states[c.Zero] = p.Optimizer
				if x.precision == "bf16" {
					states[c.Zero] += p.Masters
				}
				err = tr.Run(t.Context(), func(Progress) error { return nil })
				if err := errors.Join(err, tr.Close()); err != nil {
					t.Fatal(err)
				}
				var most int64 // the device with the longest pack needs
				for _, dev := range devices {
					stats, err := dev.MemoryStats()
					if err != nil {
						t.Fatal(err)
					}
					most = max(most, stats.Peak)
				}
				if math.Abs(float64(p.Total)/float64(most)-1) > 0.05 {
					t.Errorf("%+v, zero %d: the plan is %d bytes, the training needed %d", x, c.Zero, p.Total, most)
				}
			}
			if share := float64(states[1]) / float64(states[0]); math.Abs(share*float64(x.devices)-1) > 0.05 {
				t.Errorf("%+v: the state takes %d bytes of %d, which is %.3f", x, states[1], states[0], share)
			}
			t.Logf("%+v: %d bytes, divided %d", x, states[0], states[1])
		})
	}
}
