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

// fullDisk takes a step on a file system with one more free page each time, until the step, its line and its checkpoint succeed. After each failure,
// the checkpoint before is intact. The results are those of a training without failures.
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
	failures := 0
	for ; takeStep(t, dev, c, failures); failures++ {
		if failures > 100 {
			t.Fatal("no step succeeds")
		}
	}
	if failures < 5 {
		t.Errorf("%d failures, but a checkpoint has more pages", failures)
	}
	if rest, err := train(t, dev, c, proceed); err != nil || rest[0].Step != 3 {
		t.Fatalf("continued with step %d, %v", rest[0].Step, err)
	}
	for name, text := range files(t, c.Out) {
		if text != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}

// takeStep trains with the given number of free pages, and reports whether it failed because there were no more.
func takeStep(t *testing.T, dev *device.Device, c finetune.Config, pages int) (failed bool) {
	t.Helper()
	ballast := filepath.Join(filepath.Dir(c.Out), "ballast")
	fill(t, ballast, pages)
	stop := errors.New("stop")
	_, err := train(t, dev, c, func(p finetune.Progress) error {
		if p.Step != 2 {
			t.Errorf("continued with step %d, want 2", p.Step)
		}
		return stop
	})
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if errors.Is(err, stop) {
		return false
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), c.Out) {
		t.Fatalf("%d free pages: %v", pages, err)
	}
	return true
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
