package matmul

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// pipelined is tensor with asynchronous copies: while it multiplies one stage, the copies of the
// next two run.
//
//gpu:kernel
//gpu:block 256
func pipelined(t gpu.Thread, a, b []Row, c [][2]dtype.BF16, s Shape) {
	left, right := gpu.Shared[[3][128][4]Row](t), gpu.Shared[[3][32][16]Row](t)
	row0, col0 := t.BlockX()*128, t.BlockY()*128
	warp, lane := t.ThreadX()/32, t.ThreadX()%32
	m0, n0 := warp/4*64, warp%4*32
	var acc [4][4][4]float32
	for stage := range 2 {
		fetchA(t, &left[stage], matrix{a, s.M, s.K / 8}, place{row0, stage * 4})
		fetchB(t, &right[stage], matrix{b, s.K, s.N / 8}, place{stage * 32, col0 / 8})
		t.CommitCopies()
	}
	stage, next := 0, 2
	for k0 := 0; k0 < s.K; k0 += 32 {
		t.WaitCopies(1)
		t.Sync()
		fetchA(t, &left[next], matrix{a, s.M, s.K / 8}, place{row0, k0/8 + 8})
		fetchB(t, &right[next], matrix{b, s.K, s.N / 8}, place{k0 + 64, col0 / 8})
		t.CommitCopies()
		var x [2][4][4]gpu.Tile[dtype.BF16]
		var y [2][2][4]gpu.Tile[dtype.BF16]
		for k := range 2 {
			for i := range 4 {
				r := m0 + i*16 + lane%16
				x[k][i] = gpu.LoadMatrix4(t, (*[8]dtype.BF16)(&left[stage][r][(k*2+lane/16^r>>1)&3]))
			}
			for j := range 2 {
				r := k*16 + lane%16
				y[k][j] = gpu.LoadTransposed4(t, (*[8]dtype.BF16)(&right[stage][r][(n0/8+j*2+lane/16^r&7)&15]))
			}
			for i := range 4 {
				for j := range 4 {
					acc[i][j] = gpu.MMA(t, x[k][i], [2]gpu.Tile[dtype.BF16]{y[k][j/2][j%2*2], y[k][j/2][j%2*2+1]}, acc[i][j])
				}
			}
		}
		if stage++; stage == 3 {
			stage = 0
		}
		if next++; next == 3 {
			next = 0
		}
	}
	for i := range 4 {
		for j := range 4 {
			put(c, place{row0 + m0 + i*16 + lane/4, col0 + n0 + j*8 + lane%4*2}, s, acc[i][j])
		}
	}
}

// matrix is a matrix with the given number of rows, each of the given number of Rows.
type matrix struct {
	rows          []Row
	height, width int
}

// fetchA starts to copy the tile of 128 rows of four Rows at a place in m to shared memory. Elements
// outside m become zero.
func fetchA(t gpu.Thread, tile *[128][4]Row, m matrix, at place) {
	for p := range 2 {
		i, j := t.ThreadX()/4+p*64, t.ThreadX()%4
		from := (at.row+i)*m.width + at.col + j
		if at.row+i >= m.height || at.col+j >= m.width {
			from = -1
		}
		gpu.FetchAsync(t, &tile[i][(j^i>>1)&3], m.rows, from)
	}
}

// fetchB is fetchA for a tile of 32 rows of 16 Rows.
func fetchB(t gpu.Thread, tile *[32][16]Row, m matrix, at place) {
	for p := range 2 {
		i, j := t.ThreadX()/16+p*16, t.ThreadX()%16
		from := (at.row+i)*m.width + at.col + j
		if at.row+i >= m.height || at.col+j >= m.width {
			from = -1
		}
		gpu.FetchAsync(t, &tile[i][(j^i&7)&15], m.rows, from)
	}
}
