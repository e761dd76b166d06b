package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attentionback"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// AttentionOptions are the options of Attention.
type AttentionOptions struct {
	Causal bool // each token attends only to itself and to earlier tokens

	// Starts, unless it is nil, divides the tokens into sequences. Tokens attend only to tokens of their sequence. Starts has the index of the
	// first token of each sequence, and then the end of the last sequence, as int32: 0, 3, 5 for sequences of 3 and 2 tokens. For a token
	// outside all sequences, the result is 0.
	Starts *Tensor
}

// Attention returns softmax(Q K^T / sqrt(dim)) V for each head (Vaswani et al., "Attention Is All You Need"): the mean of the values, weighted
// by how well their keys fit a token's query. q has the shape [... tokens heads dim], and k and v have the shape [... keys keyheads dim]. All
// three tensors have the same float type. Each head of keys and values serves heads/keyheads consecutive heads of queries (Ainslie et al.,
// "GQA"); keyheads must divide heads. The dimensions before tokens and keys are batches; with Starts, there must be none. The result has the
// shape of q. The mistake is ErrShape or ErrDType if shapes or types do not fit.
//
// In cross-attention, the keys and values are those of other tokens. If their number differs from that of the queries, Causal and Starts must
// not be set.
//
// If dim is a multiple of 16, up to 128, Attention is faster and needs no memory for the scores of all pairs of tokens. In cross-attention,
// this holds only without derivatives and graphs.
func Attention(q, k, v *Tensor, o AttentionOptions) *Tensor {
	const name = "Attention"
	in := []*Tensor{q, k, v}
	if o.Starts != nil {
		in = append(in, o.Starts)
	}
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	a := attention{s: s, AttentionOptions: o}
	if err := a.check(q, k, v); err != nil {
		return s.fail(mistake(name, err))
	}
	for i, t := range in {
		in[i] = s.own(t)
	}
	if o.Starts != nil {
		a.Starts = in[3].Contiguous()
	}
	for i, heads := range []int{a.heads, a.keyHeads, a.keyHeads} {
		tokens := a.tokens
		if i > 0 {
			tokens = a.keys
		}
		in[i] = in[i].Reshape(a.batches, tokens, heads, a.dim)
	}
	if a.fast() && (a.keys == a.tokens || !a.s.stream.Recording() && !slices.ContainsFunc(in, (*Tensor).NeedsGrad)) {
		return a.launch(name, in[:3]).Reshape(q.shape...)
	}
	return a.plain(in[0], in[1], in[2]).Reshape(q.shape...)
}

// attention is the sizes of a call of Attention, and what its kernels take besides the queries, keys and values.
type attention struct {
	AttentionOptions
	sequences, states                     *Tensor // states of the softmax, for the derivative, or nil
	s                                     *Scope
	of                                    dtype.Type
	batches, tokens, heads, keyHeads, dim int
	keys                                  int // of a batch, as tokens are
}

// check sets the sizes.
func (a *attention) check(q, k, v *Tensor) error {
	n := len(q.shape) - 3
	switch {
	case !isFloat(q.dtype) || k.dtype != q.dtype || v.dtype != q.dtype:
		return fmt.Errorf("%w: %v, %v and %v", ErrDType, q.dtype, k.dtype, v.dtype)
	case n < 0 || len(k.shape) != n+3 || !equal(k.shape, v.shape) || !equal(q.shape[:n], k.shape[:n]) || q.Dim(-1) != k.Dim(-1):
		return fmt.Errorf("%w: queries of %v, keys of %v, values of %v", ErrShape, q.shape, k.shape, v.shape)
	case k.Dim(-2) == 0 || q.Dim(-2)%k.Dim(-2) != 0 || q.Dim(-1) == 0:
		return fmt.Errorf("%w: heads of %v for queries of %v", ErrShape, k.shape, q.shape)
	case q.shape[n] != k.shape[n] && (a.Causal || a.Starts != nil):
		return fmt.Errorf("%w: %d queries and %d keys; with Causal or Starts, the numbers must be equal", ErrShape, q.shape[n], k.shape[n])
	case q.shape[n] > 0 && k.shape[n] == 0:
		return fmt.Errorf("%w: %d queries and no keys", ErrShape, q.shape[n])
	}
	a.keys = k.Dim(-3)
	a.of, a.tokens, a.heads, a.keyHeads, a.dim = q.dtype, q.Dim(-3), q.Dim(-2), k.Dim(-2), q.Dim(-1)
	a.batches, _ = product(q.shape[:n])
	if a.Starts == nil {
		return nil
	}
	if a.Starts.dtype != dtype.Int32 {
		return fmt.Errorf("%w: starts of %v", ErrDType, a.Starts.dtype)
	}
	if n != 0 || len(a.Starts.shape) != 1 || a.Starts.shape[0] == 0 {
		return fmt.Errorf("%w: starts of %v for queries of %v", ErrShape, a.Starts.shape, q.shape)
	}
	return nil
}

