package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Shared returns a variable that all threads of t's block share. It is in the GPU's on-chip shared
// memory, and its initial contents are arbitrary. T is usually an array:
//
//	tile := gpu.Shared[[32][33]float32](t)
//
// A kernel calls Shared once for each variable, outside branches and loops.
func Shared[T any](t Thread) *T { return simt.Shared[T](t.block, t.linear()) }

// DynamicShared returns the dynamic shared memory of t's block as a slice with as many elements of
// type T as fit. The launch determines the size of the memory in bytes (the field Shared of
// device.Grid). The initial contents are arbitrary, and the slice starts at a multiple of 16 bytes, or
// where a Panel may be if a call has a T that consists of panels. T is a number, a Panel, or a struct or
// array of them. All calls return the same memory, even with
// different types T:
//
//	row := gpu.DynamicShared[float32](t)
//	sums, counts := row[:n], row[n:]
func DynamicShared[T any](t Thread) []T { return simt.DynamicShared[T](t.block) }
