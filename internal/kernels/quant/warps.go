package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The kernels of this file have a block of eight warps for each tile. Each warp takes every eighth part of the tile's blocks, and
// each of its threads reads 16 bytes: a word of four rows. Warps add up what their threads have, then the block what its warps
// have.

// What a thread reads at once: an integer of a plane, or a scale, for each of four rows, or four neighbouring numbers of the
// vector.
type (
	quad    = [4]uint32
	halves  = [4]dtype.F16
	numbers = [4]float32
)

const (
	warpSize  = 32
	warpCount = 8
	quads     = tileRows / 4 // of a plane
)

// warpsQ4 multiplies a tile of the format Q4_1 by x. A warp reads two blocks of the 16 rows at once.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func warpsQ4(t gpu.Thread, planes []quad, scales, minima []halves, x []numbers, y []float32) {
	blocks := len(x) / (BlockSize / 4)
	lane, warp := t.ThreadX()%warpSize, t.ThreadX()/warpSize
	rows, plane := lane%quads, lane/quads%4
	var sums numbers
	for b := warp*2 + lane/16; b < blocks; b += 2 * warpCount {
		at := t.BlockX()*blocks + b
		q := planes[(at*4+plane)*quads+rows]
		d, m := scales[at*quads+rows], minima[at*quads+rows]
		low, high := x[b*8+plane], x[b*8+4+plane]
		total := (low[0] + low[1] + low[2] + low[3]) + (high[0] + high[1] + high[2] + high[3])
		for r := range 4 {
			var sum float32
			for i := range 4 {
				sum = math32.FMA(float32(int32(q[r]>>(8*i)&15)), low[i], sum)
				sum = math32.FMA(float32(int32(q[r]>>(8*i+4)&15)), high[i], sum)
			}
			sums[r] = math32.FMA(d[r].Float32(), sum, math32.FMA(m[r].Float32(), total, sums[r]))
		}
	}
	addWarps(t, sums, y)
}

// warpsQ8 multiplies a tile of the format Q8_0 by x. A warp reads a block of the 16 rows at once.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func warpsQ8(t gpu.Thread, planes []quad, scales []halves, x []numbers, y []float32) {
	blocks := len(x) / (BlockSize / 4)
	lane, warp := t.ThreadX()%warpSize, t.ThreadX()/warpSize
	rows, plane := lane%quads, lane/quads
	var sums numbers
	for b := warp; b < blocks; b += warpCount {
		at := t.BlockX()*blocks + b
		q := planes[(at*8+plane)*quads+rows]
		d, part := scales[at*quads+rows], x[b*8+plane]
		for r := range 4 {
			var sum float32
			for i := range 4 {
				sum = math32.FMA(float32(int32(q[r])<<(24-8*i)>>24), part[i], sum)
			}
			sums[r] = math32.FMA(d[r].Float32(), sum, sums[r])
		}
	}
	addWarps(t, sums, y)
}

// addWarps stores the sums of the block's threads: those of the same four rows are every fourth thread.
func addWarps(t gpu.Thread, sums numbers, y []float32) {
	all := gpu.Shared[[warpCount][tileRows]float32](t)
	lane, warp := t.ThreadX()%warpSize, t.ThreadX()/warpSize
	for r := range 4 {
		for distance := quads; distance < warpSize; distance *= 2 {
			sums[r] += gpu.ShuffleXor(t, sums[r], distance)
		}
	}
	if lane < quads {
		for r := range 4 {
			all[warp][4*lane+r] = sums[r]
		}
	}
	t.Sync()
	row := t.BlockX()*tileRows + t.ThreadX()
	if t.ThreadX() >= tileRows || row >= len(y) {
		return
	}
	var sum float32
	for w := range warpCount {
		sum += all[w][t.ThreadX()]
	}
	y[row] = sum
}
