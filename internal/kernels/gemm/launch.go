package gemm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// mapOf returns a tensor map of a matrix.
func mapOf[T gpu.Half](x device.Slice[T], m matrix) device.TensorMap[gpu.Panel[T]] {
	return device.MapTensor[gpu.Panel[T]](x, device.Extent{Width: m.cols, Height: m.rows, Depth: 1, Row: m.ld})
}

// tiles computes whole tiles.
func (p planner[T, C]) tiles(s *device.Stream) error {
	a, b := mapOf(p.x.A, p.a()), mapOf(p.x.B, p.b())
	j := p.job()
	blocks := device.Blocks{X: min(int(j.tiles()), p.info.Cores)}
	if c, ok := any(p.x.C).(device.Slice[float32]); ok {
		o := output{LD: int32(p.LDC), Mode: wholes}
		if p.x.Residual.Len() > 0 {
			o.Mode = adding
		}
		return p.x.kernels(p.Layout).parts(s, blocks, a, b, c, j, o)
	}
	out := matrix{p.M, p.width, p.LDC}
	c := mapOf(any(p.x.C).(device.Slice[T]), out)
	r, bias := c, device.MapTensor[[1][128]float32](device.View[float32](p.x.A.Slice(0, 8)), device.Extent{Width: 4, Height: 1, Depth: 1}) // not read
	if p.x.Residual.Len() > 0 {
		j.Residual, r = 1, mapOf(any(p.x.Residual).(device.Slice[T]), out)
	}
	if n := p.x.Bias.Len(); n > 0 {
		j.Bias, bias = 1, device.MapTensor[[1][128]float32](p.x.Bias, device.Extent{Width: n, Height: 1, Depth: 1, Row: ceil(n, 4) * 4})
	}
	if p.x.Activation != None {
		return p.x.kernels(p.Layout).curved(s, blocks, a, b, c, r, bias, j)
	}
	return p.x.kernels(p.Layout).resident(s, blocks, a, b, c, r, bias, j)
}

// split computes segments of tiles and adds them up.
func (p planner[T, C]) split(s *device.Stream) error {
	a, b := mapOf(p.x.A, p.a()), mapOf(p.x.B, p.b())
	j := joint{job: p.job(), LDC: int32(p.LDC)}
	blocks := blocksOf(j.job, p.info.Cores)
	j.Blocks = int32(blocks)
	work := p.x.Workspace.Slice(0, workspaceOf(j.job, p.info.Cores))
	if err := p.x.kernels(p.Layout).parts(s, device.Blocks{X: blocks}, a, b, work, j.job, output{Mode: segments}); err != nil {
		return err
	}
	return p.x.join(s, device.Blocks{X: int(j.tiles()), Y: 2 * int(j.strands())}, work, p.x.C, p.x.Residual, p.x.Bias, j)
}

// plain launches tensor.
func (p planner[T, C]) plain(s *device.Stream) error {
	q := tileOf(p.Shape, p.width, p.x.Activation, 32)
	blocks := device.Blocks{X: ceil(p.width, 4*q.Span), Y: ceil(p.M, 128)}
	return p.x.tensor(s, blocks, p.x.A, p.x.B, p.x.C, p.x.Residual, p.x.Bias, q)
}

// tileOf returns the arguments of tensor and square, whose tiles consist of parts of span columns.
func tileOf(s Shape, width int, a Activation, span int) tile {
	q := tile{M: s.M, N: s.N, K: s.K, Width: width, Span: span, Second: span / 2, LDC: s.LDC, Activation: a}
	if a == SwiGLU {
		q.Span, q.Second = span/2, width
	}
	q.A, q.B = operand{s.LDA, 1}, operand{s.LDB, 1} // sums run along rows
	if s.Layout == TN {
		q.A = operand{1, s.LDA}
	}
	if s.Layout != NT {
		q.B = operand{1, s.LDB}
	}
	return q
}
