package faults

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed waits.go
var waitsText string

// waitCases are about threads that wait for one that has faulted: for each kind of wait one. Threads of
// other blocks wait as well as those beside it.
func waitCases() []check.Case {
	const who = 2*64 + 35
	grid := check.Blocks(4, 64)
	// far is thread who's fault.
	far := func(kernel, mark, message string) device.Fault {
		f := fault(kernel, "waits.go", mark, message)
		f.Block, f.Thread = [3]int{2}, [3]int{35}
		return f
	}
	past := "index out of range [256] with length 256"
	past3 := "index out of range [259] with length 256"
	cases := []check.Case{
		{Name: "waits: memory of the block", Run: concurrent(func(r *check.Run) {
			x := check.Make[int32](r, 256)
			r.Launch(BesideShared(r.Stream, grid.Blocks, who, x))
			r.Fault(far("besideShared", "beside shared", "before it is ready"))
			again(r)
		})},
		{Name: "waits: sync/atomic", Run: concurrent(func(r *check.Run) {
			if cannot(r, r.Device.Info().Kind == "cpu", "nobody can stop plain Go") {
				return
			}
			r.Launch(BesideStandard(r.Stream, grid, who, check.Make[int32](r, 2), check.Make[int32](r, 256)))
			r.Fault(far("besideStandard", "beside standard", past3))
			again(r)
		})},
		{Name: "waits: all blocks", Run: func(r *check.Run) {
			if cannot(r, !r.Device.Info().Limits.Cooperative, "the device has no cooperative launches") {
				return
			}
			for _, turn := range []int{0, 4} {
				r.Launch(BesideGrid(r.Stream, grid, who, turn, check.Make[int32](r, 256)))
				r.Fault(far("besideGrid", "beside grid", []string{past, "", "", "", "index out of range [260] with length 256"}[turn]))
				again(r)
			}
		}},
		{Name: "waits: one for the next", Run: apart(handOvers)},
		{Name: "waits: for each of those before", Run: apart(lookBacks)},
		{Name: "waits: arrivals", Run: func(r *check.Run) {
			if i := r.Device.Info(); cannot(r, i.Kind == "cuda" && i.Capability.Major < 9, "the device has no barriers that count arrivals") {
				return
			}
			r.Launch(BesideArrivals(r.Stream, grid.Blocks, who, check.Make[int32](r, 256)))
			r.Fault(far("besideArrivals", "beside arrivals", past))
			again(r)
		}},
	}
	for kind, name := range []string{"a look at a barrier", "a look at a barrier, with work", "a look at a barrier, kept in a variable"} {
		cases = append(cases, check.Case{Name: "waits: " + name, Run: func(r *check.Run) {
			if i := r.Device.Info(); cannot(r, i.Kind == "cuda" && i.Capability.Major < 9, "the device has no barriers that count arrivals") {
				return
			}
			x := check.Make[int32](r, 256)
			r.Launch(BesideDone(r.Stream, grid.Blocks, kind, -1, x))
			if got := check.Get(r, x); got[0] != 3 || got[255] != 3 {
				r.Wrong("without a fault threads 0 and 255 leave %d and %d, want 3", got[0], got[255])
			}
			r.Launch(BesideDone(r.Stream, grid.Blocks, kind, who, x))
			r.Fault(far("besideDone", "beside done", past))
			again(r)
		}})
	}
	for kind, name := range []string{"load", "load after other work", "load of the system", "load in a function", "load kept in a variable"} {
		cases = append(cases, check.Case{Name: "waits: " + name, Run: concurrent(func(r *check.Run) {
			r.Launch(BesideLoad(r.Stream, grid, kind, who, check.Make[int32](r, 1), check.Make[int32](r, 256)))
			r.Fault(far("besideLoad", "beside load", past))
			again(r)
		})})
	}
	for kind, name := range []string{"lock", "exchange", "addition of nothing", "maximum", "or", "barrier made by hand"} {
		cases = append(cases, check.Case{Name: "waits: " + name, Run: concurrent(func(r *check.Run) {
			flags := check.Upload[int32](r, 0, 1, 0) // somebody has the lock
			r.Launch(BesideChange(r.Stream, grid, kind, who, flags, check.Make[int32](r, 256)))
			r.Fault(far("besideChange", "beside change", past3))
			again(r)
		})})
	}
	return cases
}

// cannot skips a case where a condition holds. It returns the condition.
func cannot(r *check.Run, condition bool, why string) bool {
	if condition {
		r.Skip(why)
	}
	return condition
}

// apart returns the case f for devices on which a thread runs while another one of its warp waits for it.
func apart(f func(*check.Run)) func(*check.Run) {
	return func(r *check.Run) {
		if !cannot(r, r.Device.Info().Kind == "vulkan", "Vulkan does not promise that a thread runs while another one of its subgroup waits") {
			f(r)
		}
	}
}

// concurrent returns the case f for devices on which a thread runs while others of its block wait for it. Mesa's llvmpipe runs the subgroups of a
// block one after another, each up to the next barrier: one that waits would wait for ever.
func concurrent(f func(*check.Run)) func(*check.Run) {
	return func(r *check.Run) {
		i := r.Device.Info()
		if !cannot(r, i.Kind == "vulkan" && !i.GPU, "the device runs the subgroups of a block one after another") {
			f(r)
		}
	}
}

// handOvers lets each thread wait for the next one, of this block or of the next, and one of them fault.
func handOvers(r *check.Run) {
	const n = 4 * 16
	x := make([]int32, n+1)
	x[n] = 1
	d := check.Upload(r, x...)
	r.Launch(HandOver(r.Stream, check.Blocks(4, 16), d, -1))
	for i := range x {
		x[i] = int32(n + 1 - i)
	}
	check.Want(r, d, x...)
	clear(x[:n])
	d = check.Upload(r, x...)
	r.Launch(HandOver(r.Stream, check.Blocks(4, 16), d, 40))
	want := fault("handOver", "waits.go", "hand over", "dropped")
	want.Block, want.Thread = [3]int{2}, [3]int{8}
	r.Fault(want)
	again(r)
}

// lookBacks lets each thread wait for all before it, in a loop that counts, and one of them fault.
func lookBacks(r *check.Run) {
	const n = 4 * 16
	x := check.Make[int32](r, n)
	r.Launch(LookBack(r.Stream, check.Blocks(4, 16), x, -1))
	want := make([]int32, n)
	for i := range want {
		want[i] = 1<<16 | int32(i+1)
	}
	check.Want(r, x, want...)
	r.Launch(LookBack(r.Stream, check.Blocks(4, 16), check.Make[int32](r, n), 20))
	f := fault("lookBack", "waits.go", "look back", "skipped")
	f.Block, f.Thread = [3]int{1}, [3]int{4}
	r.Fault(f)
	again(r)
}