// Heads are the sizes heads, keyheads and dim of Attention.
type Heads struct{ Heads, KeyHeads, Dim int }

// AttentionTogether is Attention of queries, keys and values that are adjacent columns of one tensor, such as the result of a single
// product. t has the shape [... tokens (heads+2*keyheads)*dim], and the result has the shape [... tokens heads*dim]. See Attention for
// element types and mistakes.
func AttentionTogether(t *Tensor, h Heads, o AttentionOptions) *Tensor {
	const name = "Attention"
	in := []*Tensor{t}
	if o.Starts != nil {
		in = append(in, o.Starts)
	}
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	queries, keys := h.Heads*h.Dim, h.KeyHeads*h.Dim
	if len(t.shape) < 2 || min(h.Heads, h.KeyHeads, h.Dim) < 1 || t.Dim(-1) != queries+2*keys {
		return s.fail(mistake(name, fmt.Errorf("%w: %v for %d heads, %d of keys, of %d elements", ErrShape, t.shape, h.Heads, h.KeyHeads, h.Dim)))
	}
	t = s.own(t)
	lead := t.shape[:len(t.shape)-1]
	// Views without memory of their own check the sizes.
	part := func(heads int) *Tensor {
		return &Tensor{dtype: t.dtype, shape: append(slices.Clone(lead), heads, h.Dim)}
	}
	a := attention{s: s, AttentionOptions: o}
	if err := a.check(part(h.Heads), part(h.KeyHeads), part(h.KeyHeads)); err != nil {
		return s.fail(mistake(name, err))
	}
	if !a.fast() || row.FormFor(s.stream) == row.Plain || t.dtype == dtype.Float32 || h.Dim%8 != 0 {
		q, k, v := t.Slice(-1, 0, queries), t.Slice(-1, queries, queries+keys), t.Slice(-1, queries+keys, queries+2*keys)
		split := func(x *Tensor, heads int) *Tensor { return x.Reshape(append(slices.Clone(lead), heads, h.Dim)...) }
		return Attention(split(q, h.Heads), split(k, h.KeyHeads), split(v, h.KeyHeads), o).Reshape(append(slices.Clone(lead), queries)...)
	}
	if o.Starts != nil {
		a.Starts = s.own(in[1]).Contiguous()
	}
	return a.launch(name, []*Tensor{t.Reshape(a.batches*a.tokens, queries+2*keys)}).Reshape(append(slices.Clone(lead), queries)...)
}

// fast reports whether kernels of package prefill fit.
func (a *attention) fast() bool {
	return a.of != dtype.Float64 && a.dim%16 == 0 && a.dim <= prefill.MaxDim && a.heads <= math.MaxUint16 && a.batches*a.tokens > 0
}

// launch computes the attention by a kernel.
func (a *attention) launch(name string, in []*Tensor) *Tensor {
	recorded := false
	for i, t := range in {
		in[i] = t.Contiguous()
		recorded = recorded || in[i].NeedsGrad()
	}
	a.sequences = a.spans()
	if shape := []int{a.batches * a.tokens, a.heads, 2}; recorded && a.Starts != nil {
		a.states = a.s.zeros(name, dtype.Float32, shape) // also of tokens of no sequence
	} else if recorded {
		a.states = a.s.empty(name, dtype.Float32, shape)
	}
	if a.s.err != nil {
		return a.s.fail(a.s.err)
	}
	shape := in[0].shape
	if len(in) == 1 {
		shape = []int{a.batches * a.tokens, a.heads * a.dim}
	}
	o := Op{Name: name, In: in, DType: a.of, Shape: shape, Launch: func(_ *device.Stream, out *Tensor) error {
		switch a.of {
		case dtype.Float32:
			return attend[float32](a, in, out)
		case dtype.BFloat16:
			return attend[dtype.BF16](a, in, out)
		}
		return attend[dtype.F16](a, in, out)
	}}
	if recorded {
		o.Save, o.SaveResult, o.Back = append(slices.Clone(in), a.states, a.sequences), true, a.back
	}
	return o.Apply()
}

