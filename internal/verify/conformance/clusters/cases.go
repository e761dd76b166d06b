package clusters

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	cases := []check.Case{
		check.Struct[place]("index", indices),
		check.Struct[exchanged]("shared memory of others", exchanges),
		{Name: "halves of a barrier", Run: arrivals},
		{Name: "memory stays until all have left", Run: leaving},
		{Name: "more than 48 KB", Run: largest},
		{Name: "warps", Run: warpsIn},
		{Name: "a kernel without a word of it", Run: without},
		{Name: "sizes that do not fit", Run: misfits},
	}
	cases = slices.Concat(cases, atomicCases(), sendCases(), faultCases())
	for i := range cases {
		cases[i].Run = where(cases[i].Run)
	}
	return cases
}

// where runs a case on devices that have clusters, and skips it on others.
func where(run func(*check.Run)) func(*check.Run) {
	return func(r *check.Run) {
		if r.Device.Info().Limits.ClusterBlocks == 0 {
			r.Skip("the device has no clusters")
			return
		}
		run(r)
	}
}

func indices(r *check.Run) {
	for _, c := range []struct{ grid, cluster device.Dim }{
		{device.Dim{X: 6, Y: 1, Z: 1}, device.Dim{X: 2}},
		{device.Dim{X: 4, Y: 6, Z: 2}, device.Dim{X: 2, Y: 3, Z: 1}},
		{device.Dim{X: 2, Y: 2, Z: 4}, device.Dim{X: 1, Y: 2, Z: 4}},
		{device.Dim{X: 3, Y: 2, Z: 1}, device.Dim{}},
	} {
		out := check.Make[place](r, c.grid.Count())
		r.Launch(Places(r.Stream, device.Grid{Blocks: c.grid, Block: device.Dim{X: 40}, Cluster: c.cluster}, out))
		size := device.Dim{X: max(1, c.cluster.X), Y: max(1, c.cluster.Y), Z: max(1, c.cluster.Z)}
		for i, got := range check.Get(r, out) {
			check.Compare(r, fmt.Sprintf("block %d of %v in clusters of %v", i, c.grid, c.cluster), got, placeOf(i, c.grid, size))
		}
	}
}

func placeOf(i int, grid, c device.Dim) place {
	x, y, z := i%grid.X, i/grid.X%grid.Y, i/grid.X/grid.Y
	last := (x/c.X+1)*c.X - 1 + grid.X*((y/c.Y+1)*c.Y-1+grid.Y*((z/c.Z+1)*c.Z-1))
	return place{
		int32(x / c.X), int32(y / c.Y), int32(z / c.Z), int32(c.X), int32(c.Y), int32(c.Z),
		int32(x % c.X), int32(y % c.Y), int32(z % c.Z),
		int32(x%c.X + c.X*(y%c.Y+c.Y*(z%c.Z))), int32(c.Count()), int32(last),
	}
}

func exchanges(r *check.Run) {
	const blocks = 8
	in := make([]int64, blocks*size)
	for i := range in {
		in[i] = int64(i*i*7919%10007) + 1
	}
	out := check.Make[exchanged](r, len(in))
	g := check.Blocks(blocks, size)
	g.Shared = 8 * size
	r.Launch(Exchange(r.Stream, g, check.Upload(r, in...), out))
	for i, got := range check.Get(r, out) {
		check.Compare(r, fmt.Sprintf("thread %d", i), got, exchangedBy(in, i))
	}
}

// exchangedBy returns what a thread of the grid finds.
func exchangedBy(in []int64, global int) exchanged {
	const cluster = 4
	block, i := global/size, global%size
	first, rank := block/cluster*cluster, block%cluster
	of := func(rank int) []int64 { return in[(first+rank)*size:][:size] }
	next, before := of((rank+1)%cluster), of((rank+3)%cluster)
	e := exchanged{
		Read: next[size-1-i], Element: next[(i+1)%size], Field: next[0] + int64(i%3) + int64(int32(of(rank)[0])),
		Slice: total(next[i/2:]), Dynamic: 2 * next[i], Function: total(next[:4]), Copied: next[i/3],
		Written: -before[i], Swapped: int64(rank) + 1,
	}
	e.Guarded = of(min(rank+1, cluster-1))[i]
	e.GuardedSlice = e.Guarded
	for k := range cluster {
		e.Loop += of(k)[i] * int64(k+1)
		e.Added += total(of(k))
	}
	for _, x := range before {
		e.Maximum = max(e.Maximum, x)
	}
	return e
}

func arrivals(r *check.Run) {
	const blocks, cluster, rounds = 6, 3, 7
	x, want := check.Make[int32](r, blocks*32), make([]int32, blocks*32)
	for g := range want {
		block, i := g/32, g%32
		next := block/cluster*cluster + (block%cluster+1)%cluster
		for round := range rounds {
			want[g] = 3*want[g] + int32(32*next+31-i+round)
		}
	}
	g := check.Blocks(blocks, 32)
	g.Cluster.X = cluster
	r.Launch(Halves(r.Stream, g, rounds, x))
	check.Want(r, x, want...)
}

func leaving(r *check.Run) {
	const spin = 20
	want := make([]int32, 4)
	for rank := 1; rank < 4; rank++ {
		for i := range 64 {
			for round := range spin * rank {
				if i%5 != 4 {
					want[rank] += int32(100*((rank+round)%4) + (i+round)%64)
				}
			}
		}
		want[rank] *= 4 // clusters
	}
	x := check.Make[int32](r, 4)
	r.Launch(Leave(r.Stream, device.Blocks{X: 4, Y: 4}, spin, x))
	check.Want(r, x, want...)
}

