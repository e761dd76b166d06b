package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// batchVectors is the number of vectors that a block multiplies: it converts each weight once for all of them. If fewer remain, it
// multiplies the last one several times.
const batchVectors = 8

// vectorsOf returns the numbers of the vectors that a thread block multiplies.
func vectorsOf(t gpu.Thread, count int) (rows [batchVectors]int) {
	for r := range batchVectors {
		rows[r] = min(t.BlockY()*batchVectors+r, count-1)
	}
	return rows
}

// target is where products are stored or added.
type target struct {
	Shape
	y   []float32
	add bool
}

// storeRows stores the sums of a thread's row of the matrix. It tests all indices first, since vector code cannot fault between
// stores.
func storeRows(t gpu.Thread, sums *[batchVectors]float32, to target) {
	y, s := to.y, to.Shape
	rows := vectorsOf(t, len(y)/s.Rows)
	row := t.BlockX()*tileRows + t.ThreadX()
	if row >= s.Rows {
		return
	}
	for r := range batchVectors {
		if rows[r] = rows[r]*s.Rows + row; uint(rows[r]) >= uint(len(y)) {
			return
		}
	}
	if to.add { // all loads come first, as a vector that is multiplied several times is stored several times
		for r := range batchVectors {
			sums[r] += y[rows[r]]
		}
	}
	for r := range batchVectors {
		y[rows[r]] = sums[r]
	}
}

// batchQ4 multiplies a tile of weights of 4 bits by several vectors.
//
//gpu:kernel
//gpu:block 16
func batchQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, factor float32, x, y []float32, s Shape, add bool) {
	blocks := s.Columns / BlockSize
	tile := t.BlockX() * blocks
	lane := t.ThreadX()
	rows := vectorsOf(t, len(x)/s.Columns)
	var sums [batchVectors]float32
	for b := range blocks {
		from := (tile + b) * tileRows
		plane := planes[from*4 : from*4+4*tileRows]
		d, m := scales[from+lane].Float32(), minima[from+lane].Float32()*factor
		for j := range 4 {
			q := plane[j*tileRows+lane]
			for i := range 4 {
				low := math32.FMA(d, float32(int32(q>>(8*i)&15)), m)
				high := math32.FMA(d, float32(int32(q>>(8*i+4)&15)), m)
				k := b*BlockSize + 4*j + i
				for r := range batchVectors {
					sums[r] = math32.FMA(low, x[rows[r]*s.Columns+k], sums[r])
					sums[r] = math32.FMA(high, x[rows[r]*s.Columns+k+BlockSize/2], sums[r])
				}
			}
		}
	}
	storeRows(t, &sums, target{s, y, add})
}

// batchQ8 multiplies a tile of the format Q8_0 by several vectors.
//
//gpu:kernel
//gpu:block 16
func batchQ8(t gpu.Thread, planes []uint32, scales []dtype.F16, x, y []float32, s Shape, add bool) {
	blocks := s.Columns / BlockSize
	tile := t.BlockX() * blocks
	lane := t.ThreadX()
	rows := vectorsOf(t, len(x)/s.Columns)
	var sums [batchVectors]float32
	for b := range blocks {
		from := (tile + b) * tileRows
		plane := planes[from*8 : from*8+8*tileRows]
		d := scales[from+lane].Float32()
		for j := range 8 {
			q := int32(plane[j*tileRows+lane])
			for i := range 4 {
				w := d * float32(q<<(24-8*i)>>24)
				for r := range batchVectors {
					sums[r] = math32.FMA(w, x[rows[r]*s.Columns+b*BlockSize+4*j+i], sums[r])
				}
			}
		}
	}
	storeRows(t, &sums, target{s, y, add})
}
