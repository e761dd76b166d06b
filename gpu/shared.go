package gpu

import (
	"runtime"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Shared returns a variable that all threads of t's block share. It is in the GPU's on-chip shared
// memory, and its initial contents are arbitrary. T is usually an array:
//
//	tile := gpu.Shared[[32][33]float32](t)
//
// Each call in the source code declares one variable of the block, like a __shared__ variable in
// CUDA C++. So a function that calls Shared gets the same variable each time it runs. Between two
// calls of such a function, the threads must call Sync, unless the function itself calls Sync after
// its last access to the variable. A generic function has one variable for each type T.
func Shared[T any](t Thread) *T {
	var site [1]uintptr
	runtime.Callers(2, site[:])
	return simt.Shared[T](t.block, site[0])
}

// DynamicShared returns the dynamic shared memory of t's block as a slice with as many elements of
// type T as fit. The launch determines the size of the memory in bytes (the field Shared of
// device.Grid). The initial contents are arbitrary. T is a number, a boolean, a Panel, or a struct or
// array of them. The slice starts at a multiple of 16 bytes. If T contains panels in any of the calls,
// the slice is also aligned for panels. All calls return the same memory, even with different types
// T:
//
//	row := gpu.DynamicShared[float32](t)
//	sums, counts := row[:n], row[n:]
func DynamicShared[T any](t Thread) []T { return simt.DynamicShared[T](t.block) }
