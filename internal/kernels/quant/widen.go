package quant

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
)

// widened is the product of many vectors and a matrix whose weights are bfloat16 numbers.
func widened(s Shape, rows int) gemm.Shape {
	return gemm.Shape{Layout: gemm.NT, M: rows, N: s.Rows, K: s.Columns}
}

// widenedWorkspace returns the elements of scratch memory for the weights, the vectors and package gemm.
func widenedWorkspace[X, Y Element](d *device.Device, s Shape, rows int) int {
	n := s.Rows * s.Columns / 2
	if !brief[X]() {
		n += rows * s.Columns / 2
	}
	return n + gemm.Workspace(d, widened(s, rows), gemm.None)
}

// multiplyWidened converts the weights and the vectors to bfloat16 and multiplies them.
func multiplyWidened[X, Y Element](s *device.Stream, m Matrix, x Operands[X, Y]) error {
	weights, work := cut(x.Workspace, m.Rows*m.Columns/2)
	w := device.View[dtype.BF16](weights)
	if err := m.widen(s, w); err != nil {
		return err
	}
	single, vectors := split(x.X)
	if !brief[X]() {
		var to device.Slice[float32]
		to, work = cut(work, x.X.Len()/2)
		vectors = device.View[dtype.BF16](to)
		if err := ConvertF32(s, device.Cover(x.X.Len(), 256), single, vectors); err != nil {
			return err
		}
	}
	y, half := split(x.Y)
	if brief[Y]() {
		o := gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: vectors, B: w, C: half, Workspace: work}
		if x.Add {
			o.Residual = half
		}
		return gemm.Half(s, widened(m.Shape, x.Rows), o)
	}
	o := gemm.Operands[dtype.BF16, dtype.BF16, float32]{A: vectors, B: w, C: y, Workspace: work}
	if x.Add {
		o.Residual = y
	}
	return gemm.HalfTo32(s, widened(m.Shape, x.Rows), o)
}

// widen converts the weights.
func (m Matrix) widen(s *device.Stream, to device.Slice[dtype.BF16]) error {
	minima, factor := m.minima()
	return m.Format.family().widen(s, device.Blocks{X: m.tiles()}, m.Planes, m.Scales, minima, m.groups(), factor, device.View[halves](to), m.Shape, m.Format.fields())
}

// widenThreads is the number of threads of a block that converts a tile.
const widenThreads = 256

// widen converts a tile of a matrix. A thread takes a block at a time.
//
//gpu:kernel
//gpu:assume narrow
//gpu:twin off
//gpu:block 256
//gpu:instance WidenQ4 = widen[nibbles]
//gpu:instance WidenQ8 = widen[bytes]
//gpu:instance WidenMixed = widen[mixed]
func widen[I integers](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, out []halves, s Shape, of fields) {
	var q I
	blocks := s.Columns / BlockSize
	for i := t.ThreadX(); i < blocks*tileRows; i += widenThreads {
		lane, block := i%tileRows, i/tileRows
		row := t.BlockX()*tileRows + lane
		if row >= s.Rows {
			return // as all of the thread's blocks are of this row
		}
		at, to := t.BlockX()*blocks+block, (row*blocks+block)*(BlockSize/4)
		for j := range BlockSize / 4 {
			f := q.scaling(factorArrays{scales, minima, groups, factor}, place{at, lane, j / 4}, of)
			word := q.word(planes, at*int(q.planes(of))*tileRows+lane, wordOf{j % 4, j / 4}, of)
			var w halves
			for k := range w {
				w[k] = dtype.BF16From32(weight[I](f, word, k))
			}
			out[to+j] = w
		}
	}
}
