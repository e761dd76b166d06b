package threads

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Cases returns the cases of the package.
func Cases() []check.Case {
	return []check.Case{
		check.Struct[place]("index", indices),
		check.Struct[exchanged]("shared memory", exchanges),
		{Name: "functions with shared memory, called repeatedly", Run: totalized},
		check.Struct[together]("block", cooperations),
		{Name: "counts of 64 bits in shared memory", Run: histograms},
		check.Struct[warped]("warp", warpOperations),
		check.Struct[reduced]("warp of 32-bit integers", reductionCase),
		check.Struct[someLanes]("some lanes of a warp", exchangesAmong),
		{Name: "sets of lanes that overlap", Run: handsOn},
		{Name: "a set of lanes without the thread", Run: outsiders},
		{Name: "tiles of a matrix", Run: turns},
		{Name: "outer products", Run: outers},
		check.Struct[crook]("warps that are not full or go their own ways", crookedCase),
		{Name: "threads that left are not waited for", Run: thinOut},
		{Name: "blocks that settle", Run: settles},
		check.Struct[added[int32]]("atomic", additions(AddInt32)).Of("int32"),
		check.Struct[added[uint32]]("atomic", additions(AddUint32)).Of("uint32"),
		check.Struct[added[int64]]("atomic", additions(AddInt64)).Of("int64"),
		check.Struct[added[uint64]]("atomic", additions(AddUint64)).Of("uint64"),
		check.Struct[added[float32]]("atomic", additions(AddFloat32)).Of("float32"),
		check.Struct[added[float64]]("atomic", additions(AddFloat64)).Of("float64"),
		check.Struct[bitwise[int32]]("atomic", combinations(Combine32)).Of("int32 bits"),
		check.Struct[bitwise[uint64]]("atomic", combinations(Combine64)).Of("uint64 bits"),
		check.Struct[smallAtomics[int8]]("atomic", smallAtomicsCase[int8]).Of("int8"),
		check.Struct[smallAtomics[uint8]]("atomic", smallAtomicsCase[uint8]).Of("uint8"),
		check.Struct[smallAtomics[int16]]("atomic", smallAtomicsCase[int16]).Of("int16"),
		check.Struct[smallAtomics[uint16]]("atomic", smallAtomicsCase[uint16]).Of("uint16"),
		check.Struct[anywhere[int8]]("atomic anywhere", anywhereCase[int8]).Of("int8"),
		check.Struct[anywhere[uint16]]("atomic anywhere", anywhereCase[uint16]).Of("uint16"),
		check.Struct[anywhere[int32]]("atomic anywhere", anywhereCase[int32]).Of("int32"),
		check.Struct[anywhere[uint32]]("atomic anywhere", anywhereCase[uint32]).Of("uint32"),
		check.Struct[anywhere[int64]]("atomic anywhere", anywhereCase[int64]).Of("int64"),
		check.Struct[anywhere[uint64]]("atomic anywhere", anywhereCase[uint64]).Of("uint64"),
		check.Struct[anywhere[float32]]("atomic anywhere", anywhereCase[float32]).Of("float32"),
		check.Struct[anywhere[float64]]("atomic anywhere", anywhereCase[float64]).Of("float64"),
		check.Struct[bitsAnywhere[uint8]]("atomic anywhere", bitsAnywhereCase[uint8]).Of("uint8 bits"),
		check.Struct[bitsAnywhere[int16]]("atomic anywhere", bitsAnywhereCase[int16]).Of("int16 bits"),
		check.Struct[bitsAnywhere[int32]]("atomic anywhere", bitsAnywhereCase[int32]).Of("int32 bits"),
		check.Struct[bitsAnywhere[uint64]]("atomic anywhere", bitsAnywhereCase[uint64]).Of("uint64 bits"),
		{Name: "sync/atomic, orders and scopes", Run: standardAtomics},
		{Name: "the last block adds up", Run: lastBlocks},
		{Name: "the last block adds up", Type: "uint8", Run: lastsOf[uint8]},
		{Name: "the last block adds up", Type: "int16", Run: lastsOf[int16]},
		{Name: "tickets are unique", Run: tickets},
		{Name: "elements that are read by another name", Run: chained},
		{Name: "differences of elements", Run: different},
		{Name: "elements from one on", Run: behind},
		{Name: "lanes of a block of two dimensions", Run: numbered},
		{Name: "more shared memory than can be declared", Run: roomy},
		{Name: "fields without a name", Run: unnamedFields},
		{Name: "barriers beside conditions", Run: swept},
		{Name: "windows of a slice", Run: slid},
		{Name: "elements of 16 bytes are copied", Run: fetched},
		{Name: "changes before branches", Run: repeats},
		{Name: "changes of threads that end before others", Run: parts},
		{Name: "addresses that are found", Run: searched},
		{Name: "addresses after barriers", Run: crossed},
		{Name: "kernels that start before the preceding one is done", Run: overlapping},
	}
}

