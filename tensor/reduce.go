package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Sum returns the sums over the given dimensions, or over all dimensions if dims is empty. The result does not have these dimensions.
// Negative dimensions count from the end. Sums of integers and bools are int64; sums of floats have the element type of t. Sums of F16 and
// BF16 are computed in float32. The order of additions depends only on the shape. The mistake is ErrValue if there is no such dimension,
// or if a dimension is given twice.
func (t *Tensor) Sum(dims ...int) *Tensor { return reduce("Sum", folding{array.Sum, false}, t, dims) }

// Mean returns the means over dimensions. See Sum for dimensions and mistakes. Means of integers are float32. The mean of no elements is
// NaN.
func (t *Tensor) Mean(dims ...int) *Tensor {
	const name = "Mean"
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if err := computable(t.dtype); err != nil {
		return s.fail(mistake(name, err))
	}
	if !isFloat(t.dtype) {
		t = t.To(dtype.Float32)
	}
	return reduce(name, folding{array.Sum, true}, t, dims)
}

// Max returns the greatest elements over dimensions, or NaN if an element is NaN. The result has the element type of t. See Sum for
// dimensions and mistakes; in addition, the mistake is ErrShape if a result would be the maximum of no elements. If several elements are
// the greatest, the derivative is divided equally among them.
func (t *Tensor) Max(dims ...int) *Tensor {
	return reduce("Max", folding{array.Greatest, false}, t, dims)
}

// Min returns the smallest elements over dimensions. See Max.
func (t *Tensor) Min(dims ...int) *Tensor {
	return reduce("Min", folding{array.Smallest, false}, t, dims)
}

// ArgMax returns the indices of the greatest elements along a dimension, as int64. The result does not have this dimension. If several
// elements are the greatest, ArgMax returns the index of the first of them. If there are NaNs, ArgMax returns the index of the first
// NaN. The mistake is ErrValue if there is no such dimension, and ErrShape if the dimension has no elements.
func (t *Tensor) ArgMax(dim int) *Tensor { return arg("ArgMax", array.Greatest, t, dim) }

// ArgMin returns the indices of the smallest elements along a dimension. See ArgMax.
func (t *Tensor) ArgMin(dim int) *Tensor { return arg("ArgMin", array.Smallest, t, dim) }

// folding is what a reduction computes.
type folding struct {
	fold array.Fold
	mean bool
}

// axes are the dimensions of a reduction.
type axes struct {
	kept, reduced []int // dimensions of the operand
	shape         []int // of the result
	with          []int // shape with dimensions of size 1 where they are reduced
	n             int   // elements for each result
}

// rooms is where axesOf makes its result.
type rooms struct{ kept, reduced, shape, with room }

// axesOf returns the dimensions of a reduction over dims.
func axesOf(r *rooms, shape, dims []int) (axes, error) {
	var few [len(room{})]bool
	over := append(few[:0], make([]bool, len(shape))...)
	for _, d := range dims {
		at, err := dimension(d, shape)
		if err != nil {
			return axes{}, err
		}
		if over[at] {
			return axes{}, fmt.Errorf("%w: dimension %d twice", ErrValue, d)
		}
		over[at] = true
	}
	a := axes{kept: r.kept[:0], reduced: r.reduced[:0], shape: r.shape[:0], with: r.with[:0], n: 1}
	for i, n := range shape {
		if over[i] || len(dims) == 0 {
			a.reduced, a.with = append(a.reduced, i), append(a.with, 1)
			a.n *= n
		} else {
			a.kept, a.shape, a.with = append(a.kept, i), append(a.shape, n), append(a.with, n)
		}
	}
	return a, nil
}

// picked appends the elements of list at indices to to.
func picked(to, list, indices []int) []int {
	for _, k := range indices {
		to = append(to, list[k])
	}
	return to
}

// lines returns t for reductions, with strides for the kept dimensions, which it appends to to: a view if the reduced dimensions are one
// line, or else a copy.
func (t *Tensor) lines(to []int, a axes) (array.Array, array.Line, error) {
	l := array.Line{Length: 1, Step: 1}
	for i := len(a.reduced) - 1; i >= 0; i-- {
		n, stride := t.shape[a.reduced[i]], t.strides[a.reduced[i]]
		switch {
		case n == 1:
			continue
		case l.Length == 1:
			l = array.Line{Length: n, Step: stride}
		case stride == l.Step*l.Length:
			l.Length *= n
		default:
			order := slices.Concat(a.kept, a.reduced)
			v := t.scope.view(t, Tensor{shape: picked(nil, t.shape, order), strides: picked(nil, t.strides, order), offset: t.offset}).Contiguous()
			if v.err != nil {
				return array.Array{}, l, v.err
			}
			x := v.array()
			x.Strides = x.Strides[:len(a.kept)]
			return x, array.Line{Length: a.n, Step: 1}, nil
		}
	}
	x := t.array()
	x.Strides = picked(to, t.strides, a.kept)
	return x, l, nil
}

