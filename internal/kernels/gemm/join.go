package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// joint is the arguments of join. Blocks is the number of blocks that computed the segments. N is the number of columns of C.
type joint struct {
	job
	Blocks, LDC int32
}

// join adds up the segments that parts has stored, and finishes the product: in a block, 16 rows of a tile. A thread computes
// those elements that it would have in an accumulator: of its warp's groups of eight columns, each eight groups after the one before.
//
//gpu:kernel
//gpu:block 256
//gpu:target sm_90a
//gpu:twin off
func join[C any, F rounding[C]](t gpu.Thread, parts []float32, c, residual []C, bias []float32, j joint) {
	rows := gpu.Shared[[16][264]float32](t)
	tile, strip := int32(t.BlockX()), int32(t.BlockY())
	row0, col0 := j.tile(tile)
	t.AwaitPrevious()
	t.StartNext()
	if row0 += int(strip) * 16; row0 >= int(j.M) {
		return // the whole block
	}
	var x [4][4]float32
	first, last := j.segments(tile)
	for i := first; i <= last; i++ {
		from := int((i+tile)*j.strands()+strip) * strand
		part := parts[from : from+strand]
		for q := range 4 {
			for e := range 4 {
				x[q][e] += part[q*8*128+t.Warp()%8*128+e*32+t.Lane()]
			}
		}
	}
	for q := range 4 {
		for e := range 4 {
			rows[t.Lane()/4+e/2*8][(t.Warp()%8+8*q)*8+t.Lane()%4*2+e%2] = x[q][e]
		}
	}
	t.Sync()
	col := t.ThreadX()
	if col >= int(j.Columns) {
		return
	}
	o := operandsOf[C]{c, residual, bias}
	for r := range min(16, int(j.M)-row0) {
		line := &rows[r&15]
		finish[C, F](o, [2]float32{line[col], line[col&127+128]}, position{row: row0 + r, col: col0 + col}, final{int(j.N), int(j.N), int(j.LDC), j.Activation})
	}
}

// segments returns the first and the last block that computed a part of a tile.
func (j joint) segments(tile int32) (first, last int32) {
	steps, all := j.steps(), j.tiles()*j.steps()
	return blockOf(all, tile*steps, j.Blocks), blockOf(all, (tile+1)*steps-1, j.Blocks)
}

// at returns x[i], or zero if x is empty or i is beyond its end.
func at(x []float32, i int) float32 {
	if uint(i) >= uint(len(x)) {
		return 0
	}
	return x[i]
}
