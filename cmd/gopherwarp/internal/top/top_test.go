package top

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
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

func content(m tea.Model) string { return ansi.Strip(m.View().Content) }

func TestKeys(t *testing.T) {
	reads := 0
	var m tea.Model = model{read: func() Snapshot { reads++; s := snapshot(); s.Versions.Driver = strings.Repeat("v", reads); return s }}
	step := func(msg tea.Msg) tea.Cmd {
		var c tea.Cmd
		m, c = m.Update(msg)
		return c
	}
	step(tea.WindowSizeMsg{Width: 80, Height: 24})
	step(m.Init()())
	step(tea.KeyPressMsg{Code: tea.KeySpace})
	step(step(due{})()) // read, not shown
	if !strings.HasPrefix(content(m), "driver v ") || reads != 2 {
		t.Errorf("paused after %d readings:\n%s", reads, content(m))
	}
	step(tea.KeyPressMsg{Code: tea.KeySpace})
	step(step(due{})())
	if !strings.HasPrefix(content(m), "driver vvv ") {
		t.Errorf("going on:\n%s", content(m))
	}
	if quit := step(tea.KeyPressMsg{Code: 'q', Text: "q"}); quit == nil || quit() != tea.Quit() {
		t.Error("q does not quit")
	}
}
