package trial

import (
	"bytes"
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
)

// limit is for one launch: a kernel that hangs ends the trial, not the program.
const limit = time.Minute

// Result is what a trial left. Of one that faulted there is, instead of data, the result of each
// thread alone.
type Result struct {
	Fault   string // or another error
	Printed string
	Data    [][]byte // of each slice, packed
	Threads []Result
}

// Empty reports whether r is no result at all.
func (r Result) Empty() bool { return r.Fault == "" && r.Data == nil }

// Runner runs trials on a device, one after another, on one stream. It is for one goroutine.
type Runner struct {
	device  *device.Device
	stream  *device.Stream // nil where the last one cannot be used any more
	printed bytes.Buffer
}

// NewRunner returns a runner of the device, which the caller closes.
func NewRunner(dev *device.Device) *Runner { return &Runner{device: dev} }

// Device returns the device.
func (r *Runner) Device() *device.Device { return r.device }

// Run returns what a trial leaves.
func (r *Runner) Run(t *Trial) Result {
	in := t.arguments()
	result := r.run(t, in, t.Grid)
	if result.Fault == "" {
		return result
	}
	one := device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}, Shared: t.Grid.Shared}
	for first := range t.Grid.Blocks.Count() * t.Grid.Block.Count() {
		in.start(first)
		result.Threads = append(result.Threads, r.run(t, in, one))
	}
	return result
}

// run runs the kernel with arguments in a grid.
func (r *Runner) run(t *Trial, in arguments, g device.Grid) Result {
	r.printed.Reset()
	if r.stream == nil {
		s, err := r.device.NewStreamTo(&r.printed)
		if err != nil {
			return Result{Fault: err.Error()}
		}
		r.stream = s
	}
	s := r.stream
	defer in.free()
	if err := t.launch(s, g, in); err != nil {
		if _, fault := errors.AsType[*device.Fault](err); !fault {
			s.Close()
			r.stream = nil
		}
		return Result{Fault: t.name(err, g)}
	}
	result := Result{Printed: r.printed.String()}
	for _, a := range in.slices {
		if err := s.Queue().Download(a.left, a.address()); err != nil {
			return Result{Fault: err.Error()}
		}
	}
	if err := wait(s); err != nil {
		return Result{Fault: err.Error()}
	}
	for _, a := range in.slices {
		result.Data = append(result.Data, a.layout.pack(a.left, a.n))
	}
	return result
}

// launch uploads the slices, runs the kernel and waits for it.
func (t *Trial) launch(s *device.Stream, g device.Grid, in arguments) error {
	block := in.block
	for i := range in.slices {
		a := &in.slices[i]
		m, err := s.Device().Backend().Allocate(a.skip + len(a.data))
		if err != nil {
			return err
		}
		a.memory = m
		if err := s.Queue().Upload(a.address(), a.data); err != nil {
			return err
		}
		put(block[a.at:], 8, uint64(a.address()))
		put(block[a.at+8:], 8, uint64(a.n))
		put(block[a.at+16:], 8, uint64(a.n))
	}
	p := s.Plan(&t.Kernel, g)
	copy(unsafe.Slice((*byte)(p.Params()), len(block)), block)
	if err := p.Launch(); err != nil {
		return err
	}
	return wait(s)
}

func wait(s *device.Stream) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return s.Synchronize(ctx)
}

// name says what went wrong, as every device says it: of several threads any may be the one
// that is reported. Packages of kernels are called differently.
func (t *Trial) name(err error, g device.Grid) string {
	f, ok := errors.AsType[*device.Fault](err)
	switch {
	case !ok:
		return err.Error()
	case g.Blocks.Count()*g.Block.Count() > 1:
		return "fault " + f.Kernel
	}
	local := *f
	local.Package = ""
	return local.Error()
}
