package finetune_test

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
)

// TestParallelGPUs compares a training on two GPUs with one on the first. The losses agree to within 0.01: layers compute with bfloat16.
func TestParallelGPUs(t *testing.T) {
	var devices []*device.Device
	for i := range 2 {
		dev, err := cuda.Open(i)
		if err != nil {
			t.Skipf("the test needs two GPUs: %v", err)
		}
		t.Cleanup(func() {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
		devices = append(devices, dev)
	}
	for _, method := range []string{"lora", "full"} {
		c := config(t)
		if c.Method = method; method == "full" {
			c.Rate = 1e-3
		}
		alone, err := train(t, devices[0], out(c, t), proceed)
		if err != nil {
			t.Fatal(err)
		}
		both, err := trainOn(t, devices, out(c, t), proceed)
		if err != nil || len(both) != len(alone) {
			t.Fatalf("%s: %d steps on two GPUs, %d on one, %v", method, len(both), len(alone), err)
		}
		for i, p := range both {
			if math.Abs(p.Loss-alone[i].Loss) > 0.01*alone[i].Loss {
				t.Errorf("%s: step %d: loss %v, on one GPU %v", method, p.Step, p.Loss, alone[i].Loss)
			}
		}
	}
}
