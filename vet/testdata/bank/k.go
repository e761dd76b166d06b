package bank

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
//gpu:block 32,8
func transpose(t gpu.Thread, x, y []float32, n int) {
	s := gpu.Shared[[32][32]float32](t)
	for i := 0; i < 32; i += 8 {
		s[t.ThreadY()+i][t.ThreadX()] = x[(t.GlobalY()+i)*n+t.GlobalX()]
	}
	t.Sync()
	for i := 0; i < 32; i += 8 {
		y[(t.GlobalY()+i)*n+t.GlobalX()] = s[t.ThreadX()][t.ThreadY()+i] // want `this access to shared memory has a 32-way bank conflict`
	}
}

//gpu:kernel
//gpu:block 64
func apart(t gpu.Thread, x []float32) {
	s := gpu.Shared[[1024]float32](t)
	s[t.ThreadX()*16] = x[t.ThreadX()] // want `16-way bank conflict`
	t.Sync()
	x[t.ThreadX()] = s[t.ThreadX()*16] // want `16-way bank conflict`
}

// An additional element in each row moves the elements of a column to different banks.
//
//gpu:kernel
//gpu:block 32,8
func padded(t gpu.Thread, x, y []float32, n int) {
	s := gpu.Shared[[32][33]float32](t)
	for i := 0; i < 32; i += 8 {
		s[t.ThreadY()+i][t.ThreadX()] = x[(t.GlobalY()+i)*n+t.GlobalX()]
	}
	t.Sync()
	for i := 0; i < 32; i += 8 {
		y[(t.GlobalY()+i)*n+t.GlobalX()] = s[t.ThreadX()][t.ThreadY()+i]
	}
}

// All threads read the same element; float64 accesses take two halves of a warp.
//
//gpu:kernel
//gpu:block 64
func fine(t gpu.Thread, x []float64) {
	s := gpu.Shared[[64]float64](t)
	s[t.ThreadX()] = x[t.ThreadX()]
	t.Sync()
	x[t.ThreadX()] = s[63-t.ThreadX()] + s[7]
	t.Sync()
	if t.ThreadX() < 2 {
		s[t.ThreadX()*16] = 1
	}
}
