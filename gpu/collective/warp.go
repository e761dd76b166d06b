package collective

import "github.com/gopherwarp/gopherwarp/gpu"

// WarpReduce returns the combination of v over the threads of the warp, in order of their lanes. All threads
// receive the same bits. For sums, minima and maxima of numbers, gpu.WarpReduceAdd, gpu.WarpReduceMin and
// gpu.WarpReduceMax are faster on some GPUs, and work even if threads have exited.
func WarpReduce[O Op[T], T gpu.Number](t gpu.Thread, v T) T {
	return gpu.Shuffle(t, combineUp[O](t, v), 0)
}

// combineUp returns the combination of v over the thread's lane and all higher lanes.
func combineUp[O Op[T], T gpu.Number](t gpu.Thread, v T) T {
	var op O
	lane, n := t.Lane(), lanes(t)
	for d := 1; d < gpu.WarpSize; d *= 2 {
		if next := gpu.ShuffleDown(t, v, d); lane+d < n {
			v = op.Combine(v, next)
		}
	}
	return v
}

// WarpScan returns the inclusive scan of v over the threads of the warp: the combination of the v of the
// calling thread and of all threads at lower lanes (W. D. Hillis and G. L. Steele, "Data Parallel
// Algorithms", 1986).
func WarpScan[O Op[T], T gpu.Number](t gpu.Thread, v T) T {
	var op O
	lane := t.Lane()
	for d := 1; d < gpu.WarpSize; d *= 2 {
		if before := gpu.ShuffleUp(t, v, d); lane >= d {
			v = op.Combine(before, v)
		}
	}
	return v
}

// WarpExclusiveScan returns the exclusive scan of v over the threads of the warp: the combination of start
// and of the v of all threads at lower lanes.
func WarpExclusiveScan[O Op[T], T gpu.Number](t gpu.Thread, v, start T) T {
	var op O
	before := gpu.ShuffleUp(t, WarpScan[O](t, v), 1)
	if t.Lane() == 0 {
		return start
	}
	return op.Combine(start, before)
}
