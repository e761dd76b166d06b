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

// On runs the trial on a device.
func (t *Trial) On(dev *device.Device) Result {
	r := t.run(dev, t.Grid, 0)
	if r.Fault == "" {
		return r
	}
	one := device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1}, Shared: t.Grid.Shared}
	for first := range t.Grid.Blocks.Count() * t.Grid.Block.Count() {
		r.Threads = append(r.Threads, t.run(dev, one, first))
	}
	return r
}

// Whole runs the trial as a whole only: a fault has no results of single threads.
func (t *Trial) Whole(dev *device.Device) Result { return t.run(dev, t.Grid, 0).Whole() }

// run runs the kernel in a grid.
func (t *Trial) run(dev *device.Device, g device.Grid, first int) Result {
	var printed bytes.Buffer
	s, err := dev.NewStreamTo(&printed)
	if err != nil {
		return Result{Fault: err.Error()}
	}
	defer s.Close()
	block, slices := t.arguments(first)
	defer func() {
		for _, a := range slices {
			if a.memory != nil {
				a.memory.Free()
			}
		}
	}()
	if err := t.launch(s, g, block, slices); err != nil {
		return Result{Fault: t.name(err, g)}
	}
	r := Result{Printed: printed.String()}
	for _, a := range slices {
		if err := s.Queue().Download(a.data, a.memory.Address()); err != nil {
			return Result{Fault: err.Error()}
		}
	}
	if err := wait(s); err != nil {
		return Result{Fault: err.Error()}
	}
	for _, a := range slices {
		r.Data = append(r.Data, a.layout.pack(a.data, a.n))
	}
	return r
}

// launch uploads the slices, runs the kernel and waits for it.
func (t *Trial) launch(s *device.Stream, g device.Grid, block []byte, slices []array) error {
	for i := range slices {
		a := &slices[i]
		m, err := s.Device().Backend().Allocate(len(a.data))
		if err != nil {
			return err
		}
		a.memory = m
		if err := s.Queue().Upload(m.Address(), a.data); err != nil {
			return err
		}
		put(block[a.at:], 8, uint64(m.Address()))
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
// that is reported.
func (t *Trial) name(err error, g device.Grid) string {
	if f, ok := errors.AsType[*device.Fault](err); ok && g.Blocks.Count()*g.Block.Count() > 1 {
		return "fault " + f.Kernel
	}
	return err.Error()
}