// numbers returns n numbers without much of a pattern, from 0 to 999.
func numbers(n int) []int64 {
	x := make([]int64, n)
	state := uint32(12345)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = int64(state>>8) % 1000
	}
	return x
}

func indices(r *check.Run) {
	for _, g := range [][2][3]int{{{1, 1, 1}, {1, 1, 1}}, {{5, 1, 1}, {64, 1, 1}}, {{3, 2, 4}, {4, 5, 2}}, {{1, 7, 1}, {33, 1, 3}}, {{2, 1, 3}, {1, 64, 2}}} {
		blocks, block := dim(g[0]), dim(g[1])
		out := check.Make[place](r, blocks.Count()*block.Count())
		r.Launch(Places(r.Stream, device.Grid{Blocks: blocks, Block: block}, out))
		for i, got := range check.Get(r, out) {
			check.Compare(r, fmt.Sprintf("thread %d of %v", i, g), got, wanted(i, g[0], g[1]))
		}
	}
}

func dim(n [3]int) device.Dim { return device.Dim{X: n[0], Y: n[1], Z: n[2]} }

func exchanges(r *check.Run) {
	in := numbers(3 * size)
	out := check.Make[exchanged](r, len(in))
	r.Launch(Exchange(r.Stream, device.Blocks{X: 3}, check.Upload(r, in...), out))
	got := check.Get(r, out)
	for b := range 3 {
		for i, want := range exchangedBlock(in[b*size : (b+1)*size]) {
			check.Compare(r, fmt.Sprintf("thread %d of block %d", i, b), got[b*size+i], want)
		}
	}
}

func cooperations(r *check.Run) {
	for _, n := range []int{0, 1, 4, 7, 13} {
		in := numbers(2*size + n)[n:]
		out := check.Make[together](r, len(in))
		r.Launch(Cooperate(r.Stream, device.Blocks{X: 2}, n, check.Upload(r, in...), out))
		got := check.Get(r, out)
		for b := range 2 {
			for i, want := range cooperatedBlock(n, in[b*size:(b+1)*size]) {
				check.Compare(r, fmt.Sprintf("n=%d thread %d of block %d", n, i, b), got[b*size+i], want)
			}
		}
	}
}

func histograms(r *check.Run) {
	in := numbers(2 * size)
	out, want := check.Make[int64](r, len(in)), make([]int64, len(in))
	r.Launch(Histogram(r.Stream, device.Blocks{X: 2}, check.Upload(r, in...), out))
	for i := range want {
		for _, x := range in[i/size*size:][:size] {
			if x%8 == int64(i%size%8) {
				want[i]++
			}
		}
	}
	check.Want(r, out, want...)
}

func warpOperations(r *check.Run) {
	in := numbers(256)
	out := check.Make[warped](r, len(in))
	r.Launch(Warps(r.Stream, check.Blocks(2, 128), check.Upload(r, in...), out))
	got := check.Get(r, out)
	for from := 0; from < len(in); from += 32 {
		for i, want := range warpedWarp(in[from : from+32]) {
			for _, x := range in[from/128*128:][:128] {
				want.BlockSum += x
			}
			check.Compare(r, fmt.Sprintf("lane %d of warp %d", i, from/32), got[from+i], want)
		}
	}
}

func thinOut(r *check.Run) {
	for _, n := range []int{1, 5, 33, 64} {
		out, want := check.Make[int32](r, 128), make([]int32, 128)
		for i := range n {
			want[i] = int32((n-1-i)*(n-1-i)) + 1
			want[64+i] = want[i]
		}
		r.Launch(Thin(r.Stream, check.Blocks(2, 64), n, out))
		check.Want(r, out, want...)
	}
}
