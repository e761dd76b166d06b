package harness

import (
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Suite is a list of cases and the CUDA C++ source of their twins.
type Suite struct {
	Cases []Case
	Twins string
}

// Case is one benchmark.
type Case struct {
	Name  string // the name of the case, also for peers
	Group string // cases of a group are shown together
	About string // one line
	// Big is the size for GPUs, Small the size for CPUs and tests. Each case defines what its size
	// counts: elements, rows, the side of a square.
	Big, Small int
	// Make prepares the case at a size.
	Make func(b *Bench, size int) Work
}

// Work is a case at a size, on buffers that hold its inputs.
type Work struct {
	Bytes float64  // bytes that a perfect program moves to and from the device's memory, or 0
	Flops float64  // floating-point operations of the algorithm, or 0
	Ours  []Launch // the launches of the plain kernels, as a newcomer writes them; each has a literal twin of the same name, its translation to CUDA C++
	// Tuned has the launches of our kernels as an expert writes them in Go; nil if the plain kernels are
	// as good.
	Tuned []Launch
	// Best has the launches of the twins as an expert writes them; nil if the literal twins are as good.
	Best []Launch
	// More are contenders that are not kernels: calls of libraries, and copies by the driver. If Ours is nil, the first
	// of them represents this project.
	More []Contender
	// Restore, if not nil, enqueues the restoration of inputs that a run overwrites.
	Restore func(s *device.Stream) error
	// Check compares the outputs, which have been downloaded, with plain Go.
	Check func() error
}

// Launch is the launch of one kernel in a run.
type Launch struct {
	Name     string // the name of the kernel and of its literal twin
	Launcher any    // the kernel's generated launcher
	Grid     device.Grid
	Args     []Argument
	twin     string // the name of another twin to launch; "" for the literal twin
}

// Of returns the launch of the kernel with the given name and generated launcher.
func Of(name string, launcher any, g device.Grid, args ...Argument) Launch {
	return Launch{Name: name, Launcher: launcher, Grid: g, Args: args}
}

// Best returns the launch of the best twin, which an expert would write, with grid g and the arguments of l. The name
// of the twin is the kernel's name followed by _best.
func (l Launch) Best(g device.Grid) Launch {
	l.Grid, l.twin = g, l.Name+"_best"
	return l
}

// Twin returns the name of the twin.
func (l Launch) Twin() string {
	if l.twin != "" {
		return l.twin
	}
	return l.Name
}

// call launches our kernel.
func (l Launch) call(s *device.Stream) error {
	f := reflect.ValueOf(l.Launcher)
	in := []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(l.Grid)}
	if f.Type().In(1) == reflect.TypeFor[device.Blocks]() {
		in[1] = reflect.ValueOf(l.Grid.Blocks)
	}
	for _, a := range l.Args {
		in = append(in, a.value())
	}
	err, _ := f.Call(in)[0].Interface().(error)
	return err
}

// on launches k, a twin or our kernel without checks, which takes the arguments of l.
func (l Launch) on(s *device.Stream, k *driver.Kernel) error {
	p := s.Plan(k, l.Grid)
	for _, a := range l.Args {
		a.put(p)
	}
	return p.Launch()
}
