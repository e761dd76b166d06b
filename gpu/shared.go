package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Shared returns a variable that all threads of t's block share, in the GPU's fast
// on-chip memory. It starts with arbitrary contents. T is usually an array:
//
//	tile := gpu.Shared[[32][33]float32](t)
//
// A kernel calls it once for each variable, outside branches and loops.
func Shared[T any](t Thread) *T { return simt.Shared[T](t.block, t.linear()) }
