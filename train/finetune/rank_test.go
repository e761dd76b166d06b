package finetune_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// meeting returns an address of this machine that no program uses.
func meeting(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no network: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// process is a process of a job.
type process struct {
	device *device.Device
	config finetune.Config
	job    finetune.Job
}

// train trains until f returns an error.
func (x process) train(ctx context.Context, f func(p finetune.Progress) error) error {
	tr, err := finetune.NewRank(ctx, x.device, x.config, x.job)
	if err != nil {
		return err
	}
	return errors.Join(tr.Run(ctx, f), tr.Close())
}

// trainRanks trains as all processes of a job, and returns the steps that each reports.
func trainRanks(t *testing.T, configs []finetune.Config, f func(rank int, p finetune.Progress) error) (steps [][]finetune.Progress, errs []error) {
	t.Helper()
	at := meeting(t)
	steps, errs = make([][]finetune.Progress, len(configs)), make([]error, len(configs))
	var all sync.WaitGroup
	for rank, c := range configs {
		dev := open(t)
		all.Go(func() {
			j := finetune.Job{Rank: rank, World: len(configs), Address: at, Secret: "secret"}
			errs[rank] = process{dev, c, j}.train(t.Context(), func(p finetune.Progress) error {
				steps[rank] = append(steps[rank], p)
				return f(rank, p)
			})
		})
	}
	all.Wait()
	return steps, errs
}

// TestRanks compares trainings by two processes with those on two devices of one process: all files have the same bits, also after an interruption of
// one process.
func TestRanks(t *testing.T) {
	devices := []*device.Device{open(t), open(t)}
	for name, change := range map[string]func(c *finetune.Config){
		"LoRA": func(c *finetune.Config) { c.Eval, c.Save = c.Data, 2 }, "dropout": func(c *finetune.Config) { c.Dropout, c.Batch = 0.1, 3 },
		"full": func(c *finetune.Config) {
			*c = finetune.Config{Model: c.Model, Data: c.Data, Out: c.Out, Method: "full", Rate: 1e-3, Epochs: 4, Steps: 4, Length: 24, Batch: 2, Save: 2}
		},
		"divided optimizer": func(c *finetune.Config) {
			*c = finetune.Config{Model: c.Model, Data: c.Data, Out: c.Out, Method: "full", Rate: 1e-3, Epochs: 4, Steps: 4, Length: 24, Batch: 2, Save: 2, Zero: 1, Optimizer: "adamw_8bit"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.Epochs, c.Steps = 2, 4
			change(&c)
			one := out(c, t)
			want, err := trainOn(t, devices, one, proceed)
			if err != nil {
				t.Fatal(err)
			}
			two := out(c, t)
			steps, errs := trainRanks(t, []finetune.Config{two, two}, func(int, finetune.Progress) error { return nil })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for rank, list := range steps {
				for i, p := range list {
					if w := want[i]; p.Loss != w.Loss || p.Norm != w.Norm || p.Tokens != w.Tokens {
						t.Errorf("rank %d, step %d: %+v, want %+v", rank, p.Step, p, w)
					}
				}
			}
			compare(t, two.Out, one.Out, 0)
			sameLosses(t, two.Out, one.Out)
		})
	}
}

// sameLosses compares the files of losses in two folders.
func sameLosses(t *testing.T, got, want string) {
	t.Helper()
	x, err := os.ReadFile(filepath.Join(got, "losses.csv"))
	y, failed := os.ReadFile(filepath.Join(want, "losses.csv"))
	if err := errors.Join(err, failed); err != nil || string(x) != string(y) {
		t.Errorf("losses %s, want %s, %v", x, y, err)
	}
}

// TestRankFails lets one of two processes fail, at the begin and during a training: the other has an error that says why.
func TestRankFails(t *testing.T) {
	good := out(config(t), t)
	bad, other := good, good
	bad.Model = filepath.Join(t.TempDir(), "missing")
	other.Seed = 7
	divided := good
	divided.Zero = 1
	reported := out(good, t) // where it leaves a checkpoint
	for name, x := range map[string]struct {
		configs []finetune.Config
		want    string
	}{
		"no model":              {[]finetune.Config{good, bad}, "rank 1: "},
		"another configuration": {[]finetune.Config{good, other}, "rank 1 begins with the training of "},
		"another division":      {[]finetune.Config{good, divided}, "rank 1 begins with the training of "},
		"a report":              {[]finetune.Config{reported, reported}, "rank 1 ended without leaving the job"},
	} {
		_, errs := trainRanks(t, x.configs, func(rank int, p finetune.Progress) error {
			if rank == 1 && p.Step == 2 {
				return errors.New("stop")
			}
			return nil
		})
		if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[0].Error(), x.want) {
			t.Errorf("%s: %v", name, errs)
		}
	}
	for name, j := range map[string]finetune.Job{
		"rank": {Rank: 2, World: 2, Address: "127.0.0.1:1"}, "secret": {World: 2, Address: "example.org:1"}, "address": {World: 2, Address: "127.0.0.1"},
	} {
		if _, err := finetune.NewRank(t.Context(), open(t), good, j); !errors.Is(err, finetune.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRanksKeepEarlier says that processes with different configurations remove no files of an earlier training.
func TestRanksKeepEarlier(t *testing.T) {
	c := out(tiny(t), t)
	c.Steps, c.Save, c.Batch = 2, 1, 2
	if _, err := train(t, open(t), c, proceed); err != nil {
		t.Fatal(err)
	}
	want := tree(t, c.Out)
	c.Overwrite = true
	other := c
	other.Rate *= 2
	_, errs := trainRanks(t, []finetune.Config{c, other}, func(int, finetune.Progress) error { return nil })
	if !errors.Is(errs[0], finetune.ErrConfig) || !strings.Contains(errs[0].Error(), "rank 1 begins with the training of ") {
		t.Errorf("got %v, want %v", errs, finetune.ErrConfig)
	}
	if !maps.Equal(tree(t, c.Out), want) {
		t.Error("files of the earlier training changed")
	}
}

// rankVariable is the environment variable with the Job of a child process.
const rankVariable = "GOPHERWARP_FINETUNE_RANK"

// gpuVariable is the environment variable that makes a child process use the GPU with the number of its rank.
const gpuVariable = "GOPHERWARP_FINETUNE_GPU"

// childOf returns the command of a child process of a job, which runs TestKillRank.
func childOf(t *testing.T, c finetune.Config, j finetune.Job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "TestKillRank", c)
	cmd.Env = append(cmd.Env, rankVariable+"="+string(text))
	return cmd
}

// TestKillRank kills one of two processes during a training: the other names it within ten seconds and ends, and both continue with the last checkpoint.
func TestKillRank(t *testing.T) {
	if c, ok := childConfig(t); ok {
		childRank(t, c)
		return
	}
	for _, zero := range []int{0, 1} {
		c := tiny(t)
		c.Batch, c.Steps, c.Save, c.Zero = 2, 24, 2, zero
		killRanks(t, c, []int{0, 1}[zero:])
	}
}

// killRanks kills each of some ranks of two.
func killRanks(t *testing.T, c finetune.Config, ranks []int) {
	t.Helper()
	want := out(c, t)
	if _, err := trainOn(t, []*device.Device{open(t), open(t)}, want, proceed); err != nil {
		t.Fatal(err)
	}
	c.Out, c.Resume = filepath.Join(t.TempDir(), "out"), true
	for _, lost := range ranks {
		j := finetune.Job{Rank: lost, World: 2, Address: meeting(t)}
		cmd := childOf(t, c, j)
		var killed time.Time
		done := make(chan struct{})
		go func() {
			killAfter(t, cmd, 3+8*lost, 0)
			killed = time.Now()
			close(done)
		}()
		j.Rank = 1 - lost
		err := process{open(t), c, j}.train(t.Context(), proceed)
		<-done
		if !errors.Is(err, finetune.ErrRank) || !strings.Contains(err.Error(), fmt.Sprintf("rank %d ended", lost)) || time.Since(killed) > 10*time.Second {
			t.Errorf("after %v: %v", time.Since(killed), err)
		}
	}
	if _, errs := trainRanks(t, []finetune.Config{c, c}, func(int, finetune.Progress) error { return nil }); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	for name, text := range files(t, want.Out) {
		if files(t, c.Out)[name] != text {
			t.Errorf("%s differs", name)
		}
	}
}

// childRank trains until it is killed, and prints a line for each step.
func childRank(t *testing.T, c finetune.Config) {
	t.Helper()
	var j finetune.Job
	if err := json.Unmarshal([]byte(os.Getenv(rankVariable)), &j); err != nil {
		t.Fatal(err)
	}
	dev, err := cpu.Open()
	if os.Getenv(gpuVariable) != "" {
		dev, err = cuda.Open(j.Rank)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = process{dev, c, j}.train(t.Context(), func(p finetune.Progress) error {
		_, err := fmt.Fprintln(os.Stdout, "step", p.Step)
		return err
	})
	if err := errors.Join(err, dev.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestStopRanks interrupts one of two processes: both end after the same step, and the checkpoint continues.
func TestStopRanks(t *testing.T) {
	c := tiny(t)
	c.Batch, c.Steps, c.Save, c.Out = 2, 8, 0, filepath.Join(t.TempDir(), "out")
	want := out(c, t)
	if _, err := trainOn(t, []*device.Device{open(t), open(t)}, want, proceed); err != nil {
		t.Fatal(err)
	}
	at, stop := meeting(t), errors.New("interrupted")
	var all sync.WaitGroup
	for rank := range 2 {
		dev := open(t)
		all.Go(func() {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			last := 0
			err := process{dev, c, finetune.Job{Rank: rank, World: 2, Address: at}}.train(ctx, func(p finetune.Progress) error {
				if last = p.Step; rank == 1 && p.Step == 3 {
					cancel(stop)
				}
				return nil
			})
			if want := []error{finetune.ErrStopped, stop}[rank]; !errors.Is(err, want) || last != 4 {
				t.Errorf("rank %d ends after step %d with %v", rank, last, err)
			}
		})
	}
	all.Wait()
	c.Resume = true
	steps, errs := trainRanks(t, []finetune.Config{c, c}, func(int, finetune.Progress) error { return nil })
	if err := errors.Join(errs...); err != nil || steps[0][0].Step != 5 {
		t.Fatalf("continues with %+v, %v", steps[0], err)
	}
	for name, text := range files(t, want.Out) {
		if files(t, c.Out)[name] != text {
			t.Errorf("%s differs", name)
		}
	}
}
