package collectives

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/gpu/collective"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// capacity is the number of elements that a block can sort. Mesa's llvmpipe ends the loops of a thread after 65,535
// iterations; one thread needs 45,000 for the steps of two sorts.
const capacity = 500

// sortBlocks sorts n elements in each block, and moves their indices with them to order.
//
//gpu:kernel
//gpu:instance SortInts = sortBlocks[int32]
//gpu:instance SortFloats = sortBlocks[float64]
func sortBlocks[T int32 | float64](t gpu.Thread, n int, x []T, order []uint16) {
	keys, places := gpu.Shared[[capacity]T](t), gpu.Shared[[capacity]uint16](t)
	x, order = x[t.BlockX()*n:][:n], order[t.BlockX()*n:][:n]
	for i := t.ThreadX(); i < n; i += t.BlockDimX() {
		keys[i], places[i] = x[i], uint16(i)
	}
	t.Sync()
	collective.BlockSortPairs(t, keys[:n], places[:])
	for i := t.ThreadX(); i < n; i += t.BlockDimX() {
		order[i], keys[i] = places[i], x[i]
	}
	t.Sync()
	collective.BlockSort(t, keys[:n])
	for i := t.ThreadX(); i < n; i += t.BlockDimX() {
		x[i] = keys[i]
	}
}

// sorter is a launcher of sortBlocks.
type sorter[T cmp.Ordered] func(s *device.Stream, g device.Grid, n int, x device.Slice[T], order device.Slice[uint16]) error

// sorts runs sortBlocks with distinct keys, one of which is special.
func sorts[T int32 | float64](launch sorter[T], special T) func(r *check.Run) {
	return func(r *check.Run) {
		for _, n := range []int{1, 2, 3, 31, 64, 65, 257, capacity} {
			const blocks = 2
			var x, sorted []T
			var order []uint16
			for b := range blocks {
				part := make([]T, n)
				for i := range part {
					part[i] = T((i*7919+b*31)%6007) - 3000
				}
				part[n/2] = special
				by := make([]uint16, n)
				for i := range by {
					by[i] = uint16(i)
				}
				slices.SortFunc(by, func(i, j uint16) int { return cmp.Compare(part[i], part[j]) })
				x, order = append(x, part...), append(order, by...)
				sorted = append(sorted, slices.Sorted(slices.Values(part))...)
			}
			for _, threads := range []int{64, 20, 1} {
				d, o := check.Upload(r, x...), check.Make[uint16](r, len(x))
				r.Launch(launch(r.Stream, check.Blocks(blocks, threads), n, d, o))
				check.Want(r, d, sorted...)
				check.Want(r, o, order...)
			}
		}
	}
}

//gpu:kernel
//gpu:block 96
func exchange(t gpu.Thread, x [][4]int32, blocked, back [][4]int32) {
	buffer := gpu.Shared[[4 * 96]int32](t)
	i := t.GlobalX()
	items := collective.StripedToBlocked(t, x[i], buffer[:])
	blocked[i] = items
	back[i] = collective.BlockedToStriped(t, items, buffer[:])
}

// exchanges compares the elements of each thread with their places in both arrangements.
func exchanges(r *check.Run) {
	const threads, blocks = 96, 2
	var striped, blocked [][4]int32
	for b := range int32(blocks) {
		for i := range int32(threads) {
			var s, c [4]int32
			for k := range int32(4) {
				s[k], c[k] = b*1000+k*threads+i, b*1000+i*4+k
			}
			striped, blocked = append(striped, s), append(blocked, c)
		}
	}
	got, back := check.Make[[4]int32](r, len(striped)), check.Make[[4]int32](r, len(striped))
	r.Launch(Exchange(r.Stream, device.Blocks{X: blocks}, check.Upload(r, striped...), got, back))
	check.Want(r, got, blocked...)
	check.Want(r, back, striped...)
}
