package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Linear multiplies by a matrix: y = x W^T, or x W^T + b, for vectors x of In elements and y of Out elements. A Linear made by NewLinear is
// trained. A loaded Linear is constant, unless LoadOptions.Train is set.
type Linear struct {
	In, Out int
	Bias    bool // whether the file has a bias, the vector b
	trained *affine
	weight  matrix
	bias    device.Slice[float32]
	half    device.Slice[dtype.BF16] // the bias, if activations are bfloat16
}

func (l *Linear) load(from *loader, name string) (err error) {
	if from.options.Train {
		l.trained, err = from.affine(l, name)
		return err
	}
	if l.weight, err = from.matrix(join(name, "weight"), l.Out, l.In); err != nil {
		return err
	}
	return l.loadBias(from, name)
}

// loadBias loads the bias, if there is one, after the matrix.
func (l *Linear) loadBias(from *loader, name string) error {
	if l.Bias {
		values, err := from.vector(join(name, "bias"), l.Out)
		if err != nil {
			return err
		}
		if l.bias, l.half, err = from.bias(values); err != nil {
			return err
		}
	}
	from.progress()
	return nil
}

// bias uploads biases, also as bfloat16 if activations are.
func (l *loader) bias(values []float32) (bias device.Slice[float32], half device.Slice[dtype.BF16], err error) {
	if bias, err = upload(l.params, values); err != nil || !l.params.half() {
		return bias, half, err
	}
	half, err = upload(l.params, dtype.BF16sFrom32(values))
	return bias, half, err
}

// Forward returns the results for the rows of x. The elements of x are activations, and its last dimension is In.
func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil {
		return l.trained.forward(x)
	}
	return multiply("Linear", l.matrix(), product{x: x, bias: l.bias, half: l.half}, x.DType())
}

// Product returns the results for the rows of x, without the bias.
func (l *Linear) Product(x *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil {
		return x.Linear(l.trained.weight.beside(x), nil)
	}
	return multiply("Linear", l.matrix(), product{x: x}, x.DType())
}

// RowNorms returns the norms of the rows of the matrix, as float32 numbers.
func (l *Linear) RowNorms(s *tensor.Scope) *tensor.Tensor {
	const elements = 1 << 22 // that are in memory at a time
	norms := func(rows *tensor.Tensor) *tensor.Tensor { return rows.Square().Sum(1).Sqrt() }
	if l.trained != nil {
		return norms(l.trained.weight.in(s, func() *tensor.Tensor { return l.trained.weight.master }))
	}
	return s.Tidy(func() *tensor.Tensor {
		var list []*tensor.Tensor
		for from, step := 0, max(elements/max(l.In, 1), 1); from < l.Out; from += step {
			numbers := make([]int32, min(step, l.Out-from))
			for i := range numbers {
				numbers[i] = int32(from + i)
			}
			list = append(list, s.Tidy(func() *tensor.Tensor { return norms(gathered(l.matrix(), tensor.From(s, numbers, len(numbers)))) }))
		}
		return tensor.Concat(0, list...)
	})
}

// ForwardGELU returns Forward(x).GELU(). On GPUs, a single kernel computes this if the layer is constant, its matrix and x have the same
// element type, float16 or bfloat16, and no derivative is needed. The kernel approximates GELU with an error of at most 2.6e-5.
func (l *Linear) ForwardGELU(x *tensor.Tensor) *tensor.Tensor {
	s := x.Scope()
	if l.trained != nil || s == nil || x.NeedsGrad() || row.FormFor(s.Stream()) == row.Plain || !halfOf(l.weight, x.DType()) {
		return l.Forward(x).GELU()
	}
	return multiply("Linear", l.matrix(), product{x: x, bias: l.bias, half: l.half, activation: gemm.GELU}, x.DType())
}

// halfOf reports whether a matrix has elements of the given type of half precision.
func halfOf(m matrix, of dtype.Type) bool {
	switch m.(type) {
	case brains:
		return of == dtype.BFloat16
	case halves:
		return of == dtype.Float16
	}
	return false
}

