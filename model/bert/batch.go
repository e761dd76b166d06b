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

// Errors of NewBatch and Classifier.
var (
	// ErrLength is the error of a text without tokens, or with more than Config.Positions.
	ErrLength = errors.New("bert: a text with too few or too many tokens")
	// ErrToken is the error of a token outside the vocabulary.
	ErrToken = errors.New("bert: a token outside the vocabulary")
	// ErrType is the error of token types that the model does not have, or whose number differs from the number of tokens.
	ErrType = errors.New("bert: token types that do not fit")
)

// Pair has the tokens of two texts in one sequence, as a tokenizer encodes them.
type Pair struct {
	Tokens []int32
	Types  []int32 // the type of each token; nil means that all types are 0
}

// A Batch has the tokens of several texts on the device, one text after another, without padding. It belongs to a
// Scope.
type Batch struct {
	texts, rows           int
	attention             prefill.Shape
	ids, positions, types *tensor.Tensor
	spans, starts         *tensor.Tensor // of texts: prefill.Span, and the first rows with the number of all rows
}

// Check returns the error that NewBatch would return for the tokens of a text, or nil. The error matches ErrLength or ErrToken.
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

// CheckPair returns the error that Classifier.Scores would return for a pair, or nil. The error matches ErrLength, ErrToken or ErrType.
func (m *Model) CheckPair(p Pair) error {
	if err := m.Check(p.Tokens); err != nil {
		return err
	}
	if p.Types != nil && len(p.Types) != len(p.Tokens) {
		return fmt.Errorf("%w: %d types of %d tokens", ErrType, len(p.Types), len(p.Tokens))
	}
	for _, of := range p.Types {
		if of < 0 || int(of) >= m.Types {
			return fmt.Errorf("%w: %d, the model has %d types", ErrType, of, m.Types)
		}
	}
	return nil
}

// NewBatch uploads the tokens of texts. The error matches ErrLength or ErrToken.
func (m *Model) NewBatch(s *tensor.Scope, texts ...[]int32) (*Batch, error) {
	alone := alonePairs(texts)
	z, err := m.sizeOf(alone)
	if err != nil {
		return nil, err
	}
	list := z.numbers(m.Shift, alone)
	b := m.batchOf(z, tensor.From(s, list, len(list)))
	return b, errors.Join(b.ids.Err(), b.starts.Err())
}

// alonePairs returns texts as pairs of which each has only one text.
func alonePairs(texts [][]int32) []Pair {
	list := make([]Pair, len(texts))
	for i, tokens := range texts {
		list[i].Tokens = tokens
	}
	return list
}

// size is the numbers of texts and of tokens of a batch.
type size struct{ texts, rows int }

// sizeOf returns the size of texts, or the error of one of them.
func (m *Model) sizeOf(texts []Pair) (size, error) {
	z := size{texts: len(texts)}
	for i, p := range texts {
		if err := m.CheckPair(p); err != nil {
			return z, fmt.Errorf("text %d: %w", i, err)
		}
		z.rows += len(p.Tokens)
	}
	return z, nil
}

// step returns the distance of lists with a number for each token, so that kernels for vectors take them.
func (z size) step() int { return (z.rows + apart - 1) / apart * apart }

// numbers returns all numbers of a batch, which are uploaded at once. There may be fewer texts, and tokens, than the size says. shift is
// Config.Shift.
func (z size) numbers(shift int, texts []Pair) []int32 {
	step := z.step()
	list := make([]int32, 3*step, z.length())
	var starts, spans []int32
	at := 0
	for _, p := range texts {
		starts = append(starts, int32(at))
		spans = append(spans, int32(at), int32(len(p.Tokens)), 0, int32(at))
		copy(list[2*step+at:], p.Types)
		position, padding := int32(shift), int32(shift-1)
		for _, id := range p.Tokens {
			if list[at], list[step+at] = id, padding; id != padding {
				list[step+at] = position
				position++
			}
			at++
		}
	}
	for range z.texts - len(texts) {
		starts = append(starts, int32(at))
		spans = append(spans, int32(at), 0, 0, int32(at))
	}
	return append(append(append(list, spans...), starts...), int32(at))
}

// length returns the number of all numbers.
func (z size) length() int { return 3*z.step() + 5*z.texts + 1 }

// batchOf returns the batch whose numbers are in a tensor.
func (m *Model) batchOf(z size, all *tensor.Tensor) *Batch {
	step := z.step()
	part := func(from, n int) *tensor.Tensor { return all.Slice(0, from, from+n) }
	b := &Batch{texts: z.texts, rows: z.rows, attention: prefill.Shape{Heads: m.Heads, KeyHeads: m.Heads, Dim: m.dim()}}
	b.ids, b.positions, b.types = part(0, z.rows), part(step, z.rows), part(2*step, z.rows)
	b.spans, b.starts = part(3*step, 4*z.texts), part(3*step+4*z.texts, z.texts+1)
	return b
}

// apart is the number of elements to a multiple of which the numbers of tokens are aligned: 16 bytes.
const apart = 4

// attend returns the attention of queries, keys and values, of one tensor each or side by side in one.
func (b *Batch) attend(qkv ...*tensor.Tensor) *tensor.Tensor {
	shape, of := []int{b.rows, b.attention.Heads * b.attention.Dim}, qkv[0].DType()
	return tensor.Op{Name: "Attend", In: qkv, DType: of, Shape: shape, Launch: func(s *device.Stream, out *tensor.Tensor) error {
		switch of {
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
	v, err := tensor.SlicesOf[T](append([]*tensor.Tensor{out}, qkv...)...)
	if err != nil {
		return err
	}
	spans, err := tensor.SliceOf[int32](b.spans)
	if err != nil {
		return err
	}
	shape, x := b.attention, prefill.Operands[T]{O: v[0], Q: v[1], Spans: device.View[prefill.Span](spans)}
	if len(qkv) > 1 {
		x.K, x.V = v[2], v[3]
	} else {
		n := shape.Heads * shape.Dim
		shape.Apart = 3 * n
		x.K, x.V = x.Q.Slice(n, x.Q.Len()), x.Q.Slice(2*n, x.Q.Len())
	}
	return prefill.Attend(s, shape, x)
}

// Method says how the activations of a text's tokens become a vector.
type Method = pooling.Method

// The methods of pooling.
const (
	Mean  = pooling.Mean  // the mean of all tokens
	Max   = pooling.Max   // the maximum of each element
	First = pooling.First // the activations of the first token, [CLS]
)

// Pool returns a float32 vector for each text. x is the result of Forward. If unit is true, vectors are scaled to
// length 1.
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
