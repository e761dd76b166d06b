package finetune_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// twoGPUs opens the first two GPUs.
func twoGPUs(t *testing.T) (devices []*device.Device) {
	t.Helper()
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
	return devices
}

// TestParallelGPUs compares a training on two GPUs with one on the first. The losses agree to within 0.01: layers compute with bfloat16.
func TestParallelGPUs(t *testing.T) {
	devices := twoGPUs(t)
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

// TestRanksGPUs compares a training by two processes on two GPUs with one by a single process, which have the same bits. Then it kills a process: the
// other ends.
func TestRanksGPUs(t *testing.T) {
	devices := twoGPUs(t)
	c := tiny(t)
	c.Batch, c.Steps, c.Save = 2, 4, 2
	start := func(c finetune.Config) (list []*exec.Cmd, texts []*bytes.Buffer) {
		at := meeting(t)
		for rank := range 2 {
			cmd, text := childOf(t, c, finetune.Job{Rank: rank, World: 2, Address: at}), new(bytes.Buffer)
			cmd.Env = append(cmd.Env, gpuVariable+"=1")
			cmd.Stdout, cmd.Stderr = text, text
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			list, texts = append(list, cmd), append(texts, text)
		}
		return list, texts
	}
	for _, c.Zero = range []int{1, 0} {
		want := out(c, t)
		if _, err := trainOn(t, devices, want, proceed); err != nil {
			t.Fatal(err)
		}
		c.Out = filepath.Join(t.TempDir(), "out")
		list, texts := start(c)
		for rank, cmd := range list {
			if err := cmd.Wait(); err != nil {
				t.Fatalf("rank %d: %v: %s", rank, err, texts[rank])
			}
		}
		compare(t, c.Out, want.Out, 0)
		sameLosses(t, c.Out, want.Out)
	}

	c.Steps, c.Epochs, c.Out = 100000, 100000, filepath.Join(t.TempDir(), "out")
	list, texts := start(c)
	for i := 0; ; i++ {
		if list, _ := os.ReadDir(filepath.Join(c.Out, "checkpoints")); len(list) > 0 || i > 2000 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := list[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = list[1].Wait()
	err := list[0].Wait()
	t.Logf("%v after the end of rank 1", time.Since(killed))
	if err == nil || time.Since(killed) > 10*time.Second || !strings.Contains(texts[0].String(), "rank 1 ended without leaving the job") {
		t.Errorf("%v: %s", err, texts[0])
	}
}
