package words

import (
	"errors"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//gpu:kernel
func count(t gpu.Thread, n []int32) { gpu.AtomicAdd(&n[0], 1) }

//gpu:kernel
//gpu:block 8,4,2
func fixed(t gpu.Thread, n []int32) {
	if t.BlockDimX() == 8 && t.BlockDimY() == 4 && t.BlockDimZ() == 2 {
		gpu.AtomicAdd(&n[0], 1)
	}
}

//gpu:kernel
func nothing(t gpu.Thread) {}

//gpu:kernel
func triple(t gpu.Thread, x []int32) {
	if i := t.GlobalX(); i < len(x) {
		x[i] = x[i]*3 + 1
	}
}

//gpu:kernel
func rank(t gpu.Thread, x []int32, by int32) {
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * t.BlockDimX() {
		x[i] += by
	}
}

//gpu:kernel
func lengths(t gpu.Thread, a, b []int32, out []int) {
	out[0], out[1], out[2] = len(a), cap(a), len(b)
}

func launchCases() []check.Case {
	cases := []check.Case{
		{Name: "launch of nothing", Run: func(r *check.Run) {
			r.Launch(Nothing(r.Stream, check.Threads(1)))
			r.Wait()
		}},
		{Name: "fixed block", Run: func(r *check.Run) {
			n := check.Make[int32](r, 1)
			r.Launch(Fixed(r.Stream, device.Blocks{X: 3, Y: 2, Z: 2}, n))
			check.Want(r, n, 3*2*2*64)
		}},
		{Name: "launches in order", Run: inOrder},
		{Name: "parts of a buffer", Run: parts},
		{Name: "empty slice", Run: func(r *check.Run) {
			x, out := check.Make[int32](r, 4), check.Make[int](r, 3)
			r.Launch(Lengths(r.Stream, check.Threads(1), x.Slice(2, 2), check.Make[int32](r, 0), out))
			check.Want(r, out, 0, 0, 0)
			r.Launch(Lengths(r.Stream, check.Threads(1), x.Slice(1, 3), x, out))
			check.Want(r, out, 2, 2, 4)
		}},
		{Name: "two streams", Run: twoStreams},
		refused("too many threads", func(r *check.Run) error { return Nothing(r.Stream, check.Threads(1025)) }, device.ErrGrid),
		refused("a negative number of blocks", func(r *check.Run) error { return Nothing(r.Stream, check.Blocks(-1, 32)) }, device.ErrGrid),
		{Name: "no blocks", Run: func(r *check.Run) { r.Launch(Nothing(r.Stream, check.Blocks(0, 32))) }},
		refused("a negative block", func(r *check.Run) error { return Nothing(r.Stream, check.Threads(-1)) }, device.ErrGrid),
		refused("too many threads along z", func(r *check.Run) error {
			return Nothing(r.Stream, device.Grid{Blocks: device.Dim{X: 1}, Block: device.Dim{X: 1, Z: 65}})
		}, device.ErrGrid),
		refused("slice of no buffer", func(r *check.Run) error { return Count(r.Stream, check.Threads(1), device.Slice[int32]{}) }, device.ErrNilBuffer),
		refused("slice out of range", func(r *check.Run) error {
			return Count(r.Stream, check.Threads(1), check.Make[int32](r, 4).Slice(2, 5))
		}, device.ErrRange),
	}
	for _, g := range []struct {
		name          string
		blocks, block device.Dim
	}{
		{"one thread", device.Dim{X: 1}, device.Dim{X: 1}},
		{"the largest block", device.Dim{X: 2}, device.Dim{X: 1024}},
		{"a block of 33 threads", device.Dim{X: 5}, device.Dim{X: 33}},
		{"a flat block", device.Dim{X: 3}, device.Dim{X: 16, Y: 16}},
		{"a deep block", device.Dim{X: 2}, device.Dim{X: 1, Y: 1, Z: 64}},
		{"a block in three dimensions", device.Dim{X: 2, Y: 3, Z: 4}, device.Dim{X: 5, Y: 3, Z: 2}},
		{"many blocks", device.Dim{X: 3000}, device.Dim{X: 1}},
		{"blocks along y and z", device.Dim{X: 1, Y: 50, Z: 7}, device.Dim{X: 3}},
	} {
		cases = append(cases, check.Case{Name: "grid: " + g.name, Run: func(r *check.Run) {
			n := check.Make[int32](r, 1)
			r.Launch(Count(r.Stream, device.Grid{Blocks: g.blocks, Block: g.block}, n))
			check.Want(r, n, int32(g.blocks.Count()*g.block.Count()))
		}})
	}
	return cases
}

// refused is a launch that must fail, after which the stream works.
func refused(name string, launch func(*check.Run) error, want error) check.Case {
	return check.Case{Name: "refused: " + name, Run: func(r *check.Run) {
		if err := launch(r); !errors.Is(err, want) {
			r.Wrong("got %v, want an error that is %q", err, want)
		}
		if err := r.Stream.Synchronize(r.Context); !errors.Is(err, want) {
			r.Wrong("synchronize: got %v, want an error that is %q", err, want)
		}
		x := check.Upload[int32](r, 1, 2)
		r.Launch(Triple(r.Stream, check.Threads(4), x))
		check.Want(r, x, 4, 7)
	}}
}

func inOrder(r *check.Run) {
	x := check.Upload[int32](r, 1, 2, 3)
	for range 7 {
		r.Launch(Triple(r.Stream, check.Threads(3), x))
		r.Launch(Rank(r.Stream, check.Threads(2), x, 5))
	}
	want := []int32{1, 2, 3}
	for range 7 {
		for i := range want {
			want[i] = want[i]*3 + 1 + 5
		}
	}
	check.Want(r, x, want...)
}

func parts(r *check.Run) {
	x := check.Make[int32](r, 10)
	r.Launch(Rank(r.Stream, check.Threads(2), x.Slice(2, 7), 1))
	r.Launch(Rank(r.Stream, check.Threads(2), x.Slice(2, 7).Slice(1, 3), 10))
	r.Launch(Rank(r.Stream, check.Threads(2), x.Slice(9, 10), 100))
	check.Want(r, x, 0, 0, 1, 11, 11, 1, 1, 0, 0, 100)
}

func twoStreams(r *check.Run) {
	other, err := r.Device.NewStream()
	if err != nil {
		r.Wrong("%w", err)
		return
	}
	x, y := check.Make[int32](r, 1000), check.Make[int32](r, 1000)
	r.Wait()
	for i := range int32(10) {
		r.Launch(Rank(r.Stream, check.Blocks(2, 64), x, i))
		r.Launch(Rank(other, check.Blocks(2, 64), y, 2*i))
	}
	if err := errors.Join(other.Synchronize(r.Context), other.Close()); err != nil {
		r.Wrong("the other stream: %w", err)
	}
	check.Want(r, x, slices.Repeat([]int32{45}, 1000)...)
	check.Want(r, y, slices.Repeat([]int32{90}, 1000)...)
}
