package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	gatherThreads = 64 // of a block
	gatherColumns = 4 * gatherThreads
)

// Gather stores the rows of the matrix with the given numbers in y, as float32 weights. A number outside the matrix yields a row of
// zeros.
func Gather(s *device.Stream, m Matrix, rows device.Slice[int32], y device.Slice[float32]) error {
	if err := m.check(); err != nil {
		return err
	}
	if y.Len() != rows.Len()*m.Columns {
		return fmt.Errorf("%w: %d rows of %d columns in %d elements", ErrShape, rows.Len(), m.Columns, y.Len())
	}
	if rows.Len() == 0 {
		return nil
	}
	minima, factor := m.minima()
	return m.Format.family().gather(s, device.Blocks{X: rows.Len(), Y: (m.Columns + gatherColumns - 1) / gatherColumns}, m.Planes, m.Scales, minima, m.groups(), factor, rows, y, m.Shape, m.Format.fields())
}

// find returns a row's number, or -1 if it is outside the matrix, its place in its tile, and the number of the tile's first block.
func find(row int, s Shape) (valid, lane, block int) {
	if row < 0 || row >= s.Rows {
		return -1, 0, 0
	}
	return row, row % tileRows, row / tileRows * (s.Columns / BlockSize)
}

// gather converts columns of a row of the matrix: those from gatherColumns*BlockY on of row BlockX.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 64
//gpu:instance GatherQ8 = gather[bytes]
//gpu:instance GatherMixed = gather[mixed]
func gather[I integers](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, rows []int32, y []float32, s Shape, of fields) {
	var q I
	row, lane, tile := find(int(rows[t.BlockX()]), s)
	out := y[t.BlockX()*s.Columns : (t.BlockX()+1)*s.Columns]
	for i := t.BlockY()*gatherColumns + t.ThreadX(); i < min((t.BlockY()+1)*gatherColumns, len(out)); i += gatherThreads {
		var w float32
		if row >= 0 {
			block, k := tile+int(uint(i)/BlockSize), uint(i)%BlockSize
			half := int(k / halfBlock)
			f := q.scaling(factorArrays{scales, minima, groups, factor}, place{block, lane, half}, of)
			w = weight[I](f, q.word(planes, block*int(q.planes(of))*tileRows+lane, wordOf{int(k/4) % 4, half}, of), int(k%4))
		}
		out[i] = w
	}
}
