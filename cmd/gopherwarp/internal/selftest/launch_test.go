package selftest_test

import (
	"context"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/selftest"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// idle is a backend that does nothing, so that what is counted is the launcher's.
type idle struct{}

func (idle) Info() device.Info {
	return device.Info{Kind: "idle", Limits: driver.Limits{
		ThreadsPerBlock: 1024, Block: [3]int{1024, 1024, 64}, Grid: [3]int{1 << 20, 1 << 16, 1 << 16}, SharedPerBlock: 48 << 10,
	}}
}
func (idle) Allocate(int) (driver.Memory, error)      { return idle{}, nil }
func (idle) NewQueue() (driver.Queue, error)          { return idle{}, nil }
func (idle) Close() error                             { return nil }
func (idle) Address() uintptr                         { return 256 }
func (idle) Free() error                              { return nil }
func (idle) Launch(*driver.Plan) error                { return nil }
func (idle) Upload(uintptr, []byte) error             { return nil }
func (idle) Download([]byte, uintptr) error           { return nil }
func (idle) Copy(_, _ uintptr, _ int) error           { return nil }
func (idle) Zero(uintptr, int) error                  { return nil }
func (idle) Mark() (driver.Mark, error)               { return idle{}, nil }
func (idle) Since(driver.Mark) (time.Duration, error) { return 0, nil }
func (idle) Wait(context.Context) error               { return nil }
func (idle) Take() (none driver.Outcome)              { return none }

// TestLaunchersDoNotAllocate launches kernels with slices, numbers and a fixed block.
func TestLaunchersDoNotAllocate(t *testing.T) {
	s, err := device.New(idle{}).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := device.Make[float32](s, 64)
	if err != nil {
		t.Fatal(err)
	}
	a, b := x.All(), x.Slice(8, 40)
	launch := func() {
		if err := selftest.Float32s(s, device.Cover(64, 32), a, b, a); err != nil {
			t.Fatal(err)
		}
		if err := selftest.Transpose(s, device.Blocks{X: 4, Y: 4}, a, b, 8); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, launch); n != 0 {
		t.Errorf("two launches allocate %v times, want 0", n)
	}
}
