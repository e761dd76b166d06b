package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The kernels of this file have a thread for each row and a block for each tile: vector code of a CPU does a tile at once, and
// its lanes read planes. A minimum counts once, times the sum of the vector's part.

// sumHalves stores the sum of each 16 elements of x.
//
//gpu:kernel
//gpu:assume nothing
func sumHalves(t gpu.Thread, x, sums []float32) {
	i := t.GlobalX()
	if i >= len(sums) {
		return
	}
	sum := float32(0)
	for _, v := range x[i*halfBlock : (i+1)*halfBlock] {
		sum += v
	}
	sums[i] = sum
}

// tile multiplies a tile of a matrix by x, of which sums has the sums of half blocks.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
//gpu:instance TileQ4 = tile[nibbles]
//gpu:instance TileQ8 = tile[bytes]
//gpu:instance TileMixed = tile[mixed]
func tile[I integers](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, x, sums, y []float32, add bool, of fields) {
	var q I
	n, blocks := int(q.planes(of)), len(x)/BlockSize
	first := t.BlockX() * blocks
	lane := t.ThreadX()
	factors := factorArrays{scales, minima, groups, factor}
	var dot, offset float32
	for b := range blocks {
		at := (first + b) * n * tileRows
		plane := planes[at : at+n*tileRows]
		for half := range q.halves() {
			part := x[b*BlockSize+half*halfBlock:][:BlockSize/q.halves()]
			var sum [2]float32
			for j := range 4 {
				for k := range 2 / q.halves() {
					w := q.word(plane, lane, wordOf{j, half + k}, of)
					for i := range 4 {
						sum[i%2] = math32.FMA(q.integer(w, i), part[k*halfBlock+4*j+i], sum[i%2])
					}
				}
			}
			s := q.scaling(factors, place{first + b, lane, half}, of)
			dot = math32.FMA(s.scale, sum[0]+sum[1], dot)
			if q.offset() {
				total := sums[2*b+half]
				if q.halves() == 1 {
					total += sums[2*b+1]
				}
				offset = math32.FMA(s.minimum, total, offset)
			}
		}
	}
	if row := t.BlockX()*tileRows + lane; row < len(y) {
		store(y, row, dot+offset, add)
	}
}

// store stores an element, or adds to it.
func store(y []float32, i int, v float32, add bool) {
	if add {
		v += y[i]
	}
	y[i] = v
}
