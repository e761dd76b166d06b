package conformance_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// The limits are for one case, also on a busy machine: a kernel that hangs ends the case, not the tests. Mesa's llvmpipe compiles some kernels for
// minutes.
const (
	limit     = 4 * time.Minute
	softLimit = 20 * time.Minute // on a software device of Vulkan
)

func TestNative(t *testing.T)      { run(t, cpu.OpenNative, plainGo) }
func TestCPU(t *testing.T)         { run(t, cpu.Open, plainGo) }
func TestScalar(t *testing.T)      { runSome(t, threads(cpu.Scalar), plainGo, 3) }
func TestCoroutines(t *testing.T)  { runSome(t, threads(cpu.Coroutines), plainGo, 3) }
func TestInterpreter(t *testing.T) { run(t, ptxinterp.Open, 0) }

// TestGoroutines runs each thread as a goroutine, which differs from coroutines only in who goes on.
func TestGoroutines(t *testing.T) {
	inSweeps(t)
	run(t, threads(cpu.Goroutines), plainGo)
}

// inSweeps skips a test of an execution that differs little from others.
func inSweeps(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("runs in sweeps")
	}
}

// The numbers of cases that an execution skips. If a case is added that needs a new GPU, the second one grows.
const (
	plainGo  = 2  // what only a device can do: stop a loop of sync/atomic, print by println to a stream
	llvmpipe = 61 // what Mesa's software device lacks: copies in bulk, tensor cores, threads that run while others wait for them
	mesa22   = 86 // what is refused on that of Mesa 22: also clusters, and operations of some lanes
	volta    = 67 // what GPUs of capability 7.0 lack: clusters, bulk copies, products on tensor cores
)

// TestAVX2 runs the vector code for processors without AVX-512 where TestCPU does not.
func TestAVX2(t *testing.T) {
	if lanes := cpu.VectorLanes(); lanes <= 8 {
		t.Skipf("vector code has %d lanes here anyway", lanes)
	}
	run(t, threads(cpu.AVX2), plainGo)
}

// TestInterpreterWide runs the code for launches of any size, and warps and blocks in another order.
func TestInterpreterWide(t *testing.T) {
	runSome(t, func() (*device.Device, error) { return ptxinterp.OpenWith(ptxinterp.Options{Seed: 99, Wide: true}) }, 0, 3)
}

// TestInterpreterPlain runs, on the oldest GPU that there is code for, that for narrow launches which counts on
// nothing else.
func TestInterpreterPlain(t *testing.T) {
	inSweeps(t)
	run(t, func() (*device.Device, error) {
		return ptxinterp.OpenWith(ptxinterp.Options{Plain: true, Capability: device.Capability{Major: 7}, Checks: ptxinterp.Checked().Checks})
	}, volta)
}

// TestCUDA knows how many cases a Hopper GPU skips. Others have not all that the cases need.
func TestCUDA(t *testing.T) {
	list, err := cuda.List()
	if err != nil {
		t.Skip(err)
	}
	skips := 0
	if list[0].Capability != (device.Capability{Major: 9}) {
		skips = unknown
	}
	run(t, func() (*device.Device, error) { return cuda.Open(0) }, skips)
}

// TestVulkan runs on the first device of Vulkan. It knows how many cases Mesa's llvmpipe skips, whose subgroups have 8 lanes. That compiles
// kernels slowly: a ninth of the cases takes as long as a third of them in the interpreter.
func TestVulkan(t *testing.T) {
	list, err := vulkan.List()
	if err != nil {
		t.Skip(err)
	}
	open := func() (*device.Device, error) { return vulkan.Open(0) }
	if !strings.HasPrefix(list[0].Name, "llvmpipe") {
		run(t, open, unknown)
		return
	}
	skips := llvmpipe
	if strings.Contains(list[0].Driver, "Mesa 22.") {
		skips = mesa22
	}
	runSome(t, open, skips, 9)
}

// unknown is the number of skipped cases that no test demands.
const unknown = -1

// threads returns the CPU device that runs the threads of a block in the given way.
func threads(way cpu.Threads) func() (*device.Device, error) {
	return func() (*device.Device, error) { return cpu.OpenThreads(way) }
}

// run runs every case on one device, which must skip the given number of them.
func run(t *testing.T, open func() (*device.Device, error), skips int) {
	runSome(t, open, skips, 1)
}

// runSome runs one of n cases of each group, or all in sweeps.
func runSome(t *testing.T, open func() (*device.Device, error), skips, n int) {
	t.Parallel()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	dev.CoarsenAlways(true) // the suite's launches are small
	s := suite{dev: dev, sample: n, behaviours: map[string]bool{}}
	for _, g := range conformance.Groups() {
		s.run(t, g)
	}
	s.demand(t, skips)
	t.Logf("%d behaviours on %v", len(s.behaviours), dev.Info())
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// suite runs cases on a device and counts them.
type suite struct {
	dev        *device.Device
	sample     int             // one of sample cases of a group runs
	behaviours map[string]bool // of those, whatever types and sizes they are shown for
	cases, ran int
	skipped    []string
	excused    []string // behaviours
}

// run runs a group's cases, each as a test of its own.
func (s *suite) run(t *testing.T, g conformance.Group) {
	for i, c := range g.Cases {
		name := strings.Trim(g.Name+"/"+c.Name+"/"+c.Type, "/")
		s.cases++
		if !sweep.Every(s.sample, i) {
			continue
		}
		for _, b := range c.Behaviours() {
			s.behaviours[g.Name+"/"+b] = true
		}
		t.Run(name, func(t *testing.T) { s.report(t, name, c) })
	}
}

// report fails t with what is wrong with c.
func (s *suite) report(t *testing.T, name string, c check.Case) {
	s.ran++
	patience := limit
	if i := s.dev.Info(); i.Kind == "vulkan" && !i.GPU {
		patience = softLimit
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	wrong := c.On(ctx, s.dev)
	if err := check.Skipped(wrong); err != nil {
		s.skipped = append(s.skipped, name)
		t.Skip(err)
	}
	for behaviour, err := range wrong {
		if check.Excused(err) {
			s.excused = append(s.excused, behaviour)
			t.Logf("%s: %v", behaviour, err)
			continue
		}
		t.Errorf("%s: %v", behaviour, err)
	}
}

// demand fails t if another number of cases was skipped, unless a flag or a sample has selected cases.
func (s *suite) demand(t *testing.T, skips int) {
	if s.excused != nil && strings.HasPrefix(s.dev.Info().Name, "llvmpipe") {
		t.Errorf("llvmpipe preserves subnormal numbers, but not in %v", s.excused)
	}
	if n := len(s.skipped); skips != unknown && n != skips && s.ran == s.cases {
		t.Errorf("%d of %d cases are skipped on %v, want %d:\n%s", n, s.cases, s.dev.Info(), skips, strings.Join(s.skipped, "\n"))
	}
}
