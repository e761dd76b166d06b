package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
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

// Fine reports whether a device multiplies a number of vectors by MultiplyFine as fast as by Multiply: GPUs, and more vectors than those by
// which Multiply converts no weights, and than those for which package gemm has kernels for bfloat16 only.
func Fine(d *device.Device, m Matrix, rows int) bool {
	return !m.plain(d, rows) && rows > mostRows && gemm.Fine(d, widened(m.Shape, rows))
}

// FineOperands are the operands of MultiplyFine. Workspace has at least as many elements as FineWorkspace returns.
type FineOperands struct {
	Rows      int
	X         device.Slice[dtype.F16]
	Y         device.Slice[float32]
	Workspace device.Slice[float32]
}

// FineWorkspace returns the elements of scratch memory that MultiplyFine needs for a number of vectors.
func FineWorkspace(d *device.Device, m Matrix, rows int) int {
	if !m.valid() || rows < 1 {
		return 0
	}
	return widenedWorkspace[dtype.BF16, float32](d, m.Shape, rows)
}

// MultiplyFine is Multiply for float16 vectors, whose products are more exact for many vectors: weights are rounded to float16, which has 11
// bits of precision and not 8. The weights of the matrix must be Moderate. Workspace begins at a multiple of 16 bytes.
func MultiplyFine(s *device.Stream, m Matrix, x FineOperands) error {
	if err := m.check(); err != nil {
		return err
	}
	if n := FineWorkspace(s.Device(), m, x.Rows); x.Rows < 0 || x.X.Len() != x.Rows*m.Columns || x.Y.Len() != x.Rows*m.Rows || x.Workspace.Len() < n {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, operands of %d and %d, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.X.Len(), x.Y.Len(), x.Workspace.Len(), n)
	}
	if x.Rows == 0 || m.Rows == 0 {
		return nil
	}
	weights, work := cut(x.Workspace, m.Rows*m.Columns/2)
	w := device.View[dtype.F16](weights)
	minima, factor := m.minima()
	if err := m.Format.family().fine(s, m.widening(), m.Planes, m.Scales, minima, m.groups(), factor, device.View[[8]dtype.F16](w), m.Shape, m.Format.fields()); err != nil {
		return err
	}
	return gemm.HalfTo32(s, widened(m.Shape, x.Rows), gemm.Operands[dtype.F16, dtype.F16, float32]{A: x.X, B: w, C: x.Y, Workspace: work})
}

// GatesMany reports whether MultiplyGate takes a number of vectors.
func GatesMany(d *device.Device, m Matrix, rows int) bool {
	return !m.plain(d, rows) && m.widens(rows) && m.Rows%2 == 0
}

// GateWorkspace returns the elements of scratch memory that MultiplyGate needs for a number of vectors.
func GateWorkspace(d *device.Device, m Matrix, rows int) int {
	if !m.valid() || rows < 1 {
		return 0
	}
	return m.Rows*m.Columns/2 + gemm.Workspace(d, widened(m.Shape, rows), gemm.SwiGLU)
}

// MultiplyGate computes SwiGLU of the products of many vectors: SiLU of those with the first half of the matrix's rows times those with the
// second half. Weights are rounded to bfloat16; products are not. A row of Y has an element for each two rows of the matrix.
func MultiplyGate(s *device.Stream, m Matrix, x Operands[dtype.BF16, dtype.BF16]) error {
	if err := m.check(); err != nil {
		return err
	}
	if n := GateWorkspace(s.Device(), m, x.Rows); !GatesMany(s.Device(), m, x.Rows) || x.Add || x.X.Len() != x.Rows*m.Columns || x.Y.Len() != x.Rows*m.Rows/2 || x.Workspace.Len() < n {
		return fmt.Errorf("%w: gates of %d x %d, %d vectors, operands of %d and %d, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.X.Len(), x.Y.Len(), x.Workspace.Len(), n)
	}
	weights, work := cut(x.Workspace, m.Rows*m.Columns/2)
	w := device.View[dtype.BF16](weights)
	if err := m.widen(s, w); err != nil {
		return err
	}
	return gemm.Half(s, widened(m.Shape, x.Rows), gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: x.X, B: w, C: x.Y, Workspace: work, Activation: gemm.SwiGLU})
}

// widen converts the weights.
func (m Matrix) widen(s *device.Stream, to device.Slice[dtype.BF16]) error {
	minima, factor := m.minima()
	return m.Format.family().widen(s, m.widening(), m.Planes, m.Scales, minima, m.groups(), factor, device.View[[8]dtype.BF16](to), m.Shape, m.Format.fields())
}

// widening returns the grid of the kernel widen.
func (m Matrix) widening() device.Blocks {
	return device.Blocks{X: m.tiles(), Y: (m.blocks() + widenBlocks - 1) / widenBlocks}
}

const (
	widenThreads = 256 // of a block that converts a part of a tile
	widenBlocks  = 32  // the part of each row, in blocks of weights
)

// widen converts a part of a tile of a matrix. The threads of a warp take the quarters of two blocks of four rows at a time: they load
// planes of rows that are next to each other in memory, and store 128 bytes of each row.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
//gpu:instance WidenQ4 = widen[nibbles, dtype.BF16, row.BF16]
//gpu:instance WidenQ8 = widen[bytes, dtype.BF16, row.BF16]
//gpu:instance WidenMixed = widen[mixed, dtype.BF16, row.BF16]
//gpu:instance WidenQ4F16 = widen[nibbles, dtype.F16, row.F16]
//gpu:instance WidenQ8F16 = widen[bytes, dtype.F16, row.F16]
//gpu:instance WidenMixedF16 = widen[mixed, dtype.F16, row.F16]
func widen[I integers, T any, F row.Format[T]](t gpu.Thread, planes []uint32, scales, minima []dtype.F16, groups []uint16, factor float32, out [][8]T, s Shape, of fields) {
	var q I
	var format F
	me, blocks := t.ThreadX(), s.Columns/BlockSize
	quarter := me % 4
	lane := me/8%4 + me/32%4*4
	line := t.BlockX()*tileRows + lane
	end := min(blocks, (t.BlockY()+1)*widenBlocks)
	if line >= s.Rows {
		return
	}
	for block := t.BlockY()*widenBlocks + me/4%2 + me/128*2; block < end; block += widenThreads / 64 {
		at := t.BlockX()*blocks + block
		f := q.scaling(factorArrays{scales, minima, groups, factor}, place{at, lane, quarter / 2}, of)
		var w [8]T
		for j := range 2 {
			word := q.word(planes, at*int(q.planes(of))*tileRows+lane, wordOf{quarter%2*2 + j, quarter / 2}, of)
			for k := range 4 {
				w[4*j+k] = format.Of(weight[I](f, word, k))
			}
		}
		out[(line*blocks+block)*4+quarter] = w
	}
}
