package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// gatherThreads is the number of threads of a block that gathers a row.
const gatherThreads = 64

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
	grid := device.Blocks{X: rows.Len()}
	if m.Format == Q8_0 {
		return GatherQ8(s, grid, m.Planes, m.Scales, rows, y, m.Shape)
	}
	minima, factor := m.minima()
	return GatherQ4(s, grid, m.Planes, m.Scales, minima, factor, rows, y, m.Shape)
}

// find returns a row's number, or -1 if it is outside the matrix, its place in its tile, and the number of the tile's first block.
func find(row int, s Shape) (valid, lane, block int) {
	if row < 0 || row >= s.Rows {
		return -1, 0, 0
	}
	return row, row % tileRows, row / tileRows * (s.Columns / BlockSize)
}

// gatherQ4 converts a row of weights of 4 bits.
//
//gpu:kernel
//gpu:block 64
func gatherQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, factor float32, rows []int32, y []float32, s Shape) {
	row, lane, tile := find(int(rows[t.BlockX()]), s)
	out := y[t.BlockX()*s.Columns : (t.BlockX()+1)*s.Columns]
	for i := t.ThreadX(); i < len(out); i += gatherThreads {
		var w float32
		if row >= 0 {
			at, k := tile+int(uint(i)/BlockSize), uint(i)%BlockSize
			q := planes[(at*4+int(k%16/4))*tileRows+lane] >> (k%4*8 + k/16*4) & 15
			at = at*tileRows + lane
			w = math32.FMA(scales[at].Float32(), float32(int32(q)), minima[at].Float32()*factor)
		}
		out[i] = w
	}
}

// gatherQ8 converts a row of the format Q8_0.
//
//gpu:kernel
//gpu:block 64
func gatherQ8(t gpu.Thread, planes []uint32, scales []dtype.F16, rows []int32, y []float32, s Shape) {
	row, lane, tile := find(int(rows[t.BlockX()]), s)
	out := y[t.BlockX()*s.Columns : (t.BlockX()+1)*s.Columns]
	for i := t.ThreadX(); i < len(out); i += gatherThreads {
		var w float32
		if row >= 0 {
			at, k := tile+int(uint(i)/BlockSize), uint(i)%BlockSize
			q := int32(planes[(at*8+int(k/4))*tileRows+lane]) << (24 - k%4*8) >> 24
			w = scales[at*tileRows+lane].Float32() * float32(q)
		}
		out[i] = w
	}
}
