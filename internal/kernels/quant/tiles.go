package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The kernels of this file have a thread for each row and a block for each tile: vector code of a CPU does a tile at once, and
// its lanes read planes. A block's minimum counts once, times the sum of the vector's part.

// sumBlocks stores the sum of each block of x, times a factor.
//
//gpu:kernel
//gpu:assume nothing
func sumBlocks(t gpu.Thread, x, sums []float32, factor float32) {
	i := t.GlobalX()
	if i >= len(sums) {
		return
	}
	sum := float32(0)
	for _, v := range x[i*BlockSize : (i+1)*BlockSize] {
		sum += v
	}
	sums[i] = sum * factor
}

// tileQ4 multiplies a tile of weights of 4 bits by x, of which sums has the sums of the blocks times the factor of the minima.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func tileQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, x, sums, y []float32, add bool) {
	blocks := len(sums)
	first := t.BlockX() * blocks
	lane := t.ThreadX()
	var even, odd float32
	for b := range blocks {
		at := (first + b) * tileRows
		plane := planes[at*4 : at*4+4*tileRows]
		part := x[b*BlockSize : (b+1)*BlockSize]
		var low, high float32
		for j := range 4 {
			q := plane[j*tileRows+lane]
			for i := range 4 {
				low = math32.FMA(float32(int32(q>>(8*i)&15)), part[4*j+i], low)
				high = math32.FMA(float32(int32(q>>(8*i+4)&15)), part[BlockSize/2+4*j+i], high)
			}
		}
		even = math32.FMA(scales[at+lane].Float32(), low+high, even)
		odd = math32.FMA(minima[at+lane].Float32(), sums[b], odd)
	}
	if row := t.BlockX()*tileRows + lane; row < len(y) {
		store(y, row, even+odd, add)
	}
}

// tileQ8 multiplies a tile of the format Q8_0 by x.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func tileQ8(t gpu.Thread, planes []uint32, scales []dtype.F16, x, y []float32, add bool) {
	blocks := len(x) / BlockSize
	first := t.BlockX() * blocks
	lane := t.ThreadX()
	var sum float32
	for b := range blocks {
		at := (first + b) * tileRows
		plane := planes[at*8 : at*8+8*tileRows]
		part := x[b*BlockSize : (b+1)*BlockSize]
		var even, odd float32
		for j := range 8 {
			q := int32(plane[j*tileRows+lane])
			even = math32.FMA(float32(q<<24>>24), part[4*j], even)
			odd = math32.FMA(float32(q<<16>>24), part[4*j+1], odd)
			even = math32.FMA(float32(q<<8>>24), part[4*j+2], even)
			odd = math32.FMA(float32(q>>24), part[4*j+3], odd)
		}
		sum = math32.FMA(scales[at+lane].Float32(), even+odd, sum)
	}
	if row := t.BlockX()*tileRows + lane; row < len(y) {
		store(y, row, sum, add)
	}
}

// store stores an element, or adds to it.
func store(y []float32, i int, v float32, add bool) {
	if add {
		v += y[i]
	}
	y[i] = v
}
