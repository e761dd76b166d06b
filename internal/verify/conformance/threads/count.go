package threads

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// additions returns a run of a kernel that is addUp for some type.
func additions[T int32 | uint32 | int64 | uint64 | float32 | float64](launch func(*device.Stream, device.Grid, device.Slice[added[T]], device.Slice[int32]) error) func(*check.Run) {
	return func(r *check.Run) {
		const n = 300
		start := added[T]{Sub: 1000, Min: 5000}
		m, seen := check.Upload(r, start), check.Make[int32](r, n)
		r.Launch(launch(r.Stream, device.Cover(n, 100), m, seen))
		want := added[T]{Add: n, Sub: 1000, Min: 1000 - (n - 1), Max: (n - 1) * 3, Exchanged: 77, Swapped: 3 * n, Stored: 9}
		want.Sub -= n
		want.Sub -= n
		for i := 0; i < n; i += 3 {
			want.Counted += T(i)
		}
		check.Compare(r, "all", check.Get(r, m)[0], want)
		check.Want(r, seen, slices.Repeat([]int32{1}, n)...)
	}
}

// combinations returns a run of a kernel that is combine for some type.
func combinations[T int32 | uint64](launch func(*device.Stream, device.Grid, device.Slice[bitwise[T]]) error) func(*check.Run) {
	return func(r *check.Run) {
		const n = 200
		want := bitwise[T]{And: ^T(0), ClearBits: ^T(0)}
		m := check.Upload(r, want)
		r.Launch(launch(r.Stream, device.Cover(n, 50), m))
		for i := T(0); i < n; i++ {
			want.And &= ^(i & 0x15)
			want.Or |= i << 3
			want.Xor ^= i * i
			want.SetBits |= 1 << (i % 31)
			want.ClearBits &= ^(1 << (i % 13))
		}
		check.Compare(r, "all", check.Get(r, m)[0], want)
	}
}

func standardAtomics(r *check.Run) {
	const n = 128
	counters, flags, data := check.Make[int32](r, 5), check.Make[uint32](r, 1), check.Make[int64](r, 1)
	r.Launch(Standard(r.Stream, device.Cover(n, 64), counters, flags, data))
	check.Want(r, counters, 2*n, 1, 1, n, n-1)
	check.Want(r, flags, 1<<32-1)
	check.Want(r, data, n*(n-1)/2)
}

func lastBlocks(r *check.Run) {
	const n = 40
	sum := check.Make[int64](r, 1)
	r.Launch(LastBlock(r.Stream, check.Blocks(n, 32), check.Make[int64](r, n), check.Make[int32](r, 1), sum))
	check.Want(r, sum, 7*n*(n-1)/2)
}

func tickets(r *check.Run) {
	const n = 200
	head, taken := check.Make[uint32](r, 1), check.Make[int32](r, 3*n)
	r.Launch(Queue(r.Stream, check.Blocks(5, n/5), head, taken))
	check.Want(r, head, 3*n)
	check.Want(r, taken, slices.Repeat([]int32{1}, 3*n)...)
}
