package collective

import (
	"cmp"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// BlockSort sorts x in ascending order. x may have any length, and is usually in shared memory. NaNs come first. The
// threads of the block pass the same slice. They must call Sync between their last write to x and the call of BlockSort.
// The algorithm is a bitonic merge sort (K. E. Batcher, "Sorting networks and their applications", 1968), with len(x)
// log²(len(x)) / 4 comparisons.
func BlockSort[T cmp.Ordered](t gpu.Thread, x []T) {
	for run := 2; run < 2*len(x); run *= 2 {
		for d := run - 1; d > 0; d = halved(d, run) {
			for i := index(t); i < len(x); i += threads(t) {
				if j := i ^ d; j > i && j < len(x) && cmp.Less(x[j], x[i]) {
					x[i], x[j] = x[j], x[i]
				}
			}
			t.Sync()
		}
	}
}

// BlockSortPairs sorts keys like BlockSort, and moves the values with their keys. values must be at least as long as
// keys. The order of values with equal keys is unspecified.
func BlockSortPairs[K cmp.Ordered, V any](t gpu.Thread, keys []K, values []V) {
	for run := 2; run < 2*len(keys); run *= 2 {
		for d := run - 1; d > 0; d = halved(d, run) {
			for i := index(t); i < len(keys); i += threads(t) {
				if j := i ^ d; j > i && j < len(keys) && cmp.Less(keys[j], keys[i]) {
					keys[i], keys[j] = keys[j], keys[i]
					values[i], values[j] = values[j], values[i]
				}
			}
			t.Sync()
		}
	}
}

// halved returns the distance of the comparisons after those at distance d, in the merge of sorted runs into runs of
// the given length. The first comparisons, at distance run-1, mirror the second half of the run; the others halve the
// distance: run/4, run/8 and so on. In all comparisons the smaller element moves to the lower index, so that elements
// beyond the end of the slice need not exist.
func halved(d, run int) int {
	if d == run-1 {
		return run / 4
	}
	return d / 2
}
