package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// group is the number of tiles below each other that wide computes before it moves to the next column of
// tiles: concurrent blocks then share more of their operands in the second-level cache.
const group = 16

// wide computes a tile of 128x256 elements per block, 64x64 per warp, in four stages of asynchronous
// copies. For each product, a warp reads a quarter less from shared memory than in pipelined.
//
//gpu:kernel
//gpu:block 256
func wide(t gpu.Thread, a, b []Row, c [][2]dtype.BF16, s Shape) {
	left, right := gpu.Shared[[4][128][4]Row](t), gpu.Shared[[4][32][32]Row](t)
	row0, col0 := tileOf(t.BlockX(), s)
	warp, lane := t.ThreadX()/32, t.ThreadX()%32
	m0, n0 := warp/4*64, warp%4*64
	var acc [4][8][4]float32
	for stage := range 3 {
		fetchA(t, &left[stage], matrix{a, s.M, s.K / 8}, place{row0, stage * 4})
		fetchWideB(t, &right[stage], matrix{b, s.K, s.N / 8}, place{stage * 32, col0 / 8})
		t.CommitCopies()
	}
	stage := 0
	for k0 := 0; k0 < s.K; k0 += 32 {
		t.WaitCopies(2)
		t.Sync()
		next := (stage + 3) & 3
		fetchA(t, &left[next], matrix{a, s.M, s.K / 8}, place{row0, k0/8 + 12})
		fetchWideB(t, &right[next], matrix{b, s.K, s.N / 8}, place{k0 + 96, col0 / 8})
		t.CommitCopies()
		var x [2][4][4]gpu.Tile[dtype.BF16]
		var y [2][4][4]gpu.Tile[dtype.BF16]
		for k := range 2 {
			for i := range 4 {
				r := m0 + i*16 + lane%16
				x[k][i] = gpu.LoadMatrix4(t, (*[8]dtype.BF16)(&left[stage][r][(k*2+lane/16^r>>1)&3]))
			}
			for j := range 4 {
				r := k*16 + lane%16
				y[k][j] = gpu.LoadTransposed4(t, (*[8]dtype.BF16)(&right[stage][r][(n0/8+j*2+lane/16^r&7)&31]))
			}
			for i := range 4 {
				for j := range 8 {
					acc[i][j] = gpu.MMA(t, x[k][i], [2]gpu.Tile[dtype.BF16]{y[k][j/2][j%2*2], y[k][j/2][j%2*2+1]}, acc[i][j])
				}
			}
		}
		stage = (stage + 1) & 3
	}
	for i := range 4 {
		for j := range 8 {
			put(c, place{row0 + m0 + i*16 + lane/4, col0 + n0 + j*8 + lane%4*2}, s, acc[i][j])
		}
	}
}

// tileOf returns the position of a block's tile: the blocks go down groups of tiles.
func tileOf(block int, s Shape) (row, col int) {
	rows, cols := (s.M+127)/128, (s.N+255)/256
	first := block / (group * cols) * group
	height := min(group, rows-first)
	if height <= 0 {
		return s.M, s.N
	}
	i := block % (group * cols)
	return (first + i%height) * 128, i / height * 256
}

// fetchWideB is fetchB for a tile of 32 rows of 32 Rows.
func fetchWideB(t gpu.Thread, tile *[32][32]Row, m matrix, at place) {
	for p := range 4 {
		i, j := t.ThreadX()/32+p*8, t.ThreadX()%32
		from := (at.row+i)*m.width + at.col + j
		if at.row+i >= m.height || at.col+j >= m.width {
			from = -1
		}
		gpu.FetchAsync(t, &tile[i][(j^i&7)&31], m.rows, from)
	}
}
