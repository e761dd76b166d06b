package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/prim"
)

// Take selects elements of t along dimension dim by a tensor of indices, of type int32 or int64. For example, Take(0, indices) of a matrix
// returns rows. In the shape of the result, the shape of indices replaces the size of dimension dim. The host does not check the indices.
// An index that is negative or too large yields zeros. The mistake is ErrDType for other types of indices, and ErrValue if there is no such
// dimension.
func (t *Tensor) Take(dim int, indices *Tensor) *Tensor { return indexed("Take", t, dim, indices) }

// Gather selects elements of t by a tensor of indices, of type int32 or int64. The result has the shape of indices. Each index selects an
// element of t along dimension dim: for matrices, element [i][j] of t.Gather(1, indices) is t[i][indices[i][j]], and element [i][j] of
// t.Gather(0, indices) is t[indices[i][j]][j]. In the other dimensions, t and indices must have the same sizes; else the mistake is
// ErrShape. See Take for indices outside the dimension and for other mistakes.
func (t *Tensor) Gather(dim int, indices *Tensor) *Tensor { return indexed("Gather", t, dim, indices) }

// ScatterAdd copies t, adds each element of y to the element of the copy that the corresponding index selects, and returns the copy. y has
// the shape of indices and the element type of t. For matrices, t.ScatterAdd(1, indices, y) adds y[i][j] to element [i][indices[i][j]],
// and t.ScatterAdd(0, indices, y) adds y[i][j] to element [indices[i][j]][j]. See Gather for shapes and mistakes; the mistake is also
// ErrDType if the element types differ. ScatterAdd is the derivative of Gather. An element whose index is outside the dimension is not
// added. Elements are added in the order of y.
func (t *Tensor) ScatterAdd(dim int, indices, y *Tensor) *Tensor {
	const name = "ScatterAdd"
	s, err := scopeOf(name, []*Tensor{t, indices, y})
	if err != nil {
		return failed(s, err)
	}
	_, err = lookupOf("Gather", t, dim, indices)
	if err == nil && !equal(indices.shape, y.shape) {
		err = fmt.Errorf("%w: %v for indices of %v", ErrShape, y.shape, indices.shape)
	}
	if err == nil && y.dtype != t.dtype {
		err = fmt.Errorf("%w: %v added to %v", ErrDType, y.dtype, t.dtype)
	}
	if err == nil {
		err = computable(t.dtype)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	out := s.copied(name, t)
	if out.err != nil {
		return out
	}
	l, _ := lookupOf("Gather", out, dim, indices)
	if err := s.scatter(out, l, indices, y); err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: []*Tensor{t, indices, y}, save: []*Tensor{indices}, back: func(d *Derivative) []*Tensor {
		list := []*Tensor{d.Grad, nil, nil}
		if d.Wanted[2] {
			list[2] = d.Grad.Gather(l.dim, d.Saved[0])
		}
		return list
	}})
	return out
}

