package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Shared returns a variable that all threads of t's block share, in the GPU's fast
// on-chip memory. It starts with arbitrary contents. T is usually an array:
//
//	tile := gpu.Shared[[32][33]float32](t)
//
// A kernel calls it once for each variable, outside branches and loops.
func Shared[T any](t Thread) *T { return simt.Shared[T](t.block, t.linear()) }

// DynamicShared returns the dynamic shared memory of t's block, whose size in bytes the launch says
// (device.Grid's Shared), as a slice of as many elements as it holds. It starts with arbitrary
// contents, aligned to 16. T is a number or a struct or array of numbers. All calls, whatever
// their T, are about the same memory:
//
//	row := gpu.DynamicShared[float32](t)
//	sums, counts := row[:n], row[n:]
func DynamicShared[T any](t Thread) []T { return simt.DynamicShared[T](t.block) }
