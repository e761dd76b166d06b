package finetune_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// TestFullDisk trains on a full disk: see fullDisk.
func TestFullDisk(t *testing.T) {
	if c, ok := childConfig(t); ok {
		fullDisk(t, c)
		return
	}
	c := tiny(t)
	c.Steps, c.Save, c.Out = 3, 1, t.TempDir()
	cmd := command(t, "TestFullDisk", c)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if started := len(out) > 0; !started || strings.Contains(string(out), "--- SKIP") {
		t.Skipf("needs a file system of its own: %v\n%s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// fullDisk takes the second and the third step on a file system with one more free page each time, until the step, its line and its checkpoint succeed.
// Then it writes the adapter in the same way. After each failure, the checkpoint before is intact. The results are those of a training without failures.
func fullDisk(t *testing.T, c finetune.Config) {
	t.Helper()
	disk, dev := c.Out, open(t)
	c.Out = filepath.Join(t.TempDir(), "out")
	if _, err := train(t, dev, c, proceed); err != nil {
		t.Fatal(err)
	}
	want := files(t, c.Out)
	if err := errors.Join(syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m")); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	c.Out, c.Resume = filepath.Join(disk, "out"), true
	stop := errors.New("stop")
	if _, err := train(t, dev, c, func(finetune.Progress) error { return stop }); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	for _, step := range []int{2, 3} {
		n := failures(t, dev, c, func(p finetune.Progress) error {
			if p.Step != step {
				t.Errorf("continued with step %d, want %d", p.Step, step)
			}
			return stop
		})
		if n < 5 {
			t.Errorf("%d failures of step %d, but a checkpoint has more pages", n, step)
		}
	}
	n := failures(t, dev, c, func(p finetune.Progress) error {
		t.Errorf("continued with step %d after the last one", p.Step)
		return nil
	})
	if n < 2 {
		t.Errorf("%d failures, but the files of the adapter have more pages", n)
	}
	if names, err := filepath.Glob(filepath.Join(c.Out, ".*")); err != nil || len(names) > 0 {
		t.Errorf("temporary files %v, %v", names, err)
	}
	for name, text := range files(t, c.Out) {
		if text != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}

// failures trains with one more free page each time until the training ends, or stops because report returns an error. It returns how often there were
// too few.
func failures(t *testing.T, dev *device.Device, c finetune.Config, report func(finetune.Progress) error) int {
	t.Helper()
	ballast := filepath.Join(filepath.Dir(c.Out), "ballast")
	for pages := range 100 {
		fill(t, ballast, pages)
		var stopped error
		_, err := train(t, dev, c, func(p finetune.Progress) error {
			stopped = report(p)
			return stopped
		})
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if err == nil || stopped != nil && errors.Is(err, stopped) {
			return pages
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), c.Out) {
			t.Fatalf("%d free pages: %v", pages, err)
		}
	}
	t.Fatal("no training succeeds")
	return 0
}

// fill writes a file that leaves a number of free pages on its file system.
func fill(t *testing.T, name string, free int) {
	t.Helper()
	const page = 4096
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for err == nil {
		_, err = io.WriteString(f, strings.Repeat("x", page))
		size += page
	}
	size -= page
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(max(size-int64(free)*page, 0)), f.Close()); err != nil {
		t.Fatal(err)
	}
}
