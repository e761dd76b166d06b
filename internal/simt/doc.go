// Package simt holds the state that the threads of one block share while a kernel runs
// on the CPU as plain Go: where the block stands in the grid, its shared variables, and
// how a thread waits for the others.
//
// It schedules nothing: a tier of package cpu fills in a Block, runs its threads and
// decides what waiting means. Package gpu is the face that kernels see of it.
//
//	var b simt.Block
//	b.Begin([3]int{256, 1, 1}, [3]int{4, 1, 1})
//	b.Enter([3]int{2, 0, 0})
//	tile := simt.Shared[[256]float32](&b, 0)
package simt
