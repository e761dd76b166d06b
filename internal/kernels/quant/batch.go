package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// batchVectors is the number of vectors that a block multiplies: it converts each weight once for all of them. If fewer remain, it
// multiplies the last one several times.
const batchVectors = 8

// target is where products are stored or added.
type target struct {
	y    []float32
	size int // of a vector of products
	add  bool
}

// storeRows stores the sums of a thread's row of the matrix. It tests all indices first, since vector
// code cannot fault between stores.
func storeRows(t gpu.Thread, sums *[batchVectors]float32, vectors int, to target) {
	row, y := t.BlockX()*tileRows+t.ThreadX(), to.y
	if row >= to.size {
		return
	}
	var at [batchVectors]int
	for r := range batchVectors {
		if at[r] = min(t.BlockY()*batchVectors+r, vectors-1)*to.size + row; uint(at[r]) >= uint(len(y)) {
			return
		}
	}
	if to.add { // all loads come first, as a vector that is multiplied several times is stored several times
		for r := range batchVectors {
			sums[r] += y[at[r]]
		}
	}
	for r := range batchVectors {
		y[at[r]] = sums[r]
	}
}

// interleave stores the vectors of the group BlockY, which are batchVectors, next to each other, element by element, so that a kernel
// finds all elements of a column with one index.
//
//gpu:kernel
//gpu:assume nothing
func interleave(t gpu.Thread, x, to []float32, columns, vectors int) {
	i := t.GlobalX()
	if i >= columns*batchVectors {
		return
	}
	row := min(t.BlockY()*batchVectors+i%batchVectors, vectors-1)
	to[t.BlockY()*columns*batchVectors+i] = x[row*columns+i/batchVectors]
}

// batch multiplies a tile of a matrix by a group of interleaved vectors.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
//gpu:instance BatchQ4 = batch[nibbles]
//gpu:instance BatchQ8 = batch[bytes]
//gpu:instance BatchMixed = batch[mixed]
func batch[I integers](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, x, y []float32, s Shape, vectors int, add bool, of fields) {
	const halfSize = halfBlock * batchVectors
	var q I
	n, blocks := int(q.planes(of)), s.Columns/BlockSize
	tile := t.BlockX() * blocks
	lane := t.ThreadX()
	factors := factorArrays{scales, minima, groups, factor}
	var sums [batchVectors]float32
	for b := range blocks {
		at, from := (tile+b)*n*tileRows, (t.BlockY()*blocks+b)*2*halfSize
		plane := planes[at : at+n*tileRows]
		for half := range q.halves() {
			part := x[from+half*halfSize:][:2*halfSize/q.halves()]
			f := q.scaling(factors, place{tile + b, lane, half}, of)
			for j := range 4 {
				for k := range 2 / q.halves() {
					word := q.word(plane, lane, wordOf{j, half + k}, of)
					for i := range 4 {
						w, column := weight[I](f, word, i), k*halfSize+(4*j+i)*batchVectors
						for r := range batchVectors {
							sums[r] = math32.FMA(w, part[column+r], sums[r])
						}
					}
				}
			}
		}
	}
	storeRows(t, &sums, vectors, target{y, s.Rows, add})
}
