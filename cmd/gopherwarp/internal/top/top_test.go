package top

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

func snapshot() Snapshot {
	k := nvml.Known
	r := nvml.Reading{
		Load: nvml.Load{GPU: k(71)}, Memory: nvml.Memory{Total: k(140 << 30), Used: k(35 << 30)},
		Power: k(412.3), PowerLimit: k(700), Temperature: nvml.Temperature{GPU: k(61)}, Clocks: nvml.Clocks{SM: k(1755), Held: 4},
	}
	return Snapshot{
		Time: time.Date(2026, 11, 20, 12, 30, 5, 0, time.UTC), Versions: nvml.Versions{Driver: "580.1", CUDA: "13.0"},
		GPUs: []GPU{
			{
				Name: "NVIDIA H200", Bus: "0000:4f:00.0", State: nvml.State{Reading: r, Usage: nvml.Usage{SM: k(64.4), Tensor: k(41)}, Traffic: nvml.Traffic{Sent: k(1.2e9)}},
				Processes: []Process{{PID: 4711, Name: "train", Memory: k(34 << 30), Load: k(70)}, {PID: 12, Name: "idle"}},
			},
			{Name: "NVIDIA L4", Err: errors.New("nvml: nvmlDeviceGetPowerUsage: NVML_ERROR_GPU_IS_LOST")},
		},
	}
}

const wide = `driver 580.1  CUDA 13.0  12:30:05                          q quits, space pauses
 0  NVIDIA H200                                           0000:4f:00.0  1755 MHz
    busy    ██████████████████░░░░░░░░   71 %  SM 64  tensor 41
    memory  ███████░░░░░░░░░░░░░░░░░░░ 35.0 / 140.0 GiB
    412 / 700 W  61 °C  PCIe up - down 1.2 GB/s  held by power cap
 1  NVIDIA L4  nvml: nvmlDeviceGetPowerUsage: NVML_ERROR_GPU_IS_LOST

GPU      PID    memory  busy  program
  0     4711  34.0 GiB  70 %  train
  0       12     - GiB   - %  idle`

const narrow = `driver 580.1  CUDA 13.0  12:30:05
 0  NVIDIA H200
    busy    ███░   71 %  SM 64  tenso…
    memory  █░░░ 35.0 / 140.0 GiB
    412 / 700 W  61 °C  PCIe up - dow…
 1  NVIDIA L4  nvml: nvmlDeviceGetPow…

GPU      PID    memory  busy  program
  0     4711  34.0 GiB  70 %  train
  0       12     - GiB   - %  idle`

func TestView(t *testing.T) {
	for _, test := range []struct {
		width, height int
		want          string
	}{{80, 40, wide}, {38, 0, narrow}} {
		if got := ansi.Strip(View(snapshot(), test.width, test.height)); got != test.want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", test.width, got, test.want)
		}
	}
}

// TestShort expects a line for each GPU where there is no room for more, and no line too many.
func TestShort(t *testing.T) {
	got := strings.Split(ansi.Strip(View(snapshot(), 80, 8)), "\n")
	if len(got) > 8 || got[1] != " 0 ███████░░░  71 %  ███░░░░░░░ 35.0 GiB  412 W 61 °C" {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
}

// TestKeys presses keys while snapshots arrive.
func TestKeys(t *testing.T) {
	s := screen{width: 80, height: 24}
	if got := ansi.Strip(s.frame()); got != "reading the GPUs" {
		t.Errorf("before the first snapshot: %q", got)
	}
	show := func(driver string) string {
		r := snapshot()
		r.Versions.Driver = driver
		s.show(r)
		s.drawn = ""
		return ansi.Strip(s.frame())
	}
	if got := show("1"); !strings.HasPrefix(got, "driver 1 ") {
		t.Errorf("the first snapshot: %q", got)
	}
	s.press(" ")
	if got := show("2"); !strings.HasPrefix(got, "driver 1 ") {
		t.Errorf("paused: %q", got)
	}
	if got := s.frame(); got != "" {
		t.Errorf("draws again what is there: %q", got)
	}
	s.press(" ")
	if got := show("3"); !strings.HasPrefix(got, "driver 3 ") {
		t.Errorf("continued: %q", got)
	}
	for _, key := range []string{"x", "\x1b[A"} {
		if s.press(key); s.quit {
			t.Errorf("%q quits", key)
		}
	}
	for _, key := range []string{"q", "\x1b", "\x03"} {
		if s.quit = false; !quits(&s, key) {
			t.Errorf("%q does not quit", key)
		}
	}
}

func quits(s *screen, key string) bool {
	s.press(key)
	return s.quit
}

// TestNoTerminal expects an error, and that nothing is drawn.
func TestNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Run(t.Context(), snapshot, time.Second, Terminal{f, f}); err == nil {
		t.Error("Run on a file has no error")
	}
	if s, err := f.Stat(); err != nil || s.Size() > 0 {
		t.Errorf("%d bytes are written (%v)", s.Size(), err)
	}
}