// reduce reduces over dimensions.
func reduce(name string, f folding, t *Tensor, dims []int) *Tensor {
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if t.scope == nil {
		t = s.Use(t)
	}
	var r rooms
	a, err := axesOf(&r, t.shape, dims)
	if err == nil {
		err = computable(t.dtype)
	}
	if n, _ := product(a.shape); err == nil && a.n == 0 && n > 0 && f.fold != array.Sum {
		err = fmt.Errorf("%w: no elements in %v", ErrShape, t.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	out := s.folded(name, f, t, a)
	if out.err == nil && s.recording(t, nil) {
		s.record(out, reduced(name, f, t, a))
	}
	return out
}

// folded returns the result of a reduction.
func (s *Scope) folded(name string, f folding, t *Tensor, a axes) *Tensor {
	of := t.dtype
	if f.fold == array.Sum && !isFloat(of) {
		of = dtype.Int64
	}
	switch {
	case a.n == 0 && f.mean:
		return s.full(name, math.NaN(), of, slices.Clone(a.shape))
	case a.n == 0:
		return s.zeros(name, of, slices.Clone(a.shape))
	}
	out := s.empty(name, of, a.shape)
	if out.err != nil {
		return out
	}
	if err := s.fold(f, t, a, out); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// reduced returns the derivative of a reduction.
func reduced(name string, f folding, t *Tensor, a axes) step {
	with, dims, n := slices.Clone(a.with), slices.Clone(a.reduced), a.n
	o := step{name: name, in: []*Tensor{t}}
	shape := t.shape
	if f.fold == array.Sum {
		o.back = func(d *Derivative) []*Tensor {
			g := d.Grad
			if f.mean {
				g = g.Scale(1 / float64(n))
			}
			return []*Tensor{g.Reshape(with...).Expand(shape...)}
		}
		return o
	}
	o.save, o.saveResult = o.in, true
	o.back = func(d *Derivative) []*Tensor {
		x := d.Saved[0]
		is := x.Equal(d.Result.Reshape(with...)).To(x.dtype)
		share := d.Grad.Reshape(with...).Div(is.Sum(dims...).Reshape(with...))
		return []*Tensor{is.Mul(share)}
	}
	return o
}

// fold launches the stages of a reduction.
func (s *Scope) fold(f folding, t *Tensor, a axes, out *Tensor) error {
	x, line, err := t.lines(s.strides[0][:0], a)
	if err != nil {
		return err
	}
	r := array.Reduction{Fold: f.fold, X: x, Line: line, Divisor: 1}
	results := out.Len()
	for {
		parts, part := r.Parts(s.stream, a.shape), array.Partial(t.dtype)
		if parts == 1 {
			break
		}
		m, err := device.MakeDirty[byte](s.stream, results*parts*part.Size())
		if err != nil {
			return err
		}
		defer m.Close() // in stream order, after the next stage
		r.Out = array.Array{Bytes: m.All(), Type: part, Strides: rowMajor(append(slices.Clone(a.shape), parts))[:len(a.shape)]}
		if err := array.Reduce(s.stream, a.shape, &r); err != nil {
			return err
		}
		r.X, r.Line = r.Out, array.Line{Length: parts, Step: 1}
	}
	r.Out, r.Last = out.array(), true
	if f.mean {
		r.Divisor = float64(a.n)
	}
	return array.Reduce(s.stream, a.shape, &r)
}

// arg returns the indices of the greatest or smallest elements.
func arg(name string, fold array.Fold, t *Tensor, dim int) *Tensor {
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	var r rooms
	a, err := axesOf(&r, t.shape, []int{dim})
	if err == nil {
		err = computable(t.dtype)
	}
	if n, _ := product(a.shape); err == nil && a.n == 0 && n > 0 {
		err = fmt.Errorf("%w: no elements in %v", ErrShape, t.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	out := s.empty(name, dtype.Int64, a.shape)
	if out.err != nil || out.Len() == 0 {
		return out
	}
	if err := s.search(fold, t, a, out); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// search launches the stages of arg.
func (s *Scope) search(fold array.Fold, t *Tensor, a axes, out *Tensor) error {
	x, line, err := t.lines(s.strides[0][:0], a)
	if err != nil {
		return err
	}
	r := array.Reduction{Fold: fold, X: x, Line: line}
	var candidates device.Slice[int64]
	for _, parts := range line.Stages() {
		b, err := device.MakeDirty[int64](s.stream, out.Len()*parts)
		if err != nil {
			return err
		}
		defer b.Close() // in stream order, after the next stage
		r.Out = array.Array{Bytes: device.View[byte](b.All()), Type: dtype.Int64}
		if err := array.Arg(s.stream, a.shape, &r, candidates); err != nil {
			return err
		}
		candidates = b.All()
	}
	r.Out = out.array()
	return array.Arg(s.stream, a.shape, &r, candidates)
}

// sumTo returns t summed over the dimensions along which a tensor of a shape was broadcast to t's.
func (t *Tensor) sumTo(shape []int) *Tensor {
	if t.err != nil || equal(t.shape, shape) {
		return t
	}
	var dims []int
	more := len(t.shape) - len(shape)
	for i, n := range t.shape {
		if i < more || shape[i-more] == 1 && n != 1 {
			dims = append(dims, i)
		}
	}
	if len(dims) > 0 {
		t = t.Sum(dims...)
	}
	return t.Reshape(shape...)
}
