package faults

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// besideCases are about what is around a fault: other threads, launches, streams, buffers.
func besideCases() []check.Case {
	return []check.Case{
		{Name: "beside a barrier", Run: func(r *check.Run) {
			x, out := check.Make[int32](r, 4), check.Make[int32](r, 192)
			r.Launch(BesideBarrier(r.Stream, check.Blocks(3, 64), 67, x, out))
			r.Fault(fault("besideBarrier", "beside.go", "beside barrier", "index out of range [4] with length 4"))
			again(r)
		}},
		{Name: "beside barriers in a loop", Run: func(r *check.Run) {
			r.Launch(BesideBarriers(r.Stream, check.Blocks(2, 64), 67, 6, check.Make[int32](r, 128)))
			r.Fault(fault("besideBarriers", "beside.go", "beside barriers", "in turn"))
			again(r)
		}},
		{Name: "beside a barrier that counts", Run: func(r *check.Run) {
			r.Launch(BesideCount(r.Stream, check.Blocks(2, 64), 67, check.Make[int32](r, 128)))
			r.Fault(fault("besideCount", "beside.go", "beside count", "index out of range [-1]"))
			again(r)
		}},
		{Name: "beside operations of a warp", Run: func(r *check.Run) {
			r.Launch(BesideWarp(r.Stream, check.Blocks(2, 64), 67, check.Make[int32](r, 128)))
			r.Fault(fault("besideWarp", "beside.go", "beside warp", "index out of range [130] with length 128"))
			again(r)
		}},
		{Name: "every thread", Run: everyOne},
		{Name: "in three dimensions", Run: spaces},
		{Name: "prints before", Run: printed},
		{Name: "the first of two", Run: func(r *check.Run) {
			r.Launch(TwoFaults(r.Stream, check.Threads(1), -3, check.Make[int32](r, 4)))
			want := fault("twoFaults", "beside.go", "first of two", "index out of range [-3]")
			want.Block, want.Thread = [3]int{}, [3]int{}
			r.Fault(want)
		}},
		{Name: "buffers can be read", Run: readable},
		{Name: "a million threads", Run: million},
		{Name: "another stream", Run: anotherStream},
		{Name: "reported once", Run: once},
		{Name: "many in a row", Run: inARow},
	}
}

// everyOne takes the fault of any thread, which must be that thread's own.
func everyOne(r *check.Run) {
	r.Launch(EveryThread(r.Stream, check.Blocks(4, 32), check.Make[int32](r, 10)))
	err := r.Stream.Synchronize(r.Context)
	f, ok := errors.AsType[*device.Fault](err)
	if !ok {
		r.Wrong("got %v, want a fault", err)
		return
	}
	want := fault("everyThread", "beside.go", "every thread", fmt.Sprintf("index out of range [%d] with length 10", 1000+32*f.Block[0]+f.Thread[0]))
	want.Block, want.Thread, want.Launch, want.Package = f.Block, f.Thread, f.Launch, f.Package
	if *f != want || f.Block[0] > 3 || f.Thread[0] > 31 {
		r.Wrong("got the fault %v, want %v", f, &want)
	}
	again(r)
}

func spaces(r *check.Run) {
	g := device.Grid{Blocks: device.Dim{X: 3, Y: 2, Z: 4}, Block: device.Dim{X: 4, Y: 5, Z: 2}}
	for _, at := range [][6]int{{0, 0, 0, 0, 0, 0}, {2, 1, 3, 3, 4, 1}, {1, 0, 2, 0, 3, 1}} {
		r.Launch(InSpace(r.Stream, g, at[0], at[1], at[2], at[3], at[4], at[5]))
		want := fault("inSpace", "beside.go", "in space", "here")
		want.Block, want.Thread = [3]int(at[:3]), [3]int(at[3:])
		r.Fault(want)
	}
}

func printed(r *check.Run) {
	r.Launch(Printing(r.Stream, check.Threads(1), 0))
	want := fault("printing", "beside.go", "printing", "integer divide by zero")
	want.Block, want.Thread = [3]int{}, [3]int{}
	r.Fault(want)
	r.Launch(Printing(r.Stream, check.Threads(1), 20))
	r.Printed("before\nbefore\n5\n")
}

func readable(r *check.Run) {
	x := check.Upload[int32](r, 5, 6, 7, 8, 9, 10, 11, 12)
	r.Launch(OutOfRange(r.Stream, check.Blocks(2, 4), 0, 8, x, check.Make[record](r, 4), check.Make[uint8](r, 16)))
	r.Fault(fault("outOfRange", "indices.go", "fault 0", "index out of range [8] with length 8"))
	check.Want(r, x, 5, 6, 7, 8, 9, 10, 11, 12)
}

// million lets the last of 1<<20 threads fault.
func million(r *check.Run) {
	const n = 1 << 20
	x := check.Make[int32](r, n-1)
	r.Launch(Writes(r.Stream, device.Cover(n, 256), x, 3))
	r.Fault(device.Fault{
		Kernel: "writes", File: "beside.go", Line: check.Line(besideText, "fault a million threads"),
		Message: fmt.Sprintf("index out of range [%d] with length %d", n-1, n-1), Block: [3]int{n/256 - 1}, Thread: [3]int{255},
	})
	again(r)
}

func anotherStream(r *check.Run) {
	other, err := r.Device.NewStream()
	if err != nil {
		r.Wrong("%w", err)
		return
	}
	x := check.Make[int32](r, 4)
	r.Wait()
	r.Launch(TwoFaults(r.Stream, check.Threads(1), -3, x))
	r.Launch(Writes(other, check.Threads(4), x, 5))
	if err := errors.Join(other.Synchronize(r.Context), other.Close()); err != nil {
		r.Wrong("the other stream: %w", err)
	}
	want := fault("twoFaults", "beside.go", "first of two", "index out of range [-3]")
	want.Block, want.Thread = [3]int{}, [3]int{}
	r.Fault(want)
	check.Want(r, x, 0, 5, 10, 15)
}

func once(r *check.Run) {
	r.Launch(EveryThread(r.Stream, check.Threads(1), check.Make[int32](r, 10)))
	if err := r.Stream.Synchronize(r.Context); err == nil {
		r.Wrong("there is no fault")
	}
	r.Wait()
	again(r)
}

func inARow(r *check.Run) {
	for n := range 20 {
		r.Launch(OutOfRange(r.Stream, check.Blocks(2, 4), 0, 8+n, check.Make[int32](r, 8), check.Make[record](r, 4), check.Make[uint8](r, 16)))
		r.Fault(fault("outOfRange", "indices.go", "fault 0", fmt.Sprintf("index out of range [%d] with length 8", 8+n)))
	}
	again(r)
}