// attend launches the kernel.
func attend[T number](a *attention, in []*Tensor, out *Tensor) error {
	shape, x := a.shape(), prefill.Operands[T]{Q: elements[T](in[0]), O: elements[T](out), Spans: device.View[prefill.Span](a.sequences.contents())}
	if len(in) == 1 {
		queries, keys, all := a.heads*a.dim, a.keyHeads*a.dim, x.Q.Len()
		x.K, x.V, shape.Apart = x.Q.Slice(queries, all), x.Q.Slice(queries+keys, all), queries+2*keys
	} else {
		x.K, x.V = elements[T](in[1]), elements[T](in[2])
	}
	if a.states != nil {
		x.States = device.View[prefill.State](a.states.contents())
	}
	if a.Starts != nil {
		var zero T
		if err := device.Fill(a.s.stream, x.O, zero); err != nil {
			return err
		}
	}
	if y, ok := any(x).(prefill.Operands[dtype.BF16]); ok && a.states != nil && y.Aligned() && attentionback.Forwards(a.s.stream.Device(), shape) {
		return attentionback.Forward(a.s.stream, shape, attentionback.Operands[dtype.BF16]{Q: y.Q, K: y.K, V: y.V, O: y.O, States: y.States, Spans: y.Spans})
	}
	return prefill.Attend(a.s.stream, shape, x)
}

func (a *attention) shape() prefill.Shape {
	return prefill.Shape{Heads: a.heads, KeyHeads: a.keyHeads, Dim: a.dim, Causal: a.Causal}
}

// back returns the derivatives with respect to the queries, keys and values.
func (a *attention) back(d *Derivative) []*Tensor {
	if len(d.Saved) == 3 {
		return []*Tensor{a.backTogether(d)}
	}
	return a.backApart(d.Saved[:3], d.Saved[3:], d)
}

// backTogether is back for the columns of one tensor.
func (a *attention) backTogether(d *Derivative) *Tensor {
	const name = "Attention"
	x, g := d.Saved[0], d.Grad.Contiguous()
	dx := a.s.empty(name, x.dtype, x.shape)
	if a.s.err != nil {
		return a.s.fail(a.s.err)
	}
	shape := a.shape()
	if shape.Apart = x.shape[1]; a.of != dtype.BFloat16 || !attentionback.Apart[dtype.BF16](a.s.stream.Device(), shape) {
		return a.backColumns(d, dx)
	}
	queries, keys, all := a.heads*a.dim, a.keyHeads*a.dim, x.Len()
	from, to := elements[dtype.BF16](x), elements[dtype.BF16](dx)
	if err := attendBackIn(a, shape, attentionback.Operands[dtype.BF16]{
		Q: from, K: from.Slice(queries, all), V: from.Slice(queries+keys, all), O: elements[dtype.BF16](d.Result), DO: elements[dtype.BF16](g),
		DQ: to, DK: to.Slice(queries, all), DV: to.Slice(queries+keys, all),
		States: device.View[prefill.State](d.Saved[1].contents()), Spans: device.View[prefill.Span](d.Saved[2].contents()),
	}); err != nil {
		return a.s.fail(mistake(name, err))
	}
	return dx
}

// backColumns is backTogether by copies of the columns. Derivatives go to dx.
func (a *attention) backColumns(d *Derivative, dx *Tensor) *Tensor {
	x := d.Saved[0]
	var columns [3]Tensor // of dx
	parts, at := make([]*Tensor, 3), 0
	for i, heads := range []int{a.heads, a.keyHeads, a.keyHeads} {
		columns[i] = Tensor{shape: []int{x.shape[0], heads * a.dim}, strides: []int{x.shape[1], 1}, offset: at, dtype: x.dtype}
		from := columns[i]
		from.memory, from.offset, from.err = x.memory, x.offset+at, x.err
		parts[i] = a.s.copied("Attention", &from)
		at += heads * a.dim
	}
	if a.s.err != nil {
		return a.s.fail(a.s.err)
	}
	for i, g := range a.backApart(parts, d.Saved[1:], d) {
		columns[i].memory = dx.memory
		if g = g.To(dx.dtype); g.err != nil {
			return g
		}
		if err := array.Move(a.s.stream, columns[i].shape, columns[i].array(), g.array()); err != nil {
			return a.s.fail(mistake("Attention", err))
		}
	}
	return dx
}

// backApart is back for queries, keys and values, given states and spans.
func (a *attention) backApart(in, saved []*Tensor, d *Derivative) []*Tensor {
	x := append(slices.Clone(in), d.Result, d.Grad.Contiguous())
	if a.of == dtype.BFloat16 {
		return attendBack[dtype.BF16](a, x, saved)
	}
	for i, t := range x {
		x[i] = t.To(dtype.Float32)
	}
	return attendBack[float32](a, x, saved)
}

