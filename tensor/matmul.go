package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// MatMul returns the product of matrices: t has the shape [... m k], y has [... k n], and the result has [... m n]. The first dimensions are
// broadcast as by Add. If t has one dimension, it is a row, and the result has no dimension m. If y has one dimension, it is a column, and the
// result has no dimension n. Elements are floats, and different types are combined as by Add. Sums are computed in float32, or in float64 if
// the type is float64. Transposed views are not copied. The mistake is ErrShape if the shapes do not fit, and ErrDType if the elements are not
// floats.
func (t *Tensor) MatMul(y *Tensor) *Tensor {
	const name = "MatMul"
	s, err := scopeOf(name, []*Tensor{t, y})
	if err != nil {
		return failed(s, err)
	}
	of, err := common(t, y)
	switch {
	case err != nil:
	case !isFloat(of):
		err = fmt.Errorf("%w: %v and %v; To makes floats of them", ErrDType, t.dtype, y.dtype)
	case len(t.shape) == 0 || len(y.shape) == 0:
		err = fmt.Errorf("%w: %v by %v", ErrShape, t.shape, y.shape)
	case t.Dim(-1) != y.shape[max(len(y.shape)-2, 0)]:
		err = fmt.Errorf("%w: %v by %v: inner dimensions %d and %d differ", ErrShape, t.shape, y.shape, t.Dim(-1), y.shape[max(len(y.shape)-2, 0)])
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	x, y := s.own(t).To(of), s.own(y).To(of)
	row, column := len(x.shape) == 1, len(y.shape) == 1
	if row {
		x = x.Unsqueeze(0)
	}
	if column {
		y = y.Unsqueeze(1)
	}
	r := s.matrices(name, x, y)
	if row {
		r = r.Squeeze(-2)
	}
	if column {
		r = r.Squeeze(-1)
	}
	return r
}

// own returns t, or a view of s if it has no Scope.
func (s *Scope) own(t *Tensor) *Tensor {
	if t.scope == nil {
		return s.Use(t)
	}
	return t
}

// matrices multiplies matrices. Those of x that share one of y become rows of a single matrix.
func (s *Scope) matrices(name string, x, y *Tensor) *Tensor {
	if x.err != nil || y.err != nil {
		return s.fail(s.err)
	}
	if last := len(x.shape) - 1; last > 1 && len(y.shape) == 2 && x.IsContiguous() {
		rows, _ := product(x.shape[:last])
		r := s.products(name, x.Reshape(rows, x.shape[last]), y)
		return r.Reshape(append(slices.Clone(x.shape[:last]), y.shape[1])...)
	}
	return s.products(name, x, y)
}

// products multiplies matrices, which are broadcast along the dimensions before.
func (s *Scope) products(name string, x, y *Tensor) *Tensor {
	if x.err != nil || y.err != nil {
		return s.fail(s.err)
	}
	p, err := productOf(x, y)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	var out *Tensor
	if p.k == 0 {
		out = s.zeros(name, x.dtype, p.shape(nil))
	} else {
		out = p.result(s, name)
	}
	if out.err != nil || !s.recording(x, y) {
		return out
	}
	s.record(out, step{name: name, in: []*Tensor{x, y}, save: []*Tensor{x, y}, back: func(d *Derivative) []*Tensor {
		list := make([]*Tensor, 2)
		if d.Wanted[0] {
			list[0] = s.slope(d, 0, d.Grad, d.Saved[1].T())
		}
		if d.Wanted[1] {
			list[1] = s.slope(d, 1, d.Saved[0].T(), d.Grad)
		}
		return list
	}})
	return out
}

// The results for which narrow is faster: of few columns and many rows.
const (
	narrowColumns = 64
	narrowRows    = 512
)

// narrow reports whether the product is the transpose of one of few rows, whose kernels read the larger operand once at the rate of memory,
// and have no tiles of columns that do not exist.
func (p *multiplication) narrow() bool {
	return len(p.batch) == 0 && p.n <= narrowColumns && p.m >= narrowRows && p.n%8 == 0 && p.m%8 == 0 && p.k%8 == 0 && p.bias == nil && p.to == nil
}

// transposed returns the product of the transposed operands.
func (p *multiplication) transposed(s *Scope, name string) *Tensor {
	var out *Tensor
	s.NoGrad(func() {
		out = s.Tidy(func() *Tensor {
			q := multiplication{x: p.y.T(), y: p.x.T(), m: p.n, n: p.m, k: p.k}
			r := q.result(s, name).T()
			if p.view {
				return r
			}
			return r.Contiguous()
		})
	})
	return out
}

// multiplication is a product of matrices for each index of a batch.
type multiplication struct {
	x, y    *Tensor
	bias    *Tensor // of float32, for each column of the result, or nil
	to      *Tensor // what the product is added to, contiguous and of the type of the result, or nil; there is no batch then
	view    bool    // the result may be a view that is not contiguous
	batch   []int
	m, n, k int
}

// productOf returns the product of two tensors of at least two dimensions.
func productOf(x, y *Tensor) (multiplication, error) {
	i, j := len(x.shape)-2, len(y.shape)-2
	p := multiplication{x: x, y: y, m: x.shape[i], k: x.shape[i+1], n: y.shape[j+1]}
	var err error
	if p.batch, err = broadcast(nil, x.shape[:i], y.shape[:j]); err != nil {
		return p, fmt.Errorf("%w: %v by %v", ErrShape, x.shape, y.shape)
	}
	var r room
	_, err = product(p.shape(r[:0]))
	return p, err
}

// shape returns the shape of the result.
func (p *multiplication) shape(to []int) []int { return append(append(to, p.batch...), p.m, p.n) }

// result computes the product. CPUs multiply 16-bit elements as float32, which is 100 times as fast as code for tensor cores.
func (p *multiplication) result(s *Scope, name string) *Tensor {
	of := p.x.dtype
	if row.FormFor(s.stream) == row.Plain && (of == dtype.BFloat16 || of == dtype.Float16) {
		var out *Tensor
		s.NoGrad(func() {
			out = s.Tidy(func() *Tensor {
				wide := *p
				wide.x, wide.y = p.x.To(dtype.Float32), p.y.To(dtype.Float32)
				return wide.result(s, name).To(of)
			})
		})
		return out
	}
	if of.Size() == 2 && p.narrow() {
		return p.transposed(s, name)
	}
	var r room
	out := s.empty(name, of, p.shape(r[:0]))
	if out.err != nil {
		return out
	}
	if err := p.launch(s, out); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// launch launches the kernels.
func (p *multiplication) launch(s *Scope, out *Tensor) error {
	if out.Len() == 0 {
		return nil
	}
	switch out.dtype {
	case dtype.Float64:
		return p.double(s, out)
	case dtype.Float32:
		if p.x.dtype == dtype.BFloat16 {
			return p.widened(s, out)
		}
		return batches(s, p, out, func(shape gemm.Shape, x gemm.Operands[float32, float32, float32], _ bool) error {
			return gemm.Float32(s.stream, shape, x)
		})
	case dtype.BFloat16:
		return halves[dtype.BF16](s, p, out)
	}
	return halves[dtype.F16](s, p, out)
}

// double multiplies matrices of float64.
func (p *multiplication) double(s *Scope, out *Tensor) error {
	i, j := len(p.x.shape)-2, len(p.y.shape)-2
	l := array.Lines{Out: out.array(), X: p.x.array(), Y: p.y.array(), Length: p.k, StepX: p.x.strides[i+1], StepY: p.y.strides[j]}
	l.X.Strides = append(outer(p.x).repeated(nil, p.batch), p.x.strides[i], 0)
	l.Y.Strides = append(outer(p.y).repeated(nil, p.batch), 0, p.y.strides[j+1])
	return array.Product(s.stream, out.shape, &l)
}

// outer returns the layout of t without the last two dimensions.
func outer(t *Tensor) *Tensor {
	n := len(t.shape) - 2
	return &Tensor{shape: t.shape[:n], strides: t.strides[:n]}
}

// halves multiplies matrices of 16-bit elements.
func halves[T interface {
	Element
	gpu.Half
}](s *Scope, p *multiplication, out *Tensor) error {
	return batches(s, p, out, func(shape gemm.Shape, x gemm.Operands[T, T, T], aligned bool) error {
		if !aligned {
			return gemm.HalfIn(s.stream, gemm.Plain, shape, x)
		}
		return withWorkspace(s, shape, func(work device.Slice[float32]) error {
			x.Workspace = work
			return gemm.Half(s.stream, shape, x)
		})
	})
}

// withWorkspace calls multiply with the workspace of a product of 16-bit elements.
func withWorkspace(s *Scope, shape gemm.Shape, multiply func(work device.Slice[float32]) error) error {
	work, err := device.MakeDirty[float32](s.stream, gemm.Workspace(s.stream.Device(), shape, gemm.None))
	if err != nil {
		return err
	}
	defer work.Close() // in stream order, after the product
	return multiply(work.All())
}

// batches calls multiply for each matrix of the batch, and says whether the matrices begin at multiples of 8 elements.
func batches[T, C Element](s *Scope, p *multiplication, out *Tensor, multiply func(shape gemm.Shape, x gemm.Operands[T, T, C], aligned bool) error) error {
	shape, x, y := p.layout()
	if x.err != nil || y.err != nil {
		return s.err
	}
	a, b, c := all[T](x), all[T](y), all[C](out)
	var bias device.Slice[float32]
	var sums device.Slice[C]
	if p.bias != nil {
		bias = elements[float32](p.bias)
	}
	if p.to != nil {
		sums = elements[C](p.to)
	}
	var rx, ry room
	xs, ys := outer(x).repeated(rx[:0], p.batch), outer(y).repeated(ry[:0], p.batch)
	count, _ := product(p.batch)
	for i := range count {
		from, to := x.offset, y.offset
		rest := i
		for d := len(p.batch) - 1; d >= 0; d-- {
			k := rest % p.batch[d]
			rest /= p.batch[d]
			from, to = from+k*xs[d], to+k*ys[d]
		}
		at := i * p.m * p.n
		o := gemm.Operands[T, T, C]{Bias: bias, Residual: sums, A: a.Slice(from, a.Len()), B: b.Slice(to, b.Len()), C: c.Slice(at, at+p.m*p.n)}
		if err := multiply(shape, o, (from|to|at)%8 == 0); err != nil {
			return err
		}
	}
	return nil
}

// all returns the memory in which t's elements are.
func all[T Element](t *Tensor) device.Slice[T] { return device.View[T](t.memory.bytes) }

// layout returns the shape of the matrices, and the operands, which are copied if package gemm has no layout for them.
func (p *multiplication) layout() (gemm.Shape, *Tensor, *Tensor) {
	x, y := p.x, p.y
	lda, normalA := rowsOf(x, false)
	ldb, normalB := rowsOf(y, false)
	ta, transposedA := rowsOf(x, true)
	tb, transposedB := rowsOf(y, true)
	if !normalB && !transposedB {
		y, ldb, normalB = y.Contiguous(), p.n, true
	}
	if !normalA && (!transposedA || !normalB) {
		x, lda, normalA = x.Contiguous(), p.k, true
	}
	s := gemm.Shape{Layout: gemm.NN, M: p.m, N: p.n, K: p.k, LDA: lda, LDB: ldb}
	if !normalB {
		s.Layout, s.LDB = gemm.NT, tb
	} else if !normalA {
		s.Layout, s.LDA = gemm.TN, ta
	}
	return s, x, y
}

// rowsOf returns the distance of a matrix's rows, or of its columns if transposed, and whether their elements are neighbours.
func rowsOf(t *Tensor, transposed bool) (int, bool) {
	i := len(t.shape) - 2
	rows, columns, apart, next := t.shape[i], t.shape[i+1], t.strides[i], t.strides[i+1]
	if transposed {
		rows, columns, apart, next = columns, rows, next, apart
	}
	if rows == 1 {
		apart = columns
	}
	return apart, (next == 1 || columns == 1) && apart >= columns
}
