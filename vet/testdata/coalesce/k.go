package coalesce

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func columns(t gpu.Thread, x []float32, n int) {
	if i := t.GlobalX(); i < n {
		x[i*n] = 1 // want `adjacent threads along x access elements that are a variable distance apart`
	}
}

//gpu:kernel
//gpu:block 16,16
func swapped(t gpu.Thread, x, y []float32, n int) {
	i, j := t.GlobalX(), t.GlobalY()
	y[j*n+i] = x[i*n+j] // want `a variable distance apart`
}

//gpu:kernel
func eight(t gpu.Thread, x []float32) {
	i := t.GlobalX() * 8
	for j := range 8 {
		x[i+j]++ // want `adjacent threads along x access elements that are 8 apart`
	}
}

//gpu:kernel
func rows(t gpu.Thread, x, sums []float32, n int) {
	i := t.GlobalX()
	for _, v := range x[i*n : (i+1)*n] { // want `a variable distance apart`
		sums[i] += v
	}
}

type particle struct {
	place, speed [3]float32
	mass, charge float32
	tag          [8]int32
}

// The elements are large; the index is right.
//
//gpu:kernel
func large(t gpu.Thread, p []particle) {
	if i := t.GlobalX(); i < len(p) {
		p[i].place[0] += p[i].speed[0]
	}
}

//gpu:kernel
//gpu:block 16,16
func right(t gpu.Thread, x, y []float32, n int) {
	i, j := t.GlobalX(), t.GlobalY()
	y[j*n+i] = x[j*n+i]
	if t.ThreadX() == 0 {
		y[j*n] = 1
		y[t.ThreadX()*n] = 1
	}
}

// Each thread processes a column.
//
//gpu:kernel
func sums(t gpu.Thread, x, sums []float32, n int) {
	var sum float32
	for i := range n {
		sum += x[i*n+t.GlobalX()]
	}
	sums[t.GlobalX()] = sum
}

//gpu:kernel
func strides(t gpu.Thread, x []float32) {
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * t.BlockDimX() {
		x[i]++
	}
}
