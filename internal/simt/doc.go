// Package simt has the state that the threads of a block share while a kernel runs on the CPU as plain Go:
// the block's position in the grid, its shared variables, and the operations with which threads wait for each
// other.
//
// It schedules nothing: a tier of package cpu fills in a Block, runs its threads and implements waiting.
// Package gpu exposes the state to kernels.
//
//	var b simt.Block
//	b.Begin([3]int{256, 1, 1}, [3]int{4, 1, 1})
//	b.Enter([3]int{2, 0, 0})
//	tile := simt.Shared[[256]float32](&b, site)
package simt
