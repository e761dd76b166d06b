// Package prim has the parallel primitives that other algorithms are made of: sums, running sums,
// sorting, selection, histograms, transposition, the greatest elements.
//
// They are kernels in Go behind functions on device slices, for every device. A function enqueues
// its work on a stream, as a launch does, and returns; the destination counts after the stream's
// next Synchronize that returns no error.
//
//	err := errors.Join(
//		prim.Sum(s, total.All(), x.All()),                  // total[0] = x[0] + x[1] + ...
//		prim.InclusiveScan(s, prim.Add, y.All(), x.All()),  // y[i] = x[0] + ... + x[i]
//		prim.SortPairs(s, keys.All(), values.All()),        // in place, stable
//		prim.Select(s, kept.All(), x.All(), prim.Flags{Set: flags.All(), Count: count.All()}),
//		s.Synchronize(ctx))
//
// Destinations come first, as with copy. Sizes may be anything, also 0. A destination may be the
// source itself where a function says so; slices that overlap otherwise are device.ErrOverlap, and
// lengths that do not fit are device.ErrLength. A mistake sticks to the stream, as that of a launch.
//
// Scratch memory comes from the device's pool and goes back behind the work. So a graph cannot
// record these functions, but Count, Histogram and Transpose: they return device.ErrCapture.
//
// The package is no array library: it knows no shapes and does no arithmetic on elements.
package prim

//go:generate go tool kernelgen .
