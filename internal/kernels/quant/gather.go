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

// checkGather reports whether the operands of Gather fit a matrix of a shape.
func (s Shape) checkGather(rows device.Slice[int32], y device.Slice[float32]) error {
	if y.Len() != rows.Len()*s.Columns {
		return fmt.Errorf("%w: %d rows of %d columns in %d elements", ErrShape, rows.Len(), s.Columns, y.Len())
	}
	return nil
}

// Gather stores the rows of the matrix with the given numbers in y, as float32 weights. A number outside the matrix yields a row of
// zeros.
func (m DeviceQ4) Gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	if err := m.checkGather(rows, y); err != nil || rows.Len() == 0 {
		return err
	}
	return GatherQ4(s, device.Blocks{X: rows.Len()}, m.Planes, m.Scales, m.Minima, rows, y, m.Shape)
}

// Gather stores the rows of the matrix with the given numbers in y, as float32 weights. A number outside the matrix yields a row of
// zeros.
func (m DeviceQ8) Gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	if err := m.checkGather(rows, y); err != nil || rows.Len() == 0 {
		return err
	}
	return GatherQ8(s, device.Blocks{X: rows.Len()}, m.Planes, m.Scales, rows, y, m.Shape)
}

// find returns a row's number, or -1 if it is outside the matrix, its place in its tile, and the number of the tile's first block.
func find(row int, s Shape) (valid, lane, block int) {
	if row < 0 || row >= s.Rows {
		return -1, 0, 0
	}
	return row, row % tileRows, row / tileRows * (s.Columns / BlockSize)
}

// gatherQ4 converts a row of the format Q4_1.
//
//gpu:kernel
//gpu:block 64
func gatherQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, rows []int32, y []float32, s Shape) {
	row, lane, tile := find(int(rows[t.BlockX()]), s)
	out := y[t.BlockX()*s.Columns : (t.BlockX()+1)*s.Columns]
	for i := t.ThreadX(); i < len(out); i += gatherThreads {
		var w float32
		if row >= 0 {
			at, k := tile+int(uint(i)/BlockSize), uint(i)%BlockSize
			q := planes[(at*4+int(k%16/4))*tileRows+lane] >> (k%4*8 + k/16*4) & 15
			at = at*tileRows + lane
			w = math32.FMA(scales[at].Float32(), float32(int32(q)), minima[at].Float32())
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
