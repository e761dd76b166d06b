package matvec

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The kernels of this file are the CPU's forms of what precedes and follows a product: they work between a vector and the scratch
// memory of a Matrix.

// normPlain stores x divided by its root mean square and multiplied by gain, rounded to bfloat16 as the GPU's forms do.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func normPlain(t gpu.Thread, x []float32, gain []dtype.BF16, epsilon float32, out []float32) {
	parts := gpu.Shared[[threads]float32](t)
	n := len(x)
	var sum float32
	for i := t.ThreadX(); i < n; i += threads {
		sum += x[i] * x[i]
	}
	parts[t.ThreadX()] = sum
	t.Sync()
	sum = 0
	for i := range threads {
		sum += parts[i]
	}
	scale := math32.Rsqrt(sum/float32(n) + epsilon)
	for i := t.ThreadX(); i < n && i < len(gain) && i < len(out); i += threads {
		out[i] = dtype.BF16From32(x[i] * scale * gain[i].Float32()).Float32()
	}
}

// widenPlain stores x as float32 numbers.
//
//gpu:kernel
//gpu:assume nothing
func widenPlain(t gpu.Thread, x []dtype.BF16, out []float32) {
	if i := t.GlobalX(); i < len(x) && i < len(out) {
		out[i] = x[i].Float32()
	}
}

// addPlain adds x to y.
//
//gpu:kernel
//gpu:assume nothing
func addPlain(t gpu.Thread, x, y []float32) {
	if i := t.GlobalX(); i < len(x) && i < len(y) {
		y[i] += x[i]
	}
}

// gatePlain stores SwiGLU of the first and the second half of x.
//
//gpu:kernel
//gpu:assume nothing
func gatePlain(t gpu.Thread, x []float32, out []dtype.BF16) {
	n := len(out)
	if i := t.GlobalX(); i < n && n+i < len(x) {
		out[i] = dtype.BF16From32(silu(x[i]) * x[n+i])
	}
}

// bestPlain stores the largest Key of x. A block has one thread.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 1
func bestPlain(t gpu.Thread, x []float32, best []uint64) {
	var key uint64
	for i, v := range x {
		key = max(key, Key(v, i))
	}
	best[0] = key
}

// tokenPlain rotates and stores queries, keys and values. A thread has a pair of elements.
//
//gpu:kernel
//gpu:assume nothing
func tokenPlain(t gpu.Thread, x []float32, at []Place, table []int32, angles, bias []float32, h heads, q, k, v []dtype.BF16) {
	pair := t.GlobalX()
	if pair >= len(x)/2 {
		return
	}
	p := h.placed(pair, angles, bias)
	first := p.head*2*h.half + p.i
	h.store(p, [2]float32{x[first], x[first+h.half]}, rotated{q, k, v, h.slot(at[0], table)})
}

// plain multiplies the vector in the first part of the scratch memory and returns the products, which are in the second part.
func (m Matrix) plain(s *device.Stream) (device.Slice[float32], error) {
	y := m.Scratch.Slice(m.Columns, m.Columns+m.Rows)
	return y, Multiply(s, m.Shape, Operands[dtype.BF16]{W: m.W, X: m.input(), Y: y})
}

// input returns the part of the scratch memory for the vector.
func (m Matrix) input() device.Slice[float32] { return m.Scratch.Slice(0, m.Columns) }

// plainNormed is plain of a normalized vector.
func (m Matrix) plainNormed(s *device.Stream, n Norm) (y device.Slice[float32], err error) {
	if err := NormPlain(s, device.Blocks{X: 1}, n.X, n.Gain, n.Epsilon, m.input()); err != nil {
		return y, err
	}
	return m.plain(s)
}
