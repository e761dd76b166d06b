package finetune_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// childVariable is the environment variable with the configuration of a child process.
const childVariable = "GOPHERWARP_FINETUNE_CHILD"

// tiny returns a configuration whose steps and evaluations take little time.
func tiny(t *testing.T) finetune.Config {
	t.Helper()
	c := config(t)
	c.Rank, c.Modules, c.Batch, c.Length, c.Epochs, c.Eval = 1, []string{"q_proj", "down_proj"}, 1, 8, 50, []string{sums(t, 2)}
	return c
}

// command returns the command of a child process, which runs the test with the given name.
func command(t *testing.T, test string, c finetune.Config) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

// childConfig returns the configuration of this process if it is a child.
func childConfig(t *testing.T) (c finetune.Config, ok bool) {
	t.Helper()
	text, ok := os.LookupEnv(childVariable)
	if ok {
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
	}
	return c, ok
}

// TestKill kills processes that train at 20 random moments, or 6 unless it runs in a sweep. Each continues with the last checkpoint, and the results are those of a training
// without interruption.
func TestKill(t *testing.T) {
	if c, ok := childConfig(t); ok {
		child(t, c)
		return
	}
	c, dev := tiny(t), open(t)
	times := 6
	if sweep.Whole() {
		times = 20
	}
	c.Steps, c.Save = 30+3*times, 2
	began := time.Now()
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	step := time.Since(began) / time.Duration(c.Steps)
	want := files(t, c.Out)
	c.Out, c.Resume = filepath.Join(t.TempDir(), "out"), true
	r := rand.New(rand.NewPCG(1, 2))
	for range times {
		killAfter(t, command(t, "TestKill", c), 1+r.IntN(3), time.Duration(r.Int64N(int64(2*step))))
	}
	rest, err := train(t, dev, c, proceed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the last process continued with step %d; a step takes %v", rest[0].Step, step)
	for name, text := range files(t, c.Out) {
		if text != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}

// child trains until it is killed, and prints a line for each step.
func child(t *testing.T, c finetune.Config) {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	_, err = train(t, dev, c, func(p finetune.Progress) error {
		_, err := fmt.Fprintln(os.Stdout, "step", p.Step)
		return err
	})
	if err := errors.Join(err, dev.Close()); err != nil {
		t.Fatal(err)
	}
}

// killAfter kills a process some time after it has printed as many lines about steps.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int, then time.Duration) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	in, step := bufio.NewScanner(out), 0
	for lines > 0 && in.Scan() {
		if _, err := fmt.Sscanf(in.Text(), "step %d", &step); err == nil {
			lines--
		}
	}
	time.Sleep(then)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	for in.Scan() { // until the pipe is closed
	}
	if err := in.Err(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || lines > 0 {
		t.Errorf("the process ended by itself after step %d: %v", step, err)
	}
}
