package bert

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/pooling"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Errors of NewBatch.
var (
	// ErrLength is the error of a text without tokens, or with more than Config.Positions.
	ErrLength = errors.New("bert: a text with too few or too many tokens")
	// ErrToken is the error of a token outside the vocabulary.
	ErrToken = errors.New("bert: a token outside the vocabulary")
)

// Batch is texts whose tokens follow each other without padding, on the device. It belongs to a Scope.
type Batch struct {
	texts, rows           int
	attention             prefill.Shape
	ids, positions, types *tensor.Tensor
	spans, starts         *tensor.Tensor // of texts: prefill.Span, and the first rows with the number of all rows
}

// Check returns the error of NewBatch for the tokens of a text: ErrLength or ErrToken.
func (m *Model) Check(tokens []int32) error {
	if len(tokens) == 0 || len(tokens) > m.Positions {
		return fmt.Errorf("%w: %d, from 1 to %d are allowed", ErrLength, len(tokens), m.Positions)
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= m.Vocabulary {
			return fmt.Errorf("%w: %d, the vocabulary has %d", ErrToken, id, m.Vocabulary)
		}
	}
	return nil
}

// NewBatch uploads the tokens of texts.
func (m *Model) NewBatch(s *tensor.Scope, texts ...[]int32) (*Batch, error) {
	b := &Batch{texts: len(texts), attention: prefill.Shape{Heads: m.Heads, KeyHeads: m.Heads, Dim: m.dim()}}
	for i, tokens := range texts {
		if err := m.Check(tokens); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		b.rows += len(tokens)
	}
	b.upload(s, texts)
	return b, errors.Join(b.ids.Err(), b.starts.Err())
}

// upload uploads all numbers at once.
func (b *Batch) upload(s *tensor.Scope, texts [][]int32) {
	n := b.rows
	list := make([]int32, 3*n, 3*n+5*len(texts)+1)
	var starts, spans []int32
	at := 0
	for _, tokens := range texts {
		starts = append(starts, int32(at))
		spans = append(spans, int32(at), int32(len(tokens)), 0, int32(at))
		for i, id := range tokens {
			list[at], list[n+at] = id, int32(i)
			at++
		}
	}
	list = append(append(append(list, spans...), starts...), int32(at))
	all := tensor.From(s, list, len(list))
	part := func(from, to int) *tensor.Tensor { return all.Slice(0, from, to) }
	b.ids, b.positions, b.types = part(0, n), part(n, 2*n), part(2*n, 3*n)
	b.spans, b.starts = part(3*n, 3*n+len(spans)), part(3*n+len(spans), len(list))
}

// attend returns the attention of queries, keys and values.
func (b *Batch) attend(qkv []*tensor.Tensor) *tensor.Tensor {
	q := qkv[0]
	return tensor.Op{Name: "Attend", In: qkv, DType: q.DType(), Shape: q.Shape(), Launch: func(s *device.Stream, out *tensor.Tensor) error {
		switch q.DType() {
		case dtype.BFloat16:
			return attend[dtype.BF16](s, b, qkv, out)
		case dtype.Float16:
			return attend[dtype.F16](s, b, qkv, out)
		}
		return attend[float32](s, b, qkv, out)
	}}.Apply()
}

// attend is Batch.attend for elements of a type.
func attend[T row.Number](s *device.Stream, b *Batch, qkv []*tensor.Tensor, out *tensor.Tensor) error {
	v, err := tensor.SlicesOf[T](qkv[0], qkv[1], qkv[2], out)
	if err != nil {
		return err
	}
	spans, err := tensor.SliceOf[int32](b.spans)
	if err != nil {
		return err
	}
	return prefill.Attend(s, b.attention, prefill.Operands[T]{Q: v[0], K: v[1], V: v[2], O: v[3], Spans: device.View[prefill.Span](spans)})
}

// Method says how the activations of a text's tokens become a vector.
type Method = pooling.Method

// The methods.
const (
	Mean  = pooling.Mean  // the mean of all tokens
	Max   = pooling.Max   // the maximum of each element
	First = pooling.First // the activations of the first token, [CLS]
)

// Pool returns a float32 vector for each text, given the result of Forward. With unit, vectors have length 1.
func (b *Batch) Pool(x *tensor.Tensor, m Method, unit bool) *tensor.Tensor {
	return tensor.Op{Name: "Pool", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: []int{b.texts, x.Dim(-1)}, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		p := pool{b, x, y, m, unit}
		switch x.DType() {
		case dtype.BFloat16:
			return reduce[dtype.BF16](s, p)
		case dtype.Float16:
			return reduce[dtype.F16](s, p)
		}
		return reduce[float32](s, p)
	}}.Apply()
}

// pool is what Pool computes.
type pool struct {
	*Batch
	x, y *tensor.Tensor
	m    Method
	unit bool
}

// reduce is Pool for elements of a type.
func reduce[T row.Number](s *device.Stream, p pool) error {
	x, err := tensor.SliceOf[T](p.x)
	if err != nil {
		return err
	}
	y, err := tensor.SliceOf[float32](p.y)
	if err != nil {
		return err
	}
	starts, err := tensor.SliceOf[int32](p.starts)
	if err != nil {
		return err
	}
	shape := pooling.Shape{Sequences: p.texts, Rows: p.rows, Columns: p.x.Dim(-1)}
	return pooling.Reduce(s, shape, p.m, pooling.Operands[T]{X: x, Starts: starts, Y: y, Unit: p.unit})
}
