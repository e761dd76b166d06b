package harness

import (
	"context"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// launched is a device.Watcher that keeps the kernels of a contender, with a grid of each.
type launched map[*driver.Kernel]device.Grid

func (l launched) Did(work []device.Activity) {
	for _, a := range work {
		if a.Work == device.WorkLaunch {
			l[a.Kernel] = a.Grid
		}
	}
}

func (l launched) Closed() error { return nil }

// registers returns the largest number of registers of a thread, of the kernels that were launched on a GPU; 0
// on other devices.
func (l launched) registers(dev *device.Device) (most int, err error) {
	if dev.Info().Kind != "cuda" {
		return 0, nil
	}
	for k, g := range l {
		o, err := dev.Occupancy(k, g)
		if err != nil {
			return 0, err
		}
		most = max(most, o.Registers)
	}
	return most, nil
}

// verifyWatched verifies a contender and returns the registers of its kernels.
func (b *Bench) verifyWatched(ctx context.Context, w Work, c Contender) (registers int, err error) {
	dev := b.stream.Device()
	l := launched{}
	stop, err := dev.Watch(l)
	if err != nil {
		return 0, err
	}
	err = b.Verify(ctx, w, c)
	stop()
	if err != nil {
		return 0, err
	}
	return l.registers(dev)
}