// attendBack launches the kernels for queries, keys, values, the result and its derivative, given states and spans.
func attendBack[T interface {
	Element
	attentionback.Element
}](a *attention, in, saved []*Tensor) []*Tensor {
	const name = "Attention"
	list := make([]*Tensor, 3)
	for i := range list {
		list[i] = a.s.empty(name, in[i].dtype, in[i].shape)
	}
	if a.s.err != nil {
		return nil
	}
	x := attentionback.Operands[T]{
		Q: elements[T](in[0]), K: elements[T](in[1]), V: elements[T](in[2]), O: elements[T](in[3]), DO: elements[T](in[4]),
		DQ: elements[T](list[0]), DK: elements[T](list[1]), DV: elements[T](list[2]),
		States: device.View[prefill.State](saved[0].contents()), Spans: device.View[prefill.Span](saved[1].contents()),
	}
	if err := attendBackIn(a, a.shape(), x); err != nil {
		a.s.fail(mistake(name, err))
	}
	return list
}

// attendBackIn runs the kernels with scratch memory.
func attendBackIn[T attentionback.Element](a *attention, shape prefill.Shape, x attentionback.Operands[T]) error {
	work, err := device.MakeDirty[float32](a.s.stream, attentionback.Workspace[T](a.s.stream.Device(), shape, a.batches*a.tokens))
	if err != nil {
		return err
	}
	defer work.Close() // in stream order
	x.Workspace = work.All()
	return attentionback.Backward(a.s.stream, shape, x)
}

// spans returns the sequences as kernels take them: rows of the fields of prefill.Span. The Scope keeps those of batches.
func (a *attention) spans() *Tensor {
	if a.Starts != nil {
		return a.spansOf(a.Starts)
	}
	key := [3]int{a.batches, a.tokens, a.keys}
	if t := a.s.spans[key]; t != nil {
		return t
	}
	var t *Tensor
	if a.s.stream.Recording() {
		t = a.spansOf(Arange(a.s, a.batches+1).Scale(float64(a.tokens)).To(dtype.Int32))
	} else {
		var list []int32
		for i := range a.batches {
			// The queries of a span are the last tokens of its keys, so there are at most as many.
			for at := 0; at < a.tokens; at += a.keys {
				n := min(a.keys, a.tokens-at)
				list = append(list, int32(i*a.tokens+at), int32(n), int32(a.keys-n), int32(i*a.keys))
			}
		}
		t = From(a.s, list, len(list)/4, 4)
	}
	for i := len(a.s.frames) - 1; i > 0; i-- {
		a.s.keep(t, i)
	}
	if t.err != nil {
		return t
	}
	if a.s.spans == nil {
		a.s.spans = map[[3]int]*Tensor{}
	}
	a.s.spans[key] = t
	return t
}

// spansOf returns the sequences from each start to the next.
func (a *attention) spansOf(starts *Tensor) *Tensor {
	n := starts.Dim(0) - 1
	first, next := starts.Slice(0, 0, n), starts.Slice(0, 1, n+1)
	return Stack(1, first, next.Sub(first), a.s.zeros("Attention", dtype.Int32, []int{n}), first)
}

// plain computes the attention of tensors of four dimensions by other operations.
func (a *attention) plain(q, k, v *Tensor) *Tensor {
	group := a.heads / a.keyHeads
	q = q.Reshape(a.batches, a.tokens, a.keyHeads, group, a.dim).Transpose(1, 2).Transpose(2, 3)
	k, v = k.Transpose(1, 2).Unsqueeze(2), v.Transpose(1, 2).Unsqueeze(2)
	scores := q.Scale(1 / math.Sqrt(float64(a.dim))).MatMul(k.T()) // [batches keyheads group tokens tokens]
	seen, inside := a.mask()
	if seen != nil {
		scores = Where(seen, scores, a.s.full("Attention", math.Inf(-1), q.dtype, nil))
	}
	r := scores.Softmax(-1).MatMul(v)
	if inside != nil {
		r = Where(inside, r, a.s.zeros("Attention", q.dtype, nil))
	}
	return r.Transpose(2, 3).Transpose(1, 2).Reshape(a.batches, a.tokens, a.heads, a.dim)
}

// mask returns which tokens, in columns, each token sees, or nil if it sees all. With Starts, it also returns which tokens belong to a
// sequence, in rows of one column; the others see each other.
func (a *attention) mask() (seen, inside *Tensor) {
	at := Arange(a.s, a.tokens)
	if a.Causal {
		seen = at.Unsqueeze(1).GreaterEqual(at)
	}
	if a.Starts == nil {
		return seen, nil
	}
	number := a.Starts.Unsqueeze(1).LessEqual(at).To(dtype.Int32).Sum(0) // of the sequence from 1 on
	same := number.Unsqueeze(1).Equal(number)
	if seen != nil {
		same = same.Mul(seen)
	}
	n := a.s.full("Attention", float64(a.Starts.Dim(0)), number.dtype, nil)
	inside = number.Less(n).Mul(number.Greater(a.s.zeros("Attention", number.dtype, nil)))
	return same, inside.Unsqueeze(1)
}