// AddTo adds the results for the rows of x to sum, a residual stream, and returns the new sum. It works in place where it can, so sum must not
// be used after the call.
func (l *Linear) AddTo(sum, x *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil {
		return l.trained.addTo(sum, x)
	}
	if sum.Recorded() || !sum.IsContiguous() || x.NeedsGrad() || x.DType() == dtype.Float16 {
		return sum.Add(multiply("Linear", l.matrix(), product{x: x, bias: l.bias}, dtype.Float32))
	}
	x = x.Contiguous()
	done := tensor.Op{Name: "Linear", In: []*tensor.Tensor{x, sum}, DType: dtype.Float32, Shape: []int{0}, Launch: func(s *device.Stream, _ *tensor.Tensor) error {
		if x.Dim(-1) != l.In || sum.Dim(-1) != l.Out || x.Len()/l.In != sum.Len()/l.Out {
			return fmt.Errorf("%w: %v and %v for a matrix of %d x %d", tensor.ErrShape, x.Shape(), sum.Shape(), l.Out, l.In)
		}
		return l.matrix().multiply(s, product{x: x, y: sum, bias: l.bias, add: true})
	}}.Apply()
	if done.Err() != nil {
		return done
	}
	tensor.Changed(sum)
	return sum
}

// Scores normalizes the rows of x, a residual stream, and returns the results for the normalized rows, as float32. Scores is the head of a
// model.
func (l *Linear) Scores(n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil {
		return l.trained.forward(n.Forward(x)).To(dtype.Float32)
	}
	return scores(l.matrix(), n, x)
}

// scores multiplies the normalized rows of x by a matrix.
func scores(m matrix, n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	x = x.Contiguous()
	if s := x.Scope(); s != nil && x.Err() == nil && !x.NeedsGrad() {
		if w, ok := fused(s.Stream(), m, n, x); ok {
			return fusedScores(w, n, x)
		}
		if q, ok := m.(quantized); ok && q.fine(n, x) {
			return multiply("Scores", m, product{x: n.forward(x, dtype.Float16)}, dtype.Float32)
		}
	}
	return multiply("Scores", m, product{x: n.Forward(x)}, dtype.Float32)
}

// fusedScores is scores for one row.
func fusedScores(w matvec.Matrix, n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	shape := append(x.Shape()[:x.Dims()-1], w.Rows)
	return tensor.Op{Name: "Scores", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		from, err := n.of(x)
		if err != nil {
			return err
		}
		to, err := tensor.SliceOf[float32](y)
		if err != nil {
			return err
		}
		return withScratch(s, 2*w.Blocks(), func(best device.Slice[float32]) error {
			return matvec.Logits(s, w, from, matvec.Scores{Logits: to, Best: device.View[uint64](best)})
		})
	}}.Apply()
}

// multiply applies a matrix to the rows of p.x. The result has elements of the given type.
func multiply(op string, m matrix, p product, of dtype.Type) *tensor.Tensor {
	if y, ok := multiplyShort(op, m, p, of); ok {
		return y
	}
	p.x = p.x.Contiguous()
	size, shape := m.size(), p.x.Shape()
	if n := len(shape); n > 0 {
		shape[n-1] = size.Rows
	}
	return tensor.Op{Name: op, In: []*tensor.Tensor{p.x}, DType: of, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if p.x.Dim(-1) != size.Columns {
			return fmt.Errorf("%w: rows of %v for %d columns", tensor.ErrShape, p.x.Shape(), size.Columns)
		}
		p.y = y
		return m.multiply(s, p)
	}, Back: back(m, p.x.DType())}.Apply()
}

// multiplyShort is multiply for vectors of float16, for which there are only kernels with a dense matrix and results of float16. It returns
// false if such a kernel is what is needed.
func multiplyShort(op string, m matrix, p product, of dtype.Type) (*tensor.Tensor, bool) {
	if p.x.DType() != dtype.Float16 {
		return nil, false
	}
	h, ok := m.(halves)
	switch s := p.x.Scope(); {
	case !ok:
		p.x, p.half = p.x.To(dtype.Float32), device.Slice[dtype.BF16]{}
		return multiply(op, m, p, dtype.Float32).To(of), true
	case of != dtype.Float16:
		return multiply(op, m, p, dtype.Float16).To(of), true
	case s == nil || row.FormFor(s.Stream()) != row.Plain || p.activation != gemm.None:
		return nil, false
	}
	return h.plainly(p), true // as float32, which is 100 times as fast on CPUs
}
