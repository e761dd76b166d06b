package cpu

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool gopherwarp build .

// nothing does nothing: its time is that of a launch.
//
//gpu:kernel
func nothing(t gpu.Thread) {}

// multiply stores the element-wise product of a and b in c.
//
//gpu:kernel
func multiply(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] * b[i]
	}
}

// stencil stores the weighted sum of each inner element of a volume of n x n x n elements and
// its six neighbours.
//
//gpu:kernel
func stencil(t gpu.Thread, in, out []float32, n int) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	if x < 1 || y < 1 || z < 1 || x >= n-1 || y >= n-1 || z >= n-1 {
		return
	}
	i := (z*n+y)*n + x
	out[i] = 0.4*in[i] + 0.1*(in[i-1]+in[i+1]+in[i-n]+in[i+n]+in[i-n*n]+in[i+n*n])
}

// width is the number of threads in a block that adds up.
const width = 256

// sums stores in out the sum of each block's elements of x.
//
//gpu:kernel
//gpu:block 256
func sums(t gpu.Thread, x, out []float32) {
	part := gpu.Shared[[width]float32](t)
	i := t.ThreadX()
	part[i] = 0
	if g := t.GlobalX(); g < len(x) {
		part[i] = x[g]
	}
	for half := width / 2; half > 0; half /= 2 {
		t.Sync()
		if i < half {
			part[i] += part[i+half]
		}
	}
	if i == 0 {
		out[t.BlockX()] = part[0]
	}
}

// tile is the side of a block of matmul.
const tile = 16

// matmul stores in c the product of a and b, square matrices of n x n elements, a tile at a
// time. n is a multiple of 16.
//
//gpu:kernel
//gpu:block 16,16
func matmul(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, col := t.GlobalY(), t.GlobalX()
	var sum float32
	for start := 0; start < n; start += tile {
		as[y][x] = a[row*n+start+x]
		bs[y][x] = b[(start+y)*n+col]
		t.Sync()
		for k := range tile {
			sum += as[y][k] * bs[k][x]
		}
		t.Sync()
	}
	c[row*n+col] = sum
}

// naive does the same without tiles.
//
//gpu:kernel
//gpu:block 16,16
func naive(t gpu.Thread, a, b, c []float32, n int) {
	row, col := t.GlobalY(), t.GlobalX()
	if row >= n || col >= n {
		return
	}
	var sum float32
	for k := range n {
		sum += a[row*n+k] * b[k*n+col]
	}
	c[row*n+col] = sum
}