func largest(r *check.Run) {
	if i := r.Device.Info(); i.Kind == "vulkan" && i.Limits.SharedPerBlock < 2*64<<10 {
		r.Skip("the device has less shared memory")
		return
	}
	want := make([]int32, 4*128)
	for g := range want {
		other := g/128 ^ 1
		for i := g % 128; i < 16<<10; i += 128 {
			want[g] += int32(i * (other + 1) % 1000)
		}
	}
	x := check.Make[int32](r, len(want))
	r.Launch(Large(r.Stream, device.Blocks{X: 4}, x))
	check.Want(r, x, want...)
}

func warpsIn(r *check.Run) {
	const blocks, threads = 6, 48
	in, want := make([]int32, blocks*threads), make([]int32, blocks*threads)
	for i := range in {
		in[i] = int32((i*37 + 11) % 101)
	}
	for i := range want {
		next := i/threads/3*3 + (i/threads%3+1)%3
		second := in[next*threads+32:][:16] // of the next block
		theirs := second[3] + slices.Min(second)
		for _, v := range second {
			theirs += v
		}
		first := i - i%threads%32
		want[i] = 10*theirs + slices.Max(in[first:min(first+32, i-i%threads+threads)])
	}
	out := check.Make[int32](r, len(in))
	r.Launch(Warps(r.Stream, device.Blocks{X: blocks}, check.Upload(r, in...), out))
	check.Want(r, out, want...)
}

func without(r *check.Run) {
	x := check.Make[int32](r, 100)
	r.Launch(Plain(r.Stream, device.Grid{Blocks: device.Dim{X: 4}, Block: device.Dim{X: 32}, Cluster: device.Dim{X: 2}}, x))
	want := make([]int32, 100)
	for i := range want {
		want[i] = 1
	}
	check.Want(r, x, want...)
}

func misfits(r *check.Run) {
	x := check.Make[int32](r, 512)
	stream, err := r.Device.NewStream()
	if err != nil {
		r.Wrong("stream: %w", err)
		return
	}
	defer stream.Close()
	for _, launch := range []func() error{
		func() error { return Large(stream, device.Blocks{X: 3}, x) },
		func() error {
			g := check.Blocks(8, size)
			g.Cluster.X = 2 // it is made for 4
			return Exchange(stream, g, check.Make[int64](r, 8*size), check.Make[exchanged](r, 8*size))
		},
		func() error {
			g := check.Blocks(64, 4)
			g.Cluster.X = 32
			return Plain(stream, g, x)
		},
	} {
		if err := launch(); !errors.Is(err, device.ErrGrid) {
			r.Wrong("a launch with %v, want one that does not fit", err)
		}
		_ = stream.Synchronize(r.Context) // returns it again
	}
}

func faultCases() []check.Case {
	cases := []check.Case{{Name: "faults: no such block", Run: func(r *check.Run) {
		for _, rank := range []int{2, -1, 1 << 40} {
			x := check.Make[int32](r, 128)
			r.Launch(Reach(r.Stream, device.Blocks{X: 4}, 70, rank, 0, x))
			r.Fault(fault("reach", "reach", fmt.Sprintf("gpu.Peer: block %d of a cluster of 2", rank), [2]int{2, 6}))
			again(r)
			r.Launch(Look(r.Stream, device.Blocks{X: 4}, 70, rank, x))
			r.Fault(fault("look", "look", fmt.Sprintf("gpu.Peer: block %d of a cluster of 2", rank), [2]int{2, 6}))
			again(r)
		}
	}}, {Name: "faults: no such element", Run: func(r *check.Run) {
		r.Launch(Reach(r.Stream, device.Blocks{X: 4}, 70, 1, 32, check.Make[int32](r, 128)))
		r.Fault(fault("reach", "beyond", "index out of range [32] with length 32", [2]int{2, 6}))
		again(r)
	}}}
	for kind, name := range []string{"cluster barrier", "halves of a cluster barrier", "arrivals in another block's memory", "a flag in another block's memory"} {
		for _, many := range []int{1, 64} {
			text := "waits: " + name
			if many > 1 {
				text += ", the whole block has left"
			}
			cases = append(cases, check.Case{Name: text, Run: func(r *check.Run) {
				if i := r.Device.Info(); kind >= 2 && i.Kind == "vulkan" && !i.GPU {
					r.Skip("the device runs the subgroups of a block one after another")
					return
				}
				r.Launch(Beside(r.Stream, device.Blocks{X: 8}, kind, 128, many, check.Make[int32](r, 512)))
				if want := fault("beside", "beside", "left", [2]int{2, 0}); many == 1 {
					r.Fault(want)
				} else {
					r.FaultOfAny(want)
				}
				again(r)
			}})
		}
	}
	return cases
}

//go:embed faults.go
var faultsText string

// fault returns the fault of a thread, named by block and index.
func fault(kernel, mark, message string, at [2]int) device.Fault {
	return device.Fault{
		Kernel: kernel, File: "faults.go", Line: check.Line(faultsText, mark), Message: message,
		Block: [3]int{at[0]}, Thread: [3]int{at[1]},
	}
}

// again shows that the stream works after a fault.
func again(r *check.Run) {
	x := check.Make[int32](r, 64)
	r.Launch(Plain(r.Stream, check.Blocks(1, 64), x))
	if got := check.Get(r, x); got[63] != 1 {
		r.Wrong("after a fault the stream's next launch leaves %d", got[63])
	}
}
