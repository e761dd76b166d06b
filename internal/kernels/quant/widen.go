package quant

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/math32"
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
	grid, out := device.Blocks{X: m.tiles()}, device.View[halves](to)
	if m.Format == Q8_0 {
		return WidenQ8(s, grid, m.Planes, m.Scales, out, m.Shape)
	}
	minima, factor := m.minima()
	return WidenQ4(s, grid, m.Planes, m.Scales, minima, factor, out, m.Shape)
}

// widenThreads is the number of threads of a block that converts a tile.
const widenThreads = 256

// widenQ4 converts a tile of weights of 4 bits. A thread takes a block at a time.
//
//gpu:kernel
//gpu:block 256
func widenQ4(t gpu.Thread, planes []uint32, scales, minima []dtype.F16, factor float32, out []halves, s Shape) {
	blocks := s.Columns / BlockSize
	for i := t.ThreadX(); i < blocks*tileRows; i += widenThreads {
		row, block := t.BlockX()*tileRows+i%tileRows, i/tileRows
		if row >= s.Rows {
			return // as all of the thread's blocks are of this row
		}
		at, to := t.BlockX()*blocks+block, (row*blocks+block)*(BlockSize/4)
		d, m := scales[at*tileRows+i%tileRows].Float32(), minima[at*tileRows+i%tileRows].Float32()*factor
		for j := range 4 {
			q := planes[(at*4+j)*tileRows+i%tileRows]
			var low, high halves
			for k := range low {
				low[k] = dtype.BF16From32(math32.FMA(d, float32(int32(q>>(8*k)&15)), m))
				high[k] = dtype.BF16From32(math32.FMA(d, float32(int32(q>>(8*k+4)&15)), m))
			}
			out[to+j], out[to+4+j] = low, high
		}
	}
}

// widenQ8 converts a tile of weights of 8 bits. A thread takes a block at a time.
//
//gpu:kernel
//gpu:block 256
func widenQ8(t gpu.Thread, planes []uint32, scales []dtype.F16, out []halves, s Shape) {
	blocks := s.Columns / BlockSize
	for i := t.ThreadX(); i < blocks*tileRows; i += widenThreads {
		row, block := t.BlockX()*tileRows+i%tileRows, i/tileRows
		if row >= s.Rows {
			return // as all of the thread's blocks are of this row
		}
		at, to := t.BlockX()*blocks+block, (row*blocks+block)*(BlockSize/4)
		d := scales[at*tileRows+i%tileRows].Float32()
		for j := range 8 {
			q := int32(planes[(at*8+j)*tileRows+i%tileRows])
			var w halves
			for k := range w {
				w[k] = dtype.BF16From32(d * float32(q<<(24-8*k)>>24))
			}
			out[to+j] = w
		}
	}
}
