package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// hello prints the thread's indices.
//
//gpu:kernel
func hello(t gpu.Thread) {
	gpu.Printf(t, "thread %d of block %d, %d threads a block: global index %d\n",
		t.ThreadX(), t.BlockX(), t.BlockDimX(), t.GlobalX())
}
