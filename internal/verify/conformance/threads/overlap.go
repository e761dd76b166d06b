package threads

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// spread stores the sums of each element of from, its successor and a constant that no kernel writes. It
// reads the constant before it waits for the kernel that wrote from.
//
//gpu:kernel
//gpu:block 64
func spread(t gpu.Thread, to, from, added []uint32) {
	t.StartNext()
	i := t.GlobalX()
	if i >= len(to) {
		return
	}
	more := added[i]
	t.AwaitPrevious()
	next := i + 1
	if next == len(from) {
		next = 0
	}
	to[i] = from[i] + from[next] + more
}

// spreadTwice does two steps in a block, and waits again before the second.
//
//gpu:kernel
//gpu:block 64
func spreadTwice(t gpu.Thread, x, added []uint32) {
	near := gpu.Shared[[64]uint32](t)
	i := t.ThreadX()
	t.AwaitPrevious()
	near[i] = x[i] + x[(i+1)%64] + added[i]
	t.Sync()
	t.StartNext()
	t.AwaitPrevious()
	x[i] = near[i] + near[(i+1)%64] + added[i]
}

const overlapped = 64 * 200

// overlaps returns how many times the launches are repeated: often on a GPU, where kernels do overlap.
func overlaps(dev *device.Device) int {
	if dev.Info().Kind == "cuda" {
		return 25
	}
	return 2
}

// overlapping launches kernels that may start before the preceding one is done, one by one and in a graph.
// The third of four has no element to work on, so that all its threads leave before they wait.
func overlapping(r *check.Run) {
	a, added := make([]uint32, overlapped), make([]uint32, overlapped)
	for i := range a {
		a[i], added[i] = uint32(i*i), uint32(i%7)
	}
	x, y, z := check.Upload(r, a...), check.Make[uint32](r, overlapped), check.Upload(r, added...)
	n := overlaps(r.Stream.Device())
	steps := func(s *device.Stream) error {
		blocks := device.Blocks{X: overlapped / 64}
		var err error
		for range n {
			err = errors.Join(err, Spread(s, blocks, y, x, z), Spread(s, blocks, x, y, z), Spread(s, device.Blocks{X: 1}, y.Slice(0, 0), x, z),
				SpreadTwice(s, device.Blocks{X: 1}, x.Slice(0, 64), z.Slice(0, 64)))
		}
		return err
	}
	r.Launch(steps(r.Stream))
	g, err := r.Stream.Device().Capture(steps)
	r.Launch(err)
	if err != nil {
		return
	}
	r.Launch(errors.Join(g.Launch(r.Stream), steps(r.Stream), g.Launch(r.Stream)))
	for range 4 * n {
		spreadOn(a, added)
		spreadOn(a, added)
		spreadOn(a[:64], added)
		spreadOn(a[:64], added)
	}
	check.Want(r, x, a...)
	r.Launch(g.Close())
}

// spreadOn is a step of spread on the host.
func spreadOn(x, added []uint32) {
	first := x[0]
	for i := range x {
		next := first
		if i+1 < len(x) {
			next = x[i+1]
		}
		x[i] += next + added[i]
	}
}
