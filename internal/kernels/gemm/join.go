package gemm

import "github.com/gopherwarp/gopherwarp/gpu"

// joint is the arguments of join. Blocks is the number of blocks that computed the segments. N is the number of columns of C.
type joint struct {
	job
	Blocks, LDC int32
}

// join adds up the segments that parts has stored, and finishes the product: in a block, 16 rows of half of the columns of a tile, which are
// the first or the last 64 of each 128. A thread computes those elements that it would have in an accumulator: of its warp's groups of
// eight columns, each 16 groups after the one before.
//
//gpu:kernel
//gpu:block 256
//gpu:target sm_90a
//gpu:twin off
func join[C any, F rounding[C]](t gpu.Thread, parts []float32, c, residual []C, bias []float32, j joint) {
	rows := gpu.Shared[[16][136]float32](t)
	tile, strip, side := int32(t.BlockX()), int32(t.BlockY()/2), t.BlockY()%2
	row0, col0 := j.tile(tile)
	t.AwaitPrevious()
	t.StartNext()
	if row0 += int(strip) * 16; row0 >= int(j.M) {
		return // the whole block
	}
	x := j.sum(t, parts, tile)
	for q := range 2 {
		for e := range 4 {
			rows[t.Lane()/4+e/2*8][(t.Warp()%8+8*q)*8+t.Lane()%4*2+e%2] = x[q][e]
		}
	}
	t.Sync()
	at := t.ThreadX() % 128
	col := at/64*128 + side*64 + at%64
	if col >= int(j.Columns) {
		return
	}
	o := operandsOf[C]{c, residual, bias}
	for r := t.ThreadX() / 128; r < min(16, int(j.M)-row0); r += 2 {
		line := &rows[r&15]
		finish[C, F](o, [2]float32{line[at], line[at&63+64]}, position{row: row0 + r, col: col0 + col}, final{int(j.N), int(j.N), int(j.LDC), j.Activation})
	}
}

// sum returns the sums of a thread's elements of all segments of a tile, in their order. It loads those of four segments at a time.
func (j joint) sum(t gpu.Thread, parts []float32, tile int32) (x [2][4]float32) {
	first, last := j.segments(tile)
	i := first
	for ; i+3 <= last; i += 4 {
		a, b, c, d := j.part(t, parts, i+tile), j.part(t, parts, i+1+tile), j.part(t, parts, i+2+tile), j.part(t, parts, i+3+tile)
		for q := range 2 {
			for e := range 4 {
				x[q][e] = x[q][e] + a[q][e] + b[q][e] + c[q][e] + d[q][e]
			}
		}
	}
	for ; i <= last; i++ {
		a := j.part(t, parts, i+tile)
		for q := range 2 {
			for e := range 4 {
				x[q][e] += a[q][e]
			}
		}
	}
	return x
}

// part returns a thread's elements of a segment.
func (j joint) part(t gpu.Thread, parts []float32, number int32) (x [2][4]float32) {
	from := int(number*j.strands()+int32(t.BlockY()/2)) * strand
	part := parts[from : from+strand]
	for q := range 2 {
		for e := range 4 {
			x[q][e] = part[(2*q+t.BlockY()%2)*8*128+t.Warp()%8*128+e*32+t.Lane()]
		}
	}
	return x
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
