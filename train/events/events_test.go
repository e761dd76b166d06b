package events_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/train/events"
)

// write writes the events of two processes, the second of which continues after step 1.
func write(t *testing.T) (folder string, files []string) {
	t.Helper()
	folder, at := filepath.Join(t.TempDir(), "logs"), time.Unix(1700000000, 500e6)
	for _, steps := range [][]int64{{1, 2, 3}, {2, 300}} {
		w, err := events.Create(folder, at, steps[0]-1)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if err := w.Add(at, step, events.Scalar{Tag: "train/loss", Value: float32(len(steps)) / float32(step)}, events.Scalar{Tag: "rate", Value: 0.5}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.1700000000.*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	return folder, files
}

// TestBytes compares the first records with bytes that the Python package tensorboard writes for the same events.
func TestBytes(t *testing.T) {
	_, files := write(t)
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/events.hex")
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil || !bytes.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("the file begins with\n%x, want\n%x, %v", got[:min(len(got), len(want))], want, err)
	}
}

// reader prints what TensorBoard shows of a folder.
const reader = `
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator(sys.argv[1])
a.Reload()
for tag in sorted(a.Tags()["scalars"]):
    for e in a.Scalars(tag):
        print(tag, e.step, e.wall_time, e.value)
`

// TestTensorBoard reads the files with the Python package tensorboard. The environment variable GOPHERWARP_PYTHON names another interpreter than
// python3.
func TestTensorBoard(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import tensorboard").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import tensorboard: %v\n%s", python, err, out)
	}
	folder, _ := write(t)
	out, err := exec.CommandContext(t.Context(), python, "-c", reader, folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := `rate 1 1700000000.5 0.5
rate 2 1700000000.5 0.5
rate 300 1700000000.5 0.5
train/loss 1 1700000000.5 3.0
train/loss 2 1700000000.5 1.0
train/loss 300 1700000000.5 0.006666666828095913
`
	if string(out) != want {
		t.Errorf("TensorBoard reads\n%s, want\n%s", out, want)
	}
}
