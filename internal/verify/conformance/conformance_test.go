package conformance_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// limit is for one case: a kernel that hangs ends the case, not the tests.
const limit = time.Minute

func TestNative(t *testing.T)      { run(t, cpu.OpenNative) }
func TestCPU(t *testing.T)         { run(t, cpu.Open) }
func TestScalar(t *testing.T)      { run(t, threads(cpu.Scalar)) }
func TestCoroutines(t *testing.T)  { run(t, threads(cpu.Coroutines)) }
func TestGoroutines(t *testing.T)  { run(t, threads(cpu.Goroutines)) }
func TestInterpreter(t *testing.T) { run(t, ptxinterp.Open) }

// TestAVX2 runs the vector code for processors without AVX-512 where TestCPU does not.
func TestAVX2(t *testing.T) {
	if lanes := cpu.VectorLanes(); lanes <= 8 {
		t.Skipf("vector code has %d lanes here anyway", lanes)
	}
	run(t, threads(cpu.AVX2))
}

// TestInterpreterWide runs the code for launches of any size, and warps and blocks in another order.
func TestInterpreterWide(t *testing.T) {
	run(t, func() (*device.Device, error) { return ptxinterp.OpenWith(ptxinterp.Options{Seed: 99, Wide: true}) })
}

// TestInterpreterPlain runs, on the oldest GPU that there is code for, that for narrow launches which counts on
// nothing else.
func TestInterpreterPlain(t *testing.T) {
	run(t, func() (*device.Device, error) {
		return ptxinterp.OpenWith(ptxinterp.Options{Plain: true, Capability: device.Capability{Major: 7}, Checks: ptxinterp.Checked().Checks})
	})
}

func TestCUDA(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	run(t, func() (*device.Device, error) { return cuda.Open(0) })
}

// threads returns the CPU device that runs the threads of a block in the given way.
func threads(way cpu.Threads) func() (*device.Device, error) {
	return func() (*device.Device, error) { return cpu.OpenThreads(way) }
}

// run runs every case on one device.
func run(t *testing.T, open func() (*device.Device, error)) {
	t.Parallel()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	dev.CoarsenAlways(true)         // the suite's launches are small
	behaviours := map[string]bool{} // whatever types and sizes they are shown for
	for _, g := range conformance.Groups() {
		for _, c := range g.Cases {
			for _, b := range c.Behaviours() {
				behaviours[g.Name+"/"+b] = true
			}
			t.Run(strings.Trim(g.Name+"/"+c.Name+"/"+c.Type, "/"), func(t *testing.T) { report(t, dev, c) })
		}
	}
	t.Logf("%d behaviours on %v", len(behaviours), dev.Info())
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// report fails t with what is wrong with c.
func report(t *testing.T, dev *device.Device, c check.Case) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	wrong := c.On(ctx, dev)
	for _, err := range wrong {
		if errors.Is(err, device.ErrNoVariant) {
			t.Skip(err)
		}
	}
	for behaviour, err := range wrong {
		t.Errorf("%s: %v", behaviour, err)
	}
}
