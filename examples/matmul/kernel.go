package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// tile is the width and height of a block, and of the tiles of a and b that it holds in shared
// memory.
const tile = 16

// sizes are the sizes of the matrices, which are stored in row-major order: a is m x k, b is k x n
// and c is m x n.
type sizes struct{ m, k, n int }

// naive stores the product of a and b in c. Each thread computes one element of c and reads a row
// of a and a column of b from global memory.
//
//gpu:kernel
//gpu:block 16,16
func naive(t gpu.Thread, a, b, c []float32, z sizes) {
	row, col := t.GlobalY(), t.GlobalX()
	if row >= z.m || col >= z.n {
		return
	}
	var sum float32
	for i := range z.k {
		sum += a[row*z.k+i] * b[i*z.n+col]
	}
	c[row*z.n+col] = sum
}

// tiled stores the product of a and b in c. A block proceeds along its rows of a and its columns of
// b tile by tile, so it reads each element from global memory once for all threads of a row or
// column of the block.
//
//gpu:kernel
//gpu:block 16,16
func tiled(t gpu.Thread, a, b, c []float32, z sizes) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, col := t.GlobalY(), t.GlobalX()
	var sum float32
	for start := 0; start < z.k; start += tile {
		as[y][x] = at(a, shape{z.m, z.k}, row, start+x)
		bs[y][x] = at(b, shape{z.k, z.n}, start+y, col)
		t.Sync()
		for i := range tile {
			sum += as[y][i] * bs[i][x]
		}
		t.Sync()
	}
	if row < z.m && col < z.n {
		c[row*z.n+col] = sum
	}
}

// shape is the number of rows and columns of a matrix.
type shape struct{ rows, cols int }

// at returns an element of a matrix, or 0 outside the matrix.
func at(matrix []float32, s shape, row, col int) float32 {
	if row < s.rows && col < s.cols {
		return matrix[row*s.cols+col]
	}
	return 0
}

// matmulLoop computes the product in plain Go.
func matmulLoop(a, b, c []float32, z sizes) {
	clear(c)
	for row := range z.m {
		for i := range z.k {
			for col := range z.n {
				c[row*z.n+col] += a[row*z.k+i] * b[i*z.n+col]
			}
		}
	}
}
