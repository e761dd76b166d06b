package clusters

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// atomicCases are about atomic operations on another block's memory.
func atomicCases() []check.Case {
	return []check.Case{
		check.Struct[pooled[int32]]("atomic", pools(Pool[int32])).Of("int32"),
		check.Struct[pooled[uint32]]("atomic", pools(Pool[uint32])).Of("uint32"),
		check.Struct[pooled[int64]]("atomic", pools(Pool[int64])).Of("int64"),
		check.Struct[pooled[uint64]]("atomic", pools(Pool[uint64])).Of("uint64"),
		check.Struct[pooled[float32]]("atomic", pools(Pool[float32])).Of("float32"),
		check.Struct[pooled[float64]]("atomic", pools(Pool[float64])).Of("float64"),
		check.Struct[merged[int32]]("atomic", merges(Merge[int32])).Of("int32 bits"),
		check.Struct[merged[uint32]]("atomic", merges(Merge[uint32])).Of("uint32 bits"),
		check.Struct[merged[int64]]("atomic", merges(Merge[int64])).Of("int64 bits"),
		check.Struct[merged[uint64]]("atomic", merges(Merge[uint64])).Of("uint64 bits"),
	}
}

func pools[T gpu.Number](launch func(*device.Stream, device.Blocks, device.Slice[pooled[T]], device.Slice[[3]T]) error) func(*check.Run) {
	return func(r *check.Run) {
		const clusters, n = 3, members * tries
		out, olds := check.Make[pooled[T]](r, clusters), check.Make[[3]T](r, clusters*members)
		r.Launch(launch(r.Stream, device.Blocks{X: 4 * clusters}, out, olds))
		got, returned := check.Get(r, out), check.Get(r, olds)
		sum := T(n * (n - 1) / 2)
		for c := range clusters {
			want := pooled[T]{Add: n, Counted: sum, Min: 9000 - (n - 1), Max: 3 * (n - 1), Swapped: 3 * n, Exchanged: got[c].Exchanged}
			want.Sub = 3000
			want.Sub -= 2 * n
			check.Compare(r, "what is left", got[c], want)
			var added, exchanged, most T
			for _, old := range returned[c*members:][:members] {
				added, exchanged, most = added+old[0], exchanged+old[1], max(most, old[2])
			}
			if added != sum || exchanged+got[c].Exchanged != sum+n || most > want.Max {
				r.Wrong("additions returned %v in all, want %v, exchanges %v and left %v, want %v, maxima %v", added, sum, exchanged, got[c].Exchanged, sum+n, most)
			}
		}
	}
}

func merges[T gpu.Integer](launch func(*device.Stream, device.Blocks, device.Slice[merged[T]], device.Slice[T]) error) func(*check.Run) {
	return func(r *check.Run) {
		const clusters = 3
		out := check.Make[merged[T]](r, clusters)
		r.Launch(launch(r.Stream, device.Blocks{X: 4 * clusters}, out, check.Make[T](r, clusters*members)))
		want := merged[T]{And: 0x7fffffff &^ (1<<20 - 1), Or: 1<<20 - 1}
		for i := range members {
			want.Xor ^= T(i * i)
		}
		want.AndOld, want.OrOld, want.XorOld = want.And, want.Or, want.Xor
		for _, got := range check.Get(r, out) {
			check.Compare(r, "what is left", got, want)
		}
	}
}
