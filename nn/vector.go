package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// maxColumns is the largest number of columns of a matrix that a fused kernel multiplies: it has the vector in shared memory.
const maxColumns = 1 << 14

// form returns how a GPU multiplies the matrix by one vector, or the zero Form if it does not: the forms that were fastest on an H200
// for the matrices of a model of 8B parameters.
func (m brains) form(s *device.Stream) matvec.Form {
	info := s.Device().Info()
	switch {
	case info.Kind == "cpu" || info.Capability.Major < 8 || m.Columns%8 != 0 || m.Rows%2 != 0 || m.Columns > maxColumns:
		return matvec.Form{}
	case m.Rows > 1<<16:
		return matvec.Form{Threads: 384}
	case m.Rows >= 4*m.Columns:
		return matvec.Form{Threads: 256}
	case m.Rows == m.Columns:
		return matvec.Form{Threads: 256, Blocks: 2 * info.Cores}
	}
	return matvec.Form{Threads: 256, Blocks: 3 * info.Cores}
}

// vector returns the matrix for package matvec.
func (m brains) vector(f matvec.Form) matvec.Matrix {
	return matvec.Matrix{Shape: matvec.Shape{Rows: m.Rows, Columns: m.Columns}, W: m.w, Form: f}
}

// fused returns the matrix for a fused kernel of package matvec that normalizes x first, and reports whether there is one: x is one
// vector, and the norm has the factors for it.
func fused(s *device.Stream, m matrix, n *RMSNorm, x *tensor.Tensor) (matvec.Matrix, bool) {
	b, ok := m.(brains)
	if !ok || n.gain.Len() != b.Columns || x.Len() != b.Columns || x.Dim(-1) != b.Columns {
		return matvec.Matrix{}, false
	}
	f := b.form(s)
	return b.vector(f), f.Threads > 0
}

// of returns the operand of a fused kernel.
func (n *RMSNorm) of(x *tensor.Tensor) (matvec.Norm, error) {
	v, err := tensor.SliceOf[float32](x)
	return matvec.Norm{X: v, Gain: n.gain, Epsilon: n.Epsilon}, err
}

// Slots describe the pages of a cache, in which RotateForward stores the key and the value of a token. Each page has the shape
// [KeyHeads][64][HeadDim]. Table has a row for each sequence, with the numbers of up to MaxPages pages.
type Slots struct {
	Heads, KeyHeads, HeadDim, MaxPages int
	Place                              device.Slice[int32]   // the token's sequence and its position there
	Angles                             device.Slice[float32] // the cosines, then the sines, of the pairs of a head
	Table                              device.Slice[int32]
	Keys, Values                       device.Slice[dtype.BF16]
}

// CanRotate reports whether RotateForward has a kernel for the rows of x, a residual stream.
func (l *Stacked) CanRotate(n *RMSNorm, x *tensor.Tensor) bool {
	if x.Err() != nil || x.Scope() == nil || len(l.parts) != 3 {
		return false
	}
	_, ok := fused(x.Scope().Stream(), l.all, n, x)
	return ok
}

// RotateForward computes attention's queries, keys and values for x, one row of a residual stream, and rotates the queries and the keys. It returns
// the queries, and stores the key and the value in the cache that slots describes. Call it only if CanRotate returns true.
func (l *Stacked) RotateForward(n *RMSNorm, x *tensor.Tensor, slots Slots) *tensor.Tensor {
	return tensor.Op{Name: "Rotate", In: []*tensor.Tensor{x}, DType: dtype.BFloat16, Shape: []int{1, l.Out[0]}, Launch: func(s *device.Stream, q *tensor.Tensor) error {
		w, ok := fused(s, l.all, n, x)
		if !ok {
			return fmt.Errorf("%w: %v for a kernel of one row", tensor.ErrShape, x.Shape())
		}
		from, err := n.of(x)
		if err != nil {
			return err
		}
		queries, err := tensor.SliceOf[dtype.BF16](q)
		if err != nil {
			return err
		}
		return matvec.QKV(s, w, from, matvec.Token{
			Heads: slots.Heads, KeyHeads: slots.KeyHeads, Dim: slots.HeadDim, Pages: slots.MaxPages, At: device.View[matvec.Place](slots.Place), Table: slots.Table,
			Angles: slots.Angles, Bias: l.bias, Q: queries, K: slots.Keys, V: slots.Values,
		})
	}}.Apply()
}
