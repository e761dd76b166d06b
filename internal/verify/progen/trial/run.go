package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
)

// limit is for one launch: a kernel that hangs ends the trial, not the program.
const limit = 5 * time.Minute

// Result is what a trial left. Of one that faulted there is, instead of data, the result of each
// thread alone.
type Result struct {
	Fault   string // or another error
	Printed string
	Data    [][]byte // of each slice, packed
	Threads []Result
	Foreign bool // the device lacks what the kernel needs, and there is nothing else
	Endless bool // it took longer than the trial's Patience, and there is nothing else
}

// Empty reports whether r is no result at all.
func (r Result) Empty() bool { return r.Fault == "" && r.Data == nil }

// Runner runs trials on a device, one after another, on one stream. It is for one goroutine.
type Runner struct {
	device  *device.Device
	stream  *device.Stream // nil if the last one cannot be used any more
	printed bytes.Buffer
	fault   *device.Fault // of the last run of several threads, if that had one
}

// NewRunner returns a runner of the device, which the caller closes.
func NewRunner(dev *device.Device) *Runner { return &Runner{device: dev} }

// Device returns the device.
func (r *Runner) Device() *device.Device { return r.device }

// Run returns what a trial leaves.
func (r *Runner) Run(t *Trial) Result {
	in := t.arguments()
	r.fault = nil
	result := r.run(t, in, t.Grid)
	if result.Fault == "" {
		return result
	}
	one := device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}, Shared: t.Grid.Shared}
	for first := range t.Grid.Blocks.Count() * t.Grid.Block.Count() {
		in.start(first)
		result.Threads = append(result.Threads, r.run(t, in, one))
	}
	if f := r.fault; f != nil && t.Alone {
		if n := t.number(f); n >= len(result.Threads) || result.Threads[n].Fault != t.alone(f) {
			result.Fault += fmt.Sprintf(" of thread %d, which has another one alone: %v", n, f)
		}
	}
	return result
}

// number returns the number of the thread that has faulted, by which kernels know it.
func (t *Trial) number(f *device.Fault) int {
	var at, size [3]int
	blocks, threads := t.Grid.Blocks, t.Grid.Block
	for i, n := range [3][2]int{{blocks.X, threads.X}, {blocks.Y, threads.Y}, {blocks.Z, threads.Z}} {
		at[i], size[i] = f.Block[i]*max(1, n[1])+f.Thread[i], max(1, n[0])*max(1, n[1])
	}
	return (at[2]*size[1]+at[1])*size[0] + at[0]
}

// alone returns what the fault is called where its thread is the only one.
func (t *Trial) alone(f *device.Fault) string {
	switch {
	case t.Lines && strings.Contains(f.Message, "nil pointer"): // of several, Go's compiler may keep the last
		return "nil pointer"
	case t.Lines:
		return fmt.Sprintf("fault at %s:%d", f.File, f.Line)
	}
	local := *f
	local.Package, local.Block, local.Thread = "", [3]int{}, [3]int{}
	return local.Error()
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
		if errors.Is(err, device.ErrNoVariant) {
			_ = wait(s) // returns the same error, and the stream takes work again
			return Result{Foreign: true}
		}
		if _, fault := errors.AsType[*device.Fault](err); !fault {
			s.Close()
			r.stream = nil
		}
		return Result{Fault: r.name(t, err, g)}
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
		result.Data = append(result.Data, a.layout.pack(a.left, a.n+a.spare))
	}
	return result
}

// launch uploads the slices, runs the kernel and waits for it.
func (t *Trial) launch(s *device.Stream, g device.Grid, in arguments) error {
	block := in.block
	for _, a := range in.slices {
		if err := a.bring(s); err != nil {
			return err
		}
		put(block[a.at:], 8, uint64(a.address()))
		put(block[a.at+8:], 8, uint64(a.n))
		put(block[a.at+16:], 8, uint64(a.n+a.spare))
	}
	for _, m := range in.maps {
		if err := in.encode(m, s.Device().Backend()); err != nil {
			return err
		}
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

// name describes what went wrong, as every device says it: of several threads any may be the one
// that is reported, which is kept for Run to look at. Packages of kernels are called differently.
func (r *Runner) name(t *Trial, err error, g device.Grid) string {
	f, ok := errors.AsType[*device.Fault](err)
	switch {
	case !ok:
		return err.Error()
	case g.Blocks.Count()*g.Block.Count() > 1:
		r.fault = f
		return "fault " + f.Kernel
	}
	return t.alone(f)
}
