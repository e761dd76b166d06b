package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Shape is the sizes of a product: A has M rows and K columns, B has K rows and N columns, and C has
// M rows and N columns.
type Shape struct{ M, N, K int }

// naive computes one element per thread.
//
//gpu:kernel
//gpu:block 16,16
func naive(t gpu.Thread, a, b, c []dtype.BF16, s Shape) {
	row, col := t.GlobalY(), t.GlobalX()
	if row >= s.M || col >= s.N {
		return
	}
	sum := float32(0)
	for k := range s.K {
		sum += a[row*s.K+k].Float32() * b[k*s.N+col].Float32()
	}
	c[row*s.N+col] = dtype.BF16From32(sum)
}

// tiled computes a tile of 64x64 elements per block, 4x4 per thread, from shared memory in float32.
//
//gpu:kernel
//gpu:block 256
func tiled(t gpu.Thread, a, b, c []dtype.BF16, s Shape) {
	left, right := gpu.Shared[[16][64]float32](t), gpu.Shared[[16][64]float32](t)
	row0, col0 := t.BlockY()*64, t.BlockX()*64
	x, y := t.ThreadX()%16*4, t.ThreadX()/16*4
	var sums [4][4]float32
	for k0 := 0; k0 < s.K; k0 += 16 {
		for p := range 4 {
			e := t.ThreadX() + p*256
			left[e%16][e/16] = at(a, place{row0 + e/16, k0 + e%16}, s.M, s.K)
			right[e/64][e%64] = at(b, place{k0 + e/64, col0 + e%64}, s.K, s.N)
		}
		t.Sync()
		for k := range 16 {
			for i := range 4 {
				for j := range 4 {
					sums[i][j] += left[k][y+i] * right[k][x+j]
				}
			}
		}
		t.Sync()
	}
	for i := range 4 {
		for j := range 4 {
			if row, col := row0+y+i, col0+x+j; row < s.M && col < s.N {
				c[row*s.N+col] = dtype.BF16From32(sums[i][j])
			}
		}
	}
}

// place is a position in a matrix.
type place struct{ row, col int }

// at returns the element at p of x, which has the given numbers of rows and columns, or zero
// outside.
func at(x []dtype.BF16, p place, rows, cols int) float32 {
	if p.row >= rows || p.col >= cols {
		return 0
	}
	return x[p.row*cols+p.col].Float32()
}
