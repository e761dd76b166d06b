package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Batch is the operands of a product of a matrix and several vectors: row i of Y = matrix x row i of X. A row of X has a number for
// each column of the matrix, a row of Y one for each of its rows. Scratch, which is overwritten, has a number for each block of a row
// of X.
type Batch struct {
	Rows          int
	X, Y, Scratch device.Slice[float32]
}

// row returns the vectors of row i.
func (b Batch) row(i int, s Shape) Vectors {
	n := s.Blocks()
	return Vectors{b.X.Slice(i*s.Columns, (i+1)*s.Columns), b.Y.Slice(i*s.Rows, (i+1)*s.Rows), b.Scratch.Slice(0, n)}
}

// check reports whether the operands fit a matrix of a shape.
func (b Batch) check(s Shape) error {
	if b.Rows < 0 || b.X.Len() != b.Rows*s.Columns || b.Y.Len() != b.Rows*s.Rows || b.Rows > 0 && b.Scratch.Len() < s.Blocks() {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, operands of %d, %d and %d", ErrShape, s.Rows, s.Columns, b.Rows, b.X.Len(), b.Y.Len(), b.Scratch.Len())
	}
	return nil
}

// eachRow multiplies row by row. It is the form for one row, and for GPUs.
func (b Batch) eachRow(s *device.Stream, shape Shape, multiply func(s *device.Stream, f Form, v Vectors) error) error {
	f := Tiles
	if row.FormFor(s) == row.Wide {
		f = Warps
	}
	for i := range b.Rows {
		if err := multiply(s, f, b.row(i, shape)); err != nil {
			return err
		}
	}
	return nil
}

// grid returns the blocks of a batch kernel.
func (b Batch) grid(s Shape) device.Blocks {
	return device.Blocks{X: s.tiles(), Y: (b.Rows + batchRows - 1) / batchRows}
}

// MultiplyBatch stores the products of the matrix and the rows of b.X in b.Y.
func (m DeviceQ4) MultiplyBatch(s *device.Stream, b Batch) error {
	if err := b.check(m.Shape); err != nil {
		return err
	}
	if b.Rows < 2 || row.FormFor(s) == row.Wide {
		return b.eachRow(s, m.Shape, m.Multiply)
	}
	return BatchQ4(s, b.grid(m.Shape), m.Planes, m.Scales, m.Minima, b.X, b.Y, m.Shape)
}

// MultiplyBatch stores the products of the matrix and the rows of b.X in b.Y.
func (m DeviceQ8) MultiplyBatch(s *device.Stream, b Batch) error {
	if err := b.check(m.Shape); err != nil {
		return err
	}
	if b.Rows < 2 || row.FormFor(s) == row.Wide {
		return b.eachRow(s, m.Shape, m.Multiply)
	}
	return BatchQ8(s, b.grid(m.Shape), m.Planes, m.Scales, b.X, b.Y, m.Shape)
}

// batchRows is the number of vectors that a block multiplies: it converts each weight once for all of them. If fewer remain, it
// multiplies the last one several times.
const batchRows = 8

// rowsOf returns the numbers of the vectors that a thread block multiplies.
func rowsOf(t gpu.Thread, count int) (rows [batchRows]int) {
	for r := range batchRows {
		rows[r] = min(t.BlockY()*batchRows+r, count-1)
	}
	return rows
}

// storeRows stores the sums of a thread's row of the matrix. It tests all indices first, since vector code cannot fault between
// stores.
func storeRows(t gpu.Thread, sums *[batchRows]float32, y []float32, s Shape) {
	rows := rowsOf(t, len(y)/s.Rows)
	row := t.BlockX()*tileRows + t.ThreadX()
	if row >= s.Rows {
		return
	}
	for r := range batchRows {
		if rows[r] = rows[r]*s.Rows + row; uint(rows[r]) >= uint(len(y)) {
			return
		}
	}
	for r := range batchRows {
		y[rows[r]] = sums[r]
	}
}

// batchQ4 multiplies a tile of the format Q4_1 by several vectors.
//
//gpu:kernel
//gpu:block 16
func batchQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, x, y []float32, s Shape) {
	blocks := s.Columns / BlockSize
	tile := t.BlockX() * blocks
	lane := t.ThreadX()
	rows := rowsOf(t, len(x)/s.Columns)
	var sums [batchRows]float32
	for b := range blocks {
		from := (tile + b) * tileRows
		plane := planes[from*4 : from*4+4*tileRows]
		d, m := scales[from+lane].Float32(), minima[from+lane].Float32()
		for j := range 4 {
			q := plane[j*tileRows+lane]
			for i := range 4 {
				low := math32.FMA(d, float32(int32(q>>(8*i)&15)), m)
				high := math32.FMA(d, float32(int32(q>>(8*i+4)&15)), m)
				k := b*BlockSize + 4*j + i
				for r := range batchRows {
					sums[r] = math32.FMA(low, x[rows[r]*s.Columns+k], sums[r])
					sums[r] = math32.FMA(high, x[rows[r]*s.Columns+k+BlockSize/2], sums[r])
				}
			}
		}
	}
	storeRows(t, &sums, y, s)
}

// batchQ8 multiplies a tile of the format Q8_0 by several vectors.
//
//gpu:kernel
//gpu:block 16
func batchQ8(t gpu.Thread, planes []uint32, scales []dtype.F16, x, y []float32, s Shape) {
	blocks := s.Columns / BlockSize
	tile := t.BlockX() * blocks
	lane := t.ThreadX()
	rows := rowsOf(t, len(x)/s.Columns)
	var sums [batchRows]float32
	for b := range blocks {
		from := (tile + b) * tileRows
		plane := planes[from*8 : from*8+8*tileRows]
		d := scales[from+lane].Float32()
		for j := range 8 {
			q := int32(plane[j*tileRows+lane])
			for i := range 4 {
				w := d * float32(q<<(24-8*i)>>24)
				for r := range batchRows {
					sums[r] = math32.FMA(w, x[rows[r]*s.Columns+b*BlockSize+4*j+i], sums[r])
				}
			}
		}
	}
	storeRows(t, &sums, y, s)
}