// copied returns a contiguous copy of t.
func (s *Scope) copied(name string, t *Tensor) *Tensor {
	out := s.empty(name, t.dtype, t.shape)
	if out.err != nil {
		return out
	}
	if err := array.Move(s.stream, t.shape, out.array(), t.array()); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// lookup is the places at which indices find elements of a tensor.
type lookup struct {
	dim     int
	size    []int // of the tensor
	shape   []int // of the result
	strides []int // of the tensor in that shape, 0 for dimensions of indices
	indices []int // strides of the indices in that shape
}

// lookupOf returns the places of Take or Gather.
func lookupOf(name string, t *Tensor, dim int, at *Tensor) (lookup, error) {
	d, err := dimension(dim, t.shape)
	if err != nil {
		return lookup{}, err
	}
	if at.dtype != dtype.Int32 && at.dtype != dtype.Int64 {
		return lookup{}, fmt.Errorf("%w: indices of %v", ErrDType, at.dtype)
	}
	l := lookup{dim: d, size: t.shape}
	if name == "Take" {
		before, after := d, len(t.shape)-d-1
		l.shape = slices.Concat(t.shape[:d], at.shape, t.shape[d+1:])
		l.strides = slices.Concat(t.strides[:d], make([]int, len(at.shape)), t.strides[d+1:])
		l.indices = slices.Concat(make([]int, before), at.strides, make([]int, after))
		return l, nil
	}
	l.shape, l.indices, l.strides = at.shape, at.strides, slices.Clone(t.strides)
	if len(at.shape) != len(t.shape) {
		return l, fmt.Errorf("%w: indices of %v for %v", ErrShape, at.shape, t.shape)
	}
	for i, n := range at.shape {
		if i != d && n != t.shape[i] {
			return l, fmt.Errorf("%w: indices of %v for dimension %d of %v", ErrShape, at.shape, d, t.shape)
		}
	}
	l.strides[d] = 0
	return l, nil
}

// indexed returns the elements of t at indices.
func indexed(name string, t *Tensor, dim int, at *Tensor) *Tensor {
	s, err := scopeOf(name, []*Tensor{t, at})
	if err != nil {
		return failed(s, err)
	}
	l, err := lookupOf(name, t, dim, at)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	out := s.empty(name, t.dtype, l.shape)
	if out.err != nil {
		return out
	}
	x := t.array()
	x.Strides = l.strides
	if err := l.of(at, t.strides[l.dim]).Gather(s.stream, l.shape, out.array(), x); err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: []*Tensor{t, at}, save: []*Tensor{at}, back: func(d *Derivative) []*Tensor {
		g := s.zeros(name, d.Grad.dtype, l.size)
		if g.err != nil {
			return nil
		}
		back, err := lookupOf(name, g, l.dim, d.Saved[0])
		if err == nil {
			err = s.scatter(g, back, d.Saved[0], d.Grad)
		}
		if err != nil {
			return []*Tensor{s.fail(mistake(name, err))}
		}
		return []*Tensor{g}
	}})
	return out
}

// of returns the indices for kernels. Step is the distance of elements along the dimension.
func (l *lookup) of(at *Tensor, step int) array.Indices {
	i := array.Indices{Array: at.array(), Limit: l.size[l.dim], Step: step}
	i.Strides = l.indices
	return i
}

// scatter adds y to elements of out, which is contiguous. The dimensions that follow those of the indices are added together.
func (s *Scope) scatter(out *Tensor, l lookup, at, y *Tensor) error {
	width, n := 1, len(l.shape)
	if len(l.shape) > 0 {
		for n > 0 && l.indices[n-1] == 0 && l.strides[n-1] == width && l.shape[n-1] > 0 && out.strides[l.dim] >= width*l.shape[n-1] {
			n--
			width *= l.shape[n]
		}
	}
	shape := l.shape[:n]
	count, err := product(shape)
	if err != nil || count == 0 || y.Len() == 0 || out.Len() == 0 {
		return err
	}
	keys, err := device.MakeDirty[int64](s.stream, count)
	if err != nil {
		return err
	}
	defer keys.Close() // in stream order
	numbers, err := device.MakeDirty[int64](s.stream, count)
	if err != nil {
		return err
	}
	defer numbers.Close()
	pairs := array.Pairs{Keys: keys.All(), Numbers: numbers.All()}
	places := array.Array{Bytes: out.memory.bytes, Type: out.dtype, Strides: make([]int, n)}
	for i := range n {
		places.Strides[i] = l.strides[i] / width
	}
	indices := l.of(at, out.strides[l.dim]/width)
	indices.Strides = indices.Strides[:n]
	if err := pairs.Number(s.stream, shape, places, indices); err != nil {
		return err
	}
	if err := prim.SortPairs(s.stream, pairs.Keys, pairs.Numbers); err != nil {
		return err
	}
	c := y.Contiguous()
	if c.err != nil {
		return c.err
	}
	if c.offset != 0 {
		c = s.copied("ScatterAdd", c)
	}
	return pairs.Accumulate(s.stream, out.array(), c.array(), width)
}
