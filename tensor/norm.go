package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/norm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// NormOptions are the options of RMSNorm and LayerNorm.
type NormOptions struct {
	Epsilon float64    // is added to the mean of the squares (RMSNorm) or to the variance (LayerNorm)
	DType   dtype.Type // the element type of the result; by default that of the operand
}

// RMSNorm divides each row of t, a tensor of floats, by the root of the mean of its squares, and multiplies it by weight, which has an
// element for each column (Zhang and Sennrich, "Root Mean Square Layer Normalization"). Rows are along the last dimension. RMSNorm computes
// in float32, or in float64 if t is of float64. The result has the shape of t. The mistake is ErrShape if weight does not have an element
// for each column, ErrDType for other types, and ErrValue for a negative epsilon.
func (t *Tensor) RMSNorm(weight *Tensor, o NormOptions) *Tensor {
	return normalize("RMSNorm", []*Tensor{t, weight}, o)
}

// LayerNorm subtracts the mean from each row of t, a tensor of floats, divides the row by the root of its variance, multiplies by weight
// and adds bias. weight and bias have an element for each column (Ba, Kiros and Hinton, "Layer Normalization"). See RMSNorm for rows,
// element types and mistakes.
func (t *Tensor) LayerNorm(weight, bias *Tensor, o NormOptions) *Tensor {
	return normalize("LayerNorm", []*Tensor{t, weight, bias}, o)
}

// normalize applies a norm to a tensor and its parameters, of which the bias makes it a LayerNorm.
func normalize(name string, in []*Tensor, o NormOptions) *Tensor {
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	t := in[0]
	if o.DType == dtype.Invalid {
		o.DType = t.dtype
	}
	if err := checkNorm(in, o); err != nil {
		return s.fail(mistake(name, err))
	}
	of := dtype.Float32
	if t.dtype == dtype.Float64 {
		of = dtype.Float64
	}
	in[0] = s.own(t)
	for i := range in[1:] {
		in[i+1] = s.own(in[i+1]).To(of).Contiguous()
	}
	if of == dtype.Float64 {
		return plainNorm(in, o.Epsilon).To(o.DType)
	}
	if widens := t.dtype.Size() == 2 && row.FormFor(s.stream) == row.Plain; widens || t.dtype != o.DType && !narrows(in, o) {
		in[0] = in[0].To(dtype.Float32)
		return normRows(name, in, NormOptions{o.Epsilon, dtype.Float32}).To(o.DType)
	}
	in[0] = in[0].Contiguous()
	return normRows(name, in, o)
}

// narrows reports whether there is a kernel that rounds results: from float32 to bfloat16. That of LayerNorm is for GPUs.
func narrows(in []*Tensor, o NormOptions) bool {
	t := in[0]
	if t.dtype != dtype.Float32 || o.DType != dtype.BFloat16 || t.Dim(-1)%4 != 0 {
		return false
	}
	return len(in) == 2 || fitsNarrow(in)
}

// fitsNarrow reports whether kernels for float32 rows with results of bfloat16 fit contiguous operands.
func fitsNarrow(in []*Tensor) bool {
	s := in[len(in)-1].scope.stream
	if row.FormFor(s) == row.Plain {
		return false
	}
	for _, t := range in {
		if t.err != nil || t.offset%4 != 0 || !t.memory.bytes.Aligned(row.VectorBytes) {
			return false
		}
	}
	return norm.FitsNarrow(normShape(in[0]))
}

// checkNorm returns the mistake in the operands of a norm.
func checkNorm(in []*Tensor, o NormOptions) error {
	t := in[0]
	if !isFloat(t.dtype) || !isFloat(o.DType) {
		return fmt.Errorf("%w: %v to %v", ErrDType, t.dtype, o.DType)
	}
	if len(t.shape) == 0 || t.Dim(-1) == 0 {
		return fmt.Errorf("%w: no columns in %v", ErrShape, t.shape)
	}
	for _, p := range in[1:] {
		if len(p.shape) != 1 || p.shape[0] != t.Dim(-1) {
			return fmt.Errorf("%w: parameters of %v for %v", ErrShape, p.shape, t.shape)
		}
		if !isFloat(p.dtype) {
			return fmt.Errorf("%w: parameters of %v", ErrDType, p.dtype)
		}
	}
	if !(o.Epsilon >= 0) {
		return fmt.Errorf("%w: an epsilon of %v", ErrValue, o.Epsilon)
	}
	return nil
}

// plainNorm computes a norm by other operations.
func plainNorm(in []*Tensor, epsilon float64) *Tensor {
	x := in[0]
	if len(in) > 2 {
		x = x.Sub(x.Mean(-1).Unsqueeze(-1))
	}
	y := x.Div(x.Square().Mean(-1).AddScalar(epsilon).Sqrt().Unsqueeze(-1)).Mul(in[1])
	if len(in) > 2 {
		y = y.Add(in[2])
	}
	return y
}

