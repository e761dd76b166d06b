//go:build race

package cpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// seeded is the environment variable that names the race that TestSeededRace runs.
const seeded = "GOPHERWARP_TEST_SEEDED"

// TestRaceDetector runs kernels that lack a barrier, each in a process of its own, and checks that
// the race detector reports a race; with the barrier, it must report none.
func TestRaceDetector(t *testing.T) {
	for name, want := range map[string]bool{"shared": true, "global": true, "warps": true, "none": false, "warp": false} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestSeededRace$")
			cmd.Env = append(os.Environ(), seeded+"="+name)
			out, err := cmd.CombinedOutput()
			if found := strings.Contains(string(out), "DATA RACE"); found != want {
				t.Errorf("race found: %v, want %v (%v)\n%s", found, want, err, out)
			}
			if want && !strings.Contains(string(out), "race_test.go:") {
				t.Errorf("the report does not name the kernel's line:\n%s", out)
			}
		})
	}
}

func TestSeededRace(t *testing.T) {
	var kernel func(gpu.Thread, []int32)
	switch os.Getenv(seeded) {
	case "shared":
		kernel = func(t gpu.Thread, x []int32) {
			tile := gpu.Shared[[64]int32](t)
			tile[t.ThreadX()] = int32(t.ThreadX())
			x[t.GlobalX()] = tile[63-t.ThreadX()]
		}
	case "global":
		kernel = func(t gpu.Thread, x []int32) {
			if i := t.GlobalX(); i+1 < len(x) {
				x[i] = x[i+1]
			}
		}
	case "none":
		kernel = func(t gpu.Thread, x []int32) {
			tile := gpu.Shared[[64]int32](t)
			for range 3 {
				tile[t.ThreadX()] = int32(t.ThreadX())
				t.Sync()
				x[t.GlobalX()] = tile[63-t.ThreadX()]
				t.Sync()
			}
		}
	case "warps", "warp": // threads of two warps, or of one, before and after a barrier of the warp
		distance := map[string]int{"warps": 32, "warp": 1}[os.Getenv(seeded)]
		kernel = func(t gpu.Thread, x []int32) {
			tile := gpu.Shared[[64]int32](t)
			tile[t.ThreadX()] = int32(t.ThreadX())
			t.SyncWarp()
			x[t.GlobalX()] = tile[t.ThreadX()^distance]
		}
	default:
		t.Skip("runs in a process of its own, for TestRaceDetector")
	}
	k := kernelOf(kernel)
	if name := os.Getenv(seeded); name != "global" {
		k.Shared, k.Barriers = 256, name != "shared"
	}
	if _, _, err := launched(t, device.New(newBackend()), k, device.Cover(128, 64), 128); err != nil {
		t.Fatal(err)
	}
}
