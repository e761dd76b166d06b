package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Row is eight elements of a row of a matrix: 16 bytes, which are copied together.
type Row [8]dtype.BF16

// Tiles in shared memory are swizzled. A row of a tile of A has four Rows; Row j of row i is stored at
// j ^ i/2%4. In a tile of B, Row j of row i is stored at j ^ i%8. So the eight Rows that ldmatrix reads
// for a tile, one below the other, are in eight different groups of banks.

// tensor computes a tile of 128x128 elements per block on the tensor cores, 64x32 per warp. Each thread
// copies its part of the operands to shared memory through registers.
//
//gpu:kernel
//gpu:block 256
func tensor(t gpu.Thread, a, b []Row, c [][2]dtype.BF16, s Shape) {
	left, right := gpu.Shared[[128][4][8]dtype.BF16](t), gpu.Shared[[32][16][8]dtype.BF16](t)
	row0, col0 := t.BlockX()*128, t.BlockY()*128
	warp, lane := t.ThreadX()/32, t.ThreadX()%32
	m0, n0 := warp/4*64, warp%4*32
	var acc [4][4][4]float32
	for k0 := 0; k0 < s.K; k0 += 32 {
		t.Sync()
		for p := range 2 {
			i, j := t.ThreadX()/4+p*64, t.ThreadX()%4
			left[i][(j^i>>1)&3] = rowAt(a, place{row0 + i, k0/8 + j}, s.M, s.K/8)
			i, j = t.ThreadX()/16+p*16, t.ThreadX()%16
			right[i][(j^i&7)&15] = rowAt(b, place{k0 + i, col0/8 + j}, s.K, s.N/8)
		}
		t.Sync()
		var x [2][4][4]gpu.Tile[dtype.BF16]
		var y [2][2][4]gpu.Tile[dtype.BF16]
		for k := range 2 {
			for i := range 4 {
				r := m0 + i*16 + lane%16
				x[k][i] = gpu.LoadMatrix4(t, &left[r][(k*2+lane/16^r>>1)&3])
			}
			for j := range 2 {
				r := k*16 + lane%16
				y[k][j] = gpu.LoadTransposed4(t, &right[r][(n0/8+j*2+lane/16^r&7)&15])
			}
			for i := range 4 {
				for j := range 4 {
					acc[i][j] = gpu.MMA(t, x[k][i], [2]gpu.Tile[dtype.BF16]{y[k][j/2][j%2*2], y[k][j/2][j%2*2+1]}, acc[i][j])
				}
			}
		}
	}
	for i := range 4 {
		for j := range 4 {
			put(c, place{row0 + m0 + i*16 + lane/4, col0 + n0 + j*8 + lane%4*2}, s, acc[i][j])
		}
	}
}

// rowAt returns the Row at p of x, which has the given number of rows of cols Rows each, or zeros
// outside.
func rowAt(x []Row, p place, rows, cols int) [8]dtype.BF16 {
	if p.row >= rows || p.col >= cols {
		return [8]dtype.BF16{}
	}
	return x[p.row*cols+p.col]
}

// put stores two pairs of neighboring elements in c, at p and eight rows below, if these are inside
// c.
func put(c [][2]dtype.BF16, p place, s Shape, v [4]float32) {
	if p.row < s.M && p.col < s.N {
		c[p.row*(s.N/2)+p.col/2] = [2]dtype.BF16{dtype.BF16From32(v[0]), dtype.BF16From32(v[1])}
	}
	if p.row+8 < s.M && p.col < s.N {
		c[(p.row+8)*(s.N/2)+p.col/2] = [2]dtype.BF16{dtype.BF16From32(v[2]), dtype.BF16From32(v[3])}
	}
}