// normRows computes a norm of contiguous rows by a kernel.
func normRows(name string, in []*Tensor, o NormOptions) *Tensor {
	return Op{
		Name: name, In: in, DType: o.DType, Shape: in[0].shape, Save: in[:2], forgets: len(in) == 2,
		Launch: func(s *device.Stream, y *Tensor) error {
			switch x := in[0]; {
			case x.dtype == dtype.Float32 && y.dtype == dtype.BFloat16:
				return narrowKernel(s, in, y, o)
			case x.dtype == dtype.Float32:
				return normKernel[float32](s, in, y, o)
			case x.dtype == dtype.BFloat16:
				return normKernel[dtype.BF16](s, in, y, o)
			}
			return normKernel[dtype.F16](s, in, y, o)
		},
		Back: func(d *Derivative) []*Tensor { return normBack(d, len(in) > 2, o.Epsilon) },
	}.Apply()
}

// normShape returns the rows and columns of t.
func normShape(t *Tensor) norm.Shape {
	columns := t.Dim(-1)
	return norm.Shape{Rows: t.Len() / columns, Columns: columns}
}

// normKernel launches the kernel of a norm.
func normKernel[T number](s *device.Stream, in []*Tensor, y *Tensor, o NormOptions) error {
	x := norm.Operands[T]{X: elements[T](in[0]), Y: elements[T](y), Weight: elements[float32](in[1])}
	if len(in) == 2 {
		return norm.RMSNorm(s, normShape(y), float32(o.Epsilon), x)
	}
	x.Bias = elements[float32](in[2])
	return norm.LayerNorm(s, normShape(y), float32(o.Epsilon), x)
}

// narrowKernel launches the kernel of a norm of float32 rows with results of bfloat16.
func narrowKernel(s *device.Stream, in []*Tensor, y *Tensor, o NormOptions) error {
	x := norm.Narrowed{X: elements[float32](in[0]), Y: elements[dtype.BF16](y), Weight: elements[float32](in[1])}
	if len(in) == 2 {
		return norm.RMSNormNarrow(s, normShape(y), float32(o.Epsilon), x)
	}
	x.Bias = elements[float32](in[2])
	return norm.LayerNormNarrow(s, normShape(y), float32(o.Epsilon), x)
}

// normBack returns the derivatives of a norm of rows and its parameters.
func normBack(d *Derivative, centred bool, epsilon float64) []*Tensor {
	x, g := d.Saved[0], d.Grad.Contiguous()
	switch {
	case x.dtype == dtype.BFloat16 && g.dtype == dtype.BFloat16:
		return normBackKernel[dtype.BF16](d, []*Tensor{x, g}, centred, epsilon)
	case x.dtype == dtype.Float32 && g.dtype == dtype.BFloat16 && fitsNarrow([]*Tensor{x, d.Saved[1], g}):
		return normBackKernel[float32](d, []*Tensor{x, g}, centred, epsilon)
	}
	return normBackKernel[float32](d, []*Tensor{x.To(dtype.Float32), g.To(dtype.Float32)}, centred, epsilon)
}

// normBackKernel launches the kernels for rows and the derivative with respect to their norm.
func normBackKernel[T interface {
	Element
	norm.Element
}](d *Derivative, in []*Tensor, centred bool, epsilon float64) []*Tensor {
	const name = "Norm"
	s, shape := in[0].scope, normShape(in[0])
	list := []*Tensor{s.empty(name, in[0].dtype, in[0].shape)}
	for _, wanted := range d.Wanted[1:] {
		var t *Tensor
		if wanted {
			t = s.empty(name, dtype.Float32, []int{shape.Columns})
		}
		list = append(list, t)
	}
	if s.err != nil {
		return nil
	}
	x := norm.Gradients[T]{X: elements[T](in[0]), DX: elements[T](list[0]), Weight: elements[float32](d.Saved[1])}
	if in[1].dtype == in[0].dtype {
		x.DY = elements[T](in[1])
	} else {
		x.DYHalf = elements[dtype.BF16](in[1])
	}
	if to := d.sums[0]; to != nil && to.dtype == in[0].dtype && to.IsContiguous() && (x.DYHalf.Len() == 0 || fitsNarrow([]*Tensor{to, d.Saved[1], in[1]})) {
		x.Add = elements[T](d.Sum(0))
	}
	err := normGradients(s.stream, x, list[1:], func(x norm.Gradients[T]) error {
		if centred {
			return norm.LayerNormBack(s.stream, shape, float32(epsilon), x)
		}
		return norm.RMSNormBack(s.stream, shape, float32(epsilon), x)
	})
	if err != nil {
		s.fail(mistake(name, err))
	}
	return list
}

// normGradients calls launch with the memory that the derivatives with respect to parameters take.
func normGradients[T norm.Element](s *device.Stream, x norm.Gradients[T], parameters []*Tensor, launch func(x norm.Gradients[T]) error) error {
	workspace := false
	for i, to := range []*device.Slice[float32]{&x.DWeight, &x.DBias}[:len(parameters)] {
		if t := parameters[i]; t != nil {
			*to, workspace = elements[float32](t), true
		}
	}
	if !workspace {
		return launch(x)
	}
	columns := x.Weight.Len()
	work, err := device.MakeDirty[float32](s, norm.Workspace(norm.Shape{Rows: x.X.Len() / columns, Columns: columns}))
	if err != nil {
		return err
	}
	defer work.Close() // in stream order
	x.Workspace = work.All()
	return launch(x)
}
