package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Norm is a vector for which MultiplyNorm computes RMSNorm: it divides the vector by the root of the mean of its squares plus Epsilon, and
// multiplies it by Gain. Both slices have an element for each column of the matrix.
type Norm struct {
	X, Gain device.Slice[float32]
	Epsilon float32
}

// Normalizes reports whether MultiplyNorm supports the matrix on the stream's device, a GPU.
func Normalizes(s *device.Stream, m Matrix) bool {
	_, ok := m.normPlan(s.Device())
	return ok
}

// normPlan returns the plan of a product of the matrix and one vector, and reports whether its kernel can normalize the vector: each thread has
// a few elements.
func (m Matrix) normPlan(d *device.Device) (p plan, ok bool) {
	if !m.valid() || m.Rows == 0 || m.plain(d, 1) {
		return p, false
	}
	if p = planOf[dtype.BF16](d, m, 1); p.gemv {
		p.norm, p.Form = true, Form{normThreads, p.Blocks * p.Threads / normThreads}
		return p, p.before() <= normSlots
	}
	return p, p.few == 1 && p.slices == 1 && m.Columns <= 4*stageQuads*p.Threads
}

// MultiplyNorm stores the product of a matrix and the normalized vector in y. Normalizes must be true. All vectors begin at multiples of 16
// bytes. It saves a kernel before each product: a block of threads normalizes the vector while it copies it to shared memory.
func MultiplyNorm(s *device.Stream, m Matrix, x Norm, y device.Slice[dtype.BF16]) error {
	if err := m.check(); err != nil {
		return err
	}
	return m.multiplyNorm(s, x, y, false)
}

// multiplyNorm is MultiplyNorm, or GateNorm if gated is set.
func (m Matrix) multiplyNorm(s *device.Stream, x Norm, y device.Slice[dtype.BF16], gated bool) error {
	p, ok := m.normPlan(s.Device())
	rows := m.Rows
	if gated {
		rows /= 2
		p.Blocks = min(p.Blocks, rows/tileRows)
	}
	if x.X.Len() != m.Columns || x.Gain.Len() != m.Columns || y.Len() != rows || !y.Aligned(16) || !ok {
		return fmt.Errorf("%w: a matrix of %d x %d, a vector of %d, a gain of %d, results of %d", ErrShape, m.Rows, m.Columns, x.X.Len(), x.Gain.Len(), y.Len())
	}
	z := p.size(m, 1)
	z.Epsilon, z.Gated = x.Epsilon, gated
	return p.launch(s, m, ends{x: x.X, half: device.None[dtype.BF16](), gain: x.Gain, y: device.None[float32](), brief: y}, z)
}

// Gates reports whether GateNorm supports the matrix on the stream's device, a GPU.
func Gates(s *device.Stream, m Matrix) bool {
	p, ok := m.normPlan(s.Device())
	return ok && p.norm && m.Rows%(2*tileRows) == 0
}

// GateNorm is MultiplyNorm, except that it stores SwiGLU of the products of the first half of the rows, the gate, and of the second half in
// y. Gates must be true.
func GateNorm(s *device.Stream, m Matrix, x Norm, y device.Slice[dtype.BF16]) error {
	if err := m.check(); err != nil {
		return err
	}
	if !Gates(s, m) {
		return fmt.Errorf("%w: no kernel for a matrix of %d x %d", ErrShape, m.Rows, m.Columns)
	}
	return m.multiplyNorm(s, x, y, true)
}

// stageNormalized copies a vector to shared memory and normalizes it. It loads the gain while the preceding kernel runs.
func (f *fewState[Q, N]) stageNormalized(t gpu.Thread, from, gain []numbers, epsilon float32) {
	where, quads := places(t, int32(t.ThreadX()-t.Lane())), f.Columns/4
	g := elements{single: gain}.several(where, 0, quads-1)
	t.AwaitPrevious()
	x := elements{single: from}.several(where, 0, quads-1)
	var squares float32
	for k := range x {
		if where[k] < quads {
			squares = dot(x[k], x[k], squares)
		}
	}
	factor := 1 / math32.Sqrt(f.total(t, squares)/float32(f.Columns)+epsilon)
	for k := range x {
		for j := range x[k] {
			x[k][j] *= factor * g[k][j]
		}
	}
	f.keep(t, 0, where, x)
	t.Sync()
}

// total returns the sum of what the threads of a block have.
func (f *fewState[Q, N]) total(t gpu.Thread, v float32) (sum float32) {
	v = gpu.WarpReduceAdd(t, v)
	if t.Lane() == 0 {
		f.sums[t.Warp()] = v
	}
	t.Sync()
	for w := range t.BlockDimX() / warpSize {
		sum += f.sums[w]
	}
	return sum
}
