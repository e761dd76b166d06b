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
	grid := device.Blocks{X: m.tiles(), Y: (m.blocks() + widenBlocks - 1) / widenBlocks}
	return m.Format.family().widen(s, grid, m.Planes, m.Scales, minima, m.groups(), factor, device.View[eightHalves](to), m.Shape, m.Format.fields())
}

const (
	widenThreads = 256 // of a block that converts a part of a tile
	widenBlocks  = 32  // the part of each row, in blocks of weights
)

// eightHalves is what a thread stores at a time: a quarter of a block.
type eightHalves = [8]dtype.BF16

// widen converts a part of a tile of a matrix. The threads of a warp take the quarters of two blocks of four rows at a time: they load
// planes of rows that are next to each other in memory, and store 128 bytes of each row.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
//gpu:instance WidenQ4 = widen[nibbles]
//gpu:instance WidenQ8 = widen[bytes]
//gpu:instance WidenMixed = widen[mixed]
func widen[I integers](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, out []eightHalves, s Shape, of fields) {
	var q I
	me, blocks := t.ThreadX(), s.Columns/BlockSize
	quarter := me % 4
	lane := me/8%4 + me/32%4*4
	row := t.BlockX()*tileRows + lane
	end := min(blocks, (t.BlockY()+1)*widenBlocks)
	if row >= s.Rows {
		return
	}
	for block := t.BlockY()*widenBlocks + me/4%2 + me/128*2; block < end; block += widenThreads / 64 {
		at := t.BlockX()*blocks + block
		f := q.scaling(factorArrays{scales, minima, groups, factor}, place{at, lane, quarter / 2}, of)
		var w eightHalves
		for j := range 2 {
			word := q.word(planes, at*int(q.planes(of))*tileRows+lane, wordOf{quarter%2*2 + j, quarter / 2}, of)
			for k := range 4 {
				w[4*j+k] = dtype.BF16From32(weight[I](f, word, k))
			}
		}
		out[(row*blocks+block)*4+quarter] = w
	}
}
