// Package prim provides parallel primitives from which other algorithms are built: reductions,
// scans, sorting, selection, histograms, transposition, the largest elements and random
// numbers.
//
// The functions operate on device slices, on every device, and their kernels are written in Go.
// Like a launch, a function enqueues its work on a stream and returns. The results are valid after
// the stream's next Synchronize, if it returns nil.
//
//	err := cmp.Or(
//		prim.Sum(s, total.All(), x.All()),                  // total[0] = x[0] + x[1] + ...
//		prim.InclusiveScan(s, prim.Add, y.All(), x.All()),  // y[i] = x[0] + ... + x[i]
//		prim.SortPairs(s, keys.All(), values.All()),        // in place, stable
//		prim.Uniform(s, noise.All(), prim.Sequence{Seed: 42}), // the same numbers on every device
//		prim.Select(s, kept.All(), x.All(), prim.Flags{Set: flags.All(), Count: count.All()}),
//		s.Synchronize(ctx))
//
// As with the built-in copy, the destination comes before the source. Slices may have any length, including 0. The
// destination may be the source only where a function's documentation permits it. Other overlaps are errors that match
// device.ErrOverlap, and unsuitable lengths are errors that match device.ErrLength. As with a launch, an error also
// sticks to the stream: the stream's next Synchronize returns it.
//
// Most functions need temporary memory, which they allocate and free in the order of the stream's work. No
// function waits or reads a result back to the host, so a graph can record all of them. The graph then owns
// the temporary memory.
//
// Package prim is not an array library: it has neither shapes nor element-wise arithmetic.
package prim

//go:generate go tool kernelgen .
