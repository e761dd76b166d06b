package finetune_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// trainOn trains on several devices until f returns an error.
func trainOn(t *testing.T, devices []*device.Device, c finetune.Config, f func(p finetune.Progress) error) (list []finetune.Progress, err error) {
	t.Helper()
	tr, err := finetune.New(devices[0], c, devices[1:]...)
	if err != nil {
		return nil, err
	}
	err = tr.Run(t.Context(), func(p finetune.Progress) error {
		list = append(list, p)
		return f(p)
	})
	return list, errors.Join(err, tr.Close())
}

// TestParallel compares trainings on two devices with those on one: the losses and the results agree to within 1e-4, a second training has the
// same bits, and so has one that is interrupted.
func TestParallel(t *testing.T) {
	devices := []*device.Device{open(t), open(t)}
	for name, change := range map[string]func(c *finetune.Config){
		"LoRA": func(*finetune.Config) {}, "dropout": func(c *finetune.Config) { c.Dropout, c.Batch = 0.1, 3 },
		"full": func(c *finetune.Config) {
			*c = finetune.Config{Model: c.Model, Data: c.Data, Out: c.Out, Method: "full", Rate: 1e-3, Epochs: 4, Steps: 4, Length: 24, Batch: 2, Save: 2}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.Epochs, c.Steps = 2, 4
			change(&c)
			one := out(c, t)
			alone, err := train(t, devices[0], one, proceed)
			if err != nil {
				t.Fatal(err)
			}
			two := out(c, t)
			both, err := trainOn(t, devices, two, proceed)
			if err != nil || len(both) != len(alone) {
				t.Fatalf("%d steps on two devices, %d on one, %v", len(both), len(alone), err)
			}
			for i, p := range both {
				if a := alone[i]; math.Abs(p.Loss-a.Loss) > 1e-4*a.Loss || math.Abs(p.Norm-a.Norm) > 1e-3*a.Norm || p.Tokens != a.Tokens {
					t.Errorf("step %d: loss %v, norm %v, %d tokens; on one device %v, %v, %d", p.Step, p.Loss, p.Norm, p.Tokens, a.Loss, a.Norm, a.Tokens)
				}
			}
			compare(t, two.Out, one.Out, 1e-4)
			again := out(c, t)
			stop := errors.New("stop")
			if _, err := trainOn(t, devices, again, func(p finetune.Progress) error {
				if p.Step == 3 {
					return stop
				}
				return nil
			}); !errors.Is(err, stop) {
				t.Fatal(err)
			}
			again.Resume = true
			if _, err := train(t, devices[0], again, proceed); !errors.Is(err, finetune.ErrCheckpoint) || !strings.Contains(err.Error(), "on 2 devices, not 1") {
				t.Errorf("resumed on one device: %v", err)
			}
			if rest, err := trainOn(t, devices, again, proceed); err != nil || rest[0].Step != 3 {
				t.Fatalf("resumed with %+v, %v", rest, err)
			}
			compare(t, again.Out, two.Out, 0)
		})
	}
}

// out returns c with a new folder for results.
func out(c finetune.Config, t *testing.T) finetune.Config {
	c.Out = filepath.Join(t.TempDir(), "out")
	return c
}

// compare compares the parameters of the last checkpoints in two folders, whose elements may differ by tolerance.
func compare(t *testing.T, got, want string, tolerance float64) {
	t.Helper()
	x, y := parameters(t, got), parameters(t, want)
	if len(x) == 0 || len(x) != len(y) {
		t.Fatalf("%d tensors and %d", len(x), len(y))
	}
	for name, values := range x {
		for i, v := range values {
			if math.Abs(float64(v-y[name][i])) > tolerance {
				t.Fatalf("%s: element %d is %v, want %v", name, i, v, y[name][i])
			}
		}
	}
}

// parameters returns the trained parameters of the last checkpoint in a folder.
func parameters(t *testing.T, out string) map[string][]float32 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(out, "checkpoints", "step-00000004", "[ap]*.safetensors"))
	if err != nil || len(names) != 1 {
		t.Fatalf("files %v, %v", names, err)
	}
	f, err := safetensors.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float32{}
	for _, x := range f.Tensors {
		if all[x.Name()], err = weights.Values[float32](x); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestElastic continues a training on two devices, with a divided optimizer, on one and on three: the losses agree to within 1e-4 with those of a
// training on one device.
func TestElastic(t *testing.T) {
	devices := []*device.Device{open(t), open(t), open(t)}
	c := config(t)
	c.Method, c.Rate, c.Batch, c.Epochs, c.Zero = "full", 1e-3, 3, 2, 1
	want, err := train(t, devices[0], out(c, t), proceed)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3} {
		c := out(c, t)
		stop := errors.New("stop")
		if _, err := trainOn(t, devices[:2], c, func(p finetune.Progress) error {
			if p.Step == 2 {
				return stop
			}
			return nil
		}); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		c.Resume, c.Elastic = true, true
		rest, err := trainOn(t, devices[:n], c, proceed)
		if err != nil || len(rest) != len(want)-2 {
			t.Fatalf("%d of %d steps on %d devices, %v", len(rest), len(want), n, err)
		}
		for i, p := range rest {
			if w := want[i+2]; p.Step != w.Step || math.Abs(p.Loss/w.Loss-1) > 1e-4 {
				t.Errorf("%d devices, step %d: loss %v, want %v in step %d", n, p.Step, p.Loss, w.Loss, w.Step)
			}
		}
	}
}

// TestDeviceFails closes one of three devices during a training, whose error names it.
func TestDeviceFails(t *testing.T) {
	for _, zero := range []int{0, 1} {
		closed, err := cpu.Open()
		if err != nil {
			t.Fatal(err)
		}
		devices := []*device.Device{open(t), closed, open(t)}
		c := config(t)
		c.Batch, c.Zero = 3, zero
		tr, err := finetune.New(devices[0], c, devices[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		err = tr.Run(t.Context(), func(p finetune.Progress) error {
			if p.Step == 2 {
				_ = closed.Close() // with an error: the training has memory on it
			}
			return nil
		})
		_ = tr.Close() // with an error: the device is closed
		failed, ok := errors.AsType[*finetune.DeviceError](err)
		if !ok || failed.Number != 1 || !errors.Is(err, finetune.ErrDevice) || !errors.Is(err, device.ErrClosed) {
			t.Errorf("zero %d: the training ends with %v", zero, err)
		}
	}
}

// TestTooFewPacks trains with fewer packs in a step than devices.
func TestTooFewPacks(t *testing.T) {
	c := config(t)
	c.Batch = 1
	if _, err := finetune.New(open(t), c, open(t)); !errors.Is(err, finetune.ErrConfig) || !strings.Contains(err.Error(), "batch is 1, less than 2") {
		t.Error(err)
	}
}
