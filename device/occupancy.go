package device

import (
	"errors"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Preload makes the driver compile kernels, several at the same time. Otherwise, the first launch of
// each kernel waits for the driver. Generated files declare the kernels.
func (d *Device) Preload(kernels ...*driver.Kernel) error {
	l, ok := d.backend.(driver.Loader)
	if !ok {
		return nil
	}
	var loading sync.WaitGroup
	errs, slots := make([]error, len(kernels)), make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, k := range kernels {
		loading.Go(func() {
			slots <- struct{}{}
			errs[i] = l.Load(k)
			<-slots
		})
	}
	loading.Wait()
	return errors.Join(errs...)
}

// usualBlock is the block size for a device without a preference.
const usualBlock = 256

// Occupancy returns how many blocks of k the device runs at once, for the block size and the dynamic
// shared memory of g. If g has no block size, Occupancy chooses the best one.
func (d *Device) Occupancy(k *driver.Kernel, g Grid) (Occupancy, error) {
	threads := 0
	switch {
	case k.Block != (Dim{}):
		threads = k.Block.Count()
	case g.Block != (Dim{}):
		threads = g.Block.Count()
	}
	if l, ok := d.backend.(driver.Loader); ok {
		v, _ := k.Variant(d.info.Capability, driver.Fit{Narrow: true, Line: true})
		_, dynamic := k.Memory(&v)
		return l.Occupancy(k, threads, dynamic+g.Shared)
	}
	if threads == 0 {
		threads = min(usualBlock, d.info.Limits.ThreadsPerBlock)
	}
	return Occupancy{Threads: threads, Blocks: 1, Cores: d.info.Cores}, nil
}

// Fit returns a grid that covers n elements, one for each thread along x, with the best block size
// for k on the device. If k has a fixed block size, Fit uses that size.
func (d *Device) Fit(k *driver.Kernel, n int) (Grid, error) {
	if k.Block != (Dim{}) {
		return k.Grid(Dim{X: ceilDiv(n, k.Block.X)}), nil
	}
	o, err := d.Occupancy(k, Grid{})
	return Cover(n, o.Threads), err
}
