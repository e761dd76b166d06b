package collective

import "github.com/gopherwarp/gopherwarp/gpu"

// BlockReduce returns the combination of v over the threads of the block, in order of the threads. All
// threads receive the same bits.
func BlockReduce[O Op[T], T gpu.Number](t gpu.Thread, v T) T {
	var op O
	parts := gpu.Shared[[gpu.WarpSize]T](t)
	if v = combineUp[O](t, v); t.Lane() == 0 {
		parts[t.Warp()] = v
	}
	t.Sync()
	total := parts[0]
	for w := 1; w < warps(t); w++ {
		total = op.Combine(total, parts[w])
	}
	t.Sync()
	return total
}

// BlockScan returns the inclusive scan of v over the threads of the block. The first result combines the v of the
// calling thread and of all threads that precede it. The second result combines the v of all threads of the block.
func BlockScan[O Op[T], T gpu.Number](t gpu.Thread, v T) (until, total T) {
	var op O
	until = WarpScan[O](t, v)
	parts := share(t, until)
	own, mine := until, t.Warp()
	total = parts[0]
	for w := 1; w < warps(t); w++ {
		if w == mine {
			until = op.Combine(total, own)
		}
		total = op.Combine(total, parts[w])
	}
	t.Sync()
	return until, total
}

// BlockExclusiveScan returns the exclusive scan of v over the threads of the block. The first result combines start and
// the v of all threads that precede the calling thread. The second result combines start and the v of all threads of the
// block. All threads pass the same start.
func BlockExclusiveScan[O Op[T], T gpu.Number](t gpu.Thread, v, start T) (before, total T) {
	var op O
	until := WarpScan[O](t, v)
	parts := share(t, until)
	mine := t.Warp()
	before, total = start, start
	for w := range warps(t) {
		if w == mine {
			before = total
		}
		total = op.Combine(total, parts[w])
	}
	if own := gpu.ShuffleUp(t, until, 1); t.Lane() > 0 {
		before = op.Combine(before, own)
	}
	t.Sync()
	return before, total
}

// share returns an array with the value that the last thread of each warp passed. It ends with a barrier;
// the caller must call another one after it has read the array.
func share[T gpu.Number](t gpu.Thread, v T) *[gpu.WarpSize]T {
	parts := gpu.Shared[[gpu.WarpSize]T](t)
	if t.Lane() == lanes(t)-1 {
		parts[t.Warp()] = v
	}
	t.Sync()
	return parts
}
