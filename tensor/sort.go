package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/prim"
)

// CumSum returns running sums: for each element, the sum of this element and all elements before it along a dimension. Sums of integers and
// bools are int64; sums of floats have the element type of t. The result has the shape of t. As in NumPy, elements are added one after
// another: floats in float32, or in float64 if t is float64. So the rounding error grows with the number of elements; in float32, a sum of
// ones stops at 1<<24. For long dimensions, convert t to float64 first. The mistake is ErrValue if there is no such dimension.
func (t *Tensor) CumSum(dim int) *Tensor {
	const name = "CumSum"
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if t.scope == nil {
		t = s.Use(t)
	}
	at, err := dimension(dim, t.shape)
	if err == nil {
		err = computable(t.dtype)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	of := t.dtype
	if !isFloat(of) {
		of = dtype.Int64
	}
	x, out := t.Contiguous(), s.empty(name, of, t.shape)
	if x.err != nil || out.err != nil {
		return out
	}
	if out.Len() > 0 {
		a, _ := axesOf(new(rooms), t.shape, []int{at})
		r := array.Reduction{Fold: array.Sum, X: x.array(), Out: out.array(), Line: array.Line{Length: a.n, Step: out.strides[at]}}
		r.X.Strides, r.Out.Strides = picked(nil, x.strides, a.kept), picked(nil, out.strides, a.kept)
		if err := array.Running(s.stream, a.shape, &r); err != nil {
			return s.fail(mistake(name, err))
		}
	}
	s.record(out, step{name: name, in: []*Tensor{t}, back: func(d *Derivative) []*Tensor {
		g := d.Grad
		return []*Tensor{g.Sum(at).Unsqueeze(at).Sub(g.CumSum(at)).Add(g)}
	}})
	return out
}

// Sort returns the elements in ascending order along a dimension, and the indices that they have in t, as int64. Equal elements keep their
// order, and NaN is last. Both results have the shape of t. The mistake is ErrValue if there is no such dimension.
func (t *Tensor) Sort(dim int) (values, indices *Tensor) {
	return ordered("Sort", t, dim, order{n: -1})
}

// Top returns the n greatest elements along the last dimension, in descending order, and their indices as int64. NaN is greater than all
// numbers. In the shapes of the results, n replaces the last size. The mistake is ErrValue if the dimension has fewer than n elements.
func (t *Tensor) Top(n int) (values, indices *Tensor) {
	return ordered("Top", t, -1, order{n: n, descending: true})
}

// order is what a sort returns.
type order struct {
	n          int // elements, or -1 for all
	descending bool
}

// ordered returns elements in order.
func ordered(name string, t *Tensor, dim int, o order) (values, indices *Tensor) {
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err), failed(s, err)
	}
	at, err := dimension(dim, t.shape)
	if err == nil {
		err = computable(t.dtype)
	}
	if err == nil && (o.n < -1 || o.n > t.shape[at]) {
		err = fmt.Errorf("%w: %d of %d elements", ErrValue, o.n, t.shape[at])
	}
	if err != nil {
		bad := s.fail(mistake(name, err))
		return bad, bad
	}
	t = s.own(t)
	s.NoGrad(func() {
		indices = s.sorted(name, t.Transpose(at, -1), o)
		if o.n >= 0 {
			indices = indices.Slice(-1, 0, o.n)
		}
		indices = indices.Transpose(at, -1)
	})
	return t.Gather(at, indices), indices
}

// sorted returns the indices of the elements of each row in order.
func (s *Scope) sorted(name string, t *Tensor, o order) *Tensor {
	if t.err != nil {
		return t
	}
	out := s.empty(name, dtype.Int64, t.shape)
	if out.err != nil || out.Len() == 0 {
		return out
	}
	key := t.dtype // of a type that package prim sorts
	switch key {
	case dtype.Bool, dtype.Uint8:
		key = dtype.Int32
	case dtype.Float16, dtype.BFloat16:
		key = dtype.Float32
	}
	keys := t.To(key)
	switch {
	case isFloat(key):
		keys = s.apply(name, array.SortKey, keys.shape, operands{x: keys, out: key})
	case keys.err == nil:
		keys = s.copied(name, keys)
	}
	if keys.err != nil {
		return keys
	}
	var err error
	switch key {
	case dtype.Int32:
		err = sortRows[int32](s, keys, out, o)
	case dtype.Int64:
		err = sortRows[int64](s, keys, out, o)
	case dtype.Float32:
		err = sortRows[float32](s, keys, out, o)
	default:
		err = sortRows[float64](s, keys, out, o)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// sortRows stores the indices of the elements of the rows of keys in order: it sorts all elements, and then, stably, by rows.
func sortRows[T interface {
	Element
	prim.Number
}](s *Scope, keys, out *Tensor, o order) error {
	n, columns := keys.Len(), keys.Dim(-1)
	rows, numbers := s.empty("Sort", dtype.Int64, []int{n}), s.empty("Sort", dtype.Int64, []int{n})
	zero := s.zeros("Sort", dtype.Int64, nil)
	if zero.err != nil || rows.err != nil || numbers.err != nil {
		return s.err
	}
	pairs := array.Pairs{Keys: elements[int64](rows), Numbers: elements[int64](numbers)}
	shape := []int{n / columns, columns}
	places := array.Array{Bytes: keys.memory.bytes, Type: keys.dtype, Strides: []int{1, 0}}
	none := array.Indices{Array: zero.array(), Limit: 1}
	none.Strides = []int{0, 0}
	if err := pairs.Number(s.stream, shape, places, none); err != nil {
		return err
	}
	sort := prim.SortPairs[T, int64]
	if o.descending {
		sort = prim.SortPairsDescending[T, int64]
	}
	if err := sort(s.stream, elements[T](keys), pairs.Numbers); err != nil {
		return err
	}
	if shape[0] > 1 {
		if rows = rows.Take(0, numbers); rows.err != nil {
			return rows.err
		}
		if err := prim.SortPairs(s.stream, elements[int64](rows), pairs.Numbers); err != nil {
			return err
		}
	}
	local := numbers.Sub(rows.Scale(float64(columns)))
	if local.err != nil {
		return local.err
	}
	return device.Copy(s.stream, elements[int64](out), elements[int64](local))
}
