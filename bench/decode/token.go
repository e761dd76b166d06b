package main

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// embed copies the vector of a token to x.
//
//gpu:kernel
//gpu:block 128
//gpu:target sm_90
func embed(t gpu.Thread, token []int32, table []quad, x []numbers) {
	t.StartNext()
	t.AwaitPrevious()
	if i := t.GlobalX(); i < len(x) {
		x[i] = widened(table[int(token[0])*len(x)+i])
	}
}

// choose stores the index of the largest key as the next token.
//
//gpu:kernel
//gpu:block 1024
//gpu:target sm_90
func choose(t gpu.Thread, keys []uint64, token []int32) {
	near := gpu.Shared[[32]uint64](t)
	t.AwaitPrevious()
	var best uint64
	for i := t.ThreadX(); i < len(keys); i += 1024 {
		best = max(best, keys[i])
	}
	for distance := 16; distance > 0; distance /= 2 {
		best = max(best, gpu.ShuffleXor(t, best, distance))
	}
	if t.Lane() == 0 {
		near[t.Warp()] = best
	}
	t.Sync()
	if t.ThreadX() == 0 {
		for i := 1; i < 32; i++ {
			best = max(best, near[i])
		}
		token[0] = int32(matvec.Index(best))
	}
}

// fill stores random numbers from middle-span to middle+span, eight in each thread.
//
//gpu:kernel
//gpu:target sm_90
func fill(t gpu.Thread, x [][8]dtype.BF16, seed uint32, span, middle float32) {
	i := t.GlobalX()
	if i >= len(x) {
		return
	}
	a := gpu.Philox4x32([4]uint32{uint32(i), uint32(i >> 32)}, [2]uint32{seed})
	for j := range 4 {
		x[i][2*j] = dtype.BF16From32(middle + span*signed(a[j]))
		x[i][2*j+1] = dtype.BF16From32(middle + span*signed(a[j]<<16))
	}
}

// signed returns a number from -1 to 1.
func signed(random uint32) float32 { return float32(int32(random)) * 0x1p-31 }
