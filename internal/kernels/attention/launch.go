package attention

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Dim is the number of elements of a query, a key or a value.
const Dim = 128

// Shape describes the operands. Queries and results are [Batch][Heads][Length][Dim], keys and values
// [Batch][KeyHeads][Length][Dim].
type Shape struct {
	Batch, Heads, Length int
	KeyHeads             int  // divides Heads; consecutive heads share the keys and values of one
	Causal               bool // query i sees only keys up to i
}

// ErrShape is the error of a shape that does not fit the operands.
var ErrShape = errors.New("shape does not fit")

// Operands are the tensors; O is overwritten.
type Operands struct{ Q, K, V, O device.Slice[dtype.BF16] }

// check returns ErrShape with an explanation if the operands do not have the shape.
func (s Shape) check(x Operands) error {
	if s.Batch < 1 || s.Heads < 1 || s.KeyHeads < 1 || s.Heads%s.KeyHeads != 0 || s.Length < 1 || s.Length > math.MaxInt32-tileRows {
		return fmt.Errorf("attention: %+v: %w", s, ErrShape)
	}
	q, k := s.Batch*s.Heads*s.Length*Dim, s.Batch*s.KeyHeads*s.Length*Dim
	if x.Q.Len() != q || x.O.Len() != q || x.K.Len() != k || x.V.Len() != k {
		return fmt.Errorf("attention: %d, %d, %d and %d elements of Q, K, V and O for %+v: %w", x.Q.Len(), x.K.Len(), x.V.Len(), x.O.Len(), s, ErrShape)
	}
	return nil
}

// Forward computes O = softmax(Q x K^T / sqrt(Dim)) x V for each head. The error is ErrShape or that of the launch.
func Forward(s *device.Stream, shape Shape, x Operands) error {
	if err := shape.check(x); err != nil {
		return err
	}
	queries := device.Extent{Width: Dim, Height: shape.Length, Depth: shape.Batch * shape.Heads}
	keyed := device.Extent{Width: Dim, Height: shape.Length, Depth: shape.Batch * shape.KeyHeads}
	blocks := device.Dim{X: (shape.Length + tileRows - 1) / tileRows, Y: shape.Heads, Z: shape.Batch}
	scale := float32(1 / math.Sqrt(Dim))
	q, k := device.MapTensor[panel](x.Q, queries), device.MapTensor[tall](x.K, keyed)
	v, o := device.MapTensor[panel](x.V, keyed), device.MapTensor[panel](x.O, queries)
	return Attend(s, blocks, q, k, v, o, shape, scale)
}
