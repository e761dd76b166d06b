package tensor_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// function is a function of tensors whose derivative is compared with finite differences.
type function struct {
	shapes   [][]int // of the arguments
	positive bool    // arguments are from 0.5 to 2, and otherwise from -2 to 2
	of       func(x []*tensor.Tensor) *tensor.Tensor
}

// of1 is a function of a tensor of 3 x 4 elements.
func of1(f func(x *tensor.Tensor) *tensor.Tensor) function {
	return function{shapes: [][]int{{3, 4}}, of: func(x []*tensor.Tensor) *tensor.Tensor { return f(x[0]) }}
}

// of2 is a function of tensors of two shapes.
func of2(a, b []int, f func(x, y *tensor.Tensor) *tensor.Tensor) function {
	return function{shapes: [][]int{a, b}, of: func(x []*tensor.Tensor) *tensor.Tensor { return f(x[0], x[1]) }}
}

func (f function) onlyPositive() function {
	f.positive = true
	return f
}

// indices returns a constant of int64.
func indices(x *tensor.Tensor, shape []int, values ...int64) *tensor.Tensor {
	return tensor.From(x.Scope(), values, shape...)
}

// functions returns each operation with a derivative, at least once.
func functions() map[string]function {
	list := elementwise()
	maps.Copy(list, more())
	maps.Copy(list, layers())
	return list
}

// elementwise returns the functions on elements, and reductions.
func elementwise() map[string]function {
	type T = *tensor.Tensor
	a, row, column := []int{3, 4}, []int{4}, []int{3, 1}
	return map[string]function{
		"Add":        of2(a, row, T.Add),
		"AddSelf":    of1(func(x T) T { return x.Add(x) }),
		"Sub":        of2(row, a, T.Sub),
		"Mul":        of2(a, column, T.Mul),
		"MulBoth":    of2(row, column, T.Mul),
		"Div":        of2(a, row, T.Div).onlyPositive(),
		"DivScalar":  of2([]int{}, a, T.Div).onlyPositive(),
		"Pow":        of2(a, row, T.Pow).onlyPositive(),
		"Maximum":    of2(a, row, T.Maximum),
		"Minimum":    of2(a, column, T.Minimum),
		"Where":      of2(a, row, func(x, y T) T { return tensor.Where(x.Greater(y), x.Scale(3), y) }),
		"Neg":        of1(T.Neg),
		"Abs":        of1(T.Abs),
		"Sign":       of1(T.Sign),
		"Square":     of1(T.Square),
		"ReLU":       of1(T.ReLU),
		"Sqrt":       of1(T.Sqrt).onlyPositive(),
		"Exp":        of1(T.Exp),
		"Log":        of1(T.Log).onlyPositive(),
		"Tanh":       of1(T.Tanh),
		"Sigmoid":    of1(T.Sigmoid),
		"GELU":       of1(T.GELU),
		"SiLU":       of1(T.SiLU),
		"Scale":      of1(func(x T) T { return x.Scale(-2.5) }),
		"AddScalar":  of1(func(x T) T { return x.AddScalar(3) }),
		"PowScalar":  of1(func(x T) T { return x.PowScalar(3) }),
		"PowScalar0": of1(func(x T) T { return x.PowScalar(0) }),
		"Sum":        of1(func(x T) T { return x.Square().Sum() }),
		"Sum0":       of1(func(x T) T { return x.Square().Sum(0) }),
		"Sum1":       of1(func(x T) T { return x.Square().Sum(-1) }),
		"Mean":       of1(func(x T) T { return x.Square().Mean(0) }),
		"MeanAll":    of1(func(x T) T { return x.Square().Mean() }),
		"Max":        of1(func(x T) T { return x.Max(1) }),
		"Min":        of1(func(x T) T { return x.Min(0) }),
		"MaxAll":     of1(func(x T) T { return x.Max() }),
		"SumMiddle":  {shapes: [][]int{{2, 3, 2}}, of: func(x []T) T { return x[0].Square().Sum(0, 2) }},
	}
}

// more returns the functions on rows, views and indices.
func more() map[string]function {
	type T = *tensor.Tensor
	a, row := []int{3, 4}, []int{4}
	return map[string]function{
		"Softmax":       of1(func(x T) T { return x.Softmax(1) }),
		"Softmax0":      of1(func(x T) T { return x.Softmax(0) }),
		"LogSoftmax":    of1(func(x T) T { return x.LogSoftmax(-1) }),
		"LogSumExp":     of1(func(x T) T { return x.LogSumExp(1) }),
		"LogSumExpAll":  of1(func(x T) T { return x.LogSumExp() }),
		"CumSum":        of1(func(x T) T { return x.CumSum(1) }),
		"CumSum0":       of1(func(x T) T { return x.CumSum(0) }),
		"Reshape":       of1(func(x T) T { return x.Reshape(2, 6).Square() }),
		"Transpose":     of1(func(x T) T { return x.T().Square() }),
		"Slice":         of1(func(x T) T { return x.Slice(1, 1, 3).Square() }),
		"SliceT":        of1(func(x T) T { return x.T().Slice(0, 1, 2).Mul(x.Slice(1, 0, 1).T()) }),
		"Unsqueeze":     of1(func(x T) T { return x.Unsqueeze(1).Square().Squeeze(1) }),
		"Expand":        of1(func(x T) T { return x.Unsqueeze(0).Expand(2, 3, 4).Square() }),
		"Contiguous":    of1(func(x T) T { return x.T().Contiguous().Square() }),
		"To":            of1(func(x T) T { return x.To(dtype.Float64).Square() }),
		"MatMul":        of2(a, []int{4, 2}, T.MatMul),
		"MatMulT":       of2(a, []int{2, 4}, func(x, y T) T { return x.MatMul(y.T()) }),
		"MatMulTN":      of2(a, []int{3, 2}, func(x, y T) T { return x.T().MatMul(y) }),
		"MatMulBatch":   of2([]int{2, 1, 2, 3}, []int{3, 3, 2}, T.MatMul),
		"MatMulShared":  of2([]int{2, 2, 3}, []int{3, 2}, T.MatMul),
		"AddMatMul":     {shapes: [][]int{a, {3, 2}, {2, 4}}, of: func(x []T) T { return x[0].AddMatMul(x[1], x[2]).Square() }},
		"MatMulVector":  of2(a, row, T.MatMul),
		"VectorMatMul":  of2([]int{3}, a, T.MatMul),
		"Dot":           of2(row, row, T.MatMul),
		"Take":          of1(func(x T) T { return x.Take(0, indices(x, []int{2, 2}, 2, 0, 2, 9)).Square() }),
		"Take1":         of1(func(x T) T { return x.Take(1, indices(x, []int{3}, 3, 3, 1)).Square() }),
		"TakeMiddle":    {shapes: [][]int{{2, 3, 2}}, of: func(x []T) T { return x[0].Take(1, indices(x[0], []int{4}, 2, 2, 0, -1)).Square() }},
		"Gather":        of1(func(x T) T { return x.Gather(1, indices(x, []int{3, 2}, 0, 0, 3, 1, 2, 2)).Square() }),
		"Gather0":       of1(func(x T) T { return x.Gather(0, indices(x, []int{1, 4}, 0, 2, 1, 1)).Square() }),
		"ScatterAdd":    of2(a, []int{3, 2}, func(x, y T) T { return x.ScatterAdd(1, indices(x, []int{3, 2}, 0, 0, 3, 1, 2, 7), y).Square() }),
		"Concat":        of2(a, []int{2, 4}, func(x, y T) T { return tensor.Concat(0, x, y, x).Square() }),
		"Stack":         of2(row, row, func(x, y T) T { return tensor.Stack(1, x, y).Square() }),
		"Sort":          of1(func(x T) T { v, _ := x.Sort(0); return v.Mul(x) }),
		"Top":           of1(func(x T) T { v, _ := x.Top(2); return v.Square() }),
		"CrossEntropy":  of1(func(x T) T { return x.CrossEntropy(indices(x, []int{3}, 3, 0, 2)) }),
		"CrossEntropy2": of1(func(x T) T { return x.CrossEntropy(indices(x, []int{3}, 3, -1, 2)) }),
		"CrossEntropyRows": of1(func(x T) T {
			return x.CrossEntropyRows(indices(x, []int{3}, 3, -1, 2)).Mul(tensor.From(x.Scope(), []float32{1, 5, 3}, 3)).Square()
		}),
		"Own":    of1(cube),
		"Reused": of1(func(x T) T { y := x.Tanh(); return y.Mul(y).Add(y).Add(x) }),
		"Checkpoint": of2(a, row, func(x, y T) T {
			z := x.Scale(2)
			return tensor.Checkpoint(func(x T) T { return x.Mul(y).Tanh().Add(z) }, x.Exp()).Square()
		}),
		"CheckpointOfConstant": of1(func(x T) T {
			return tensor.Checkpoint(func(one T) T { return x.Mul(one).Square() }, tensor.Full(x.Scope(), 3, dtype.Float64, 4))
		}),
		"CheckpointOfNothing": of1(func(x T) T {
			return tensor.Checkpoint(func(x T) T { return x }, x.Square()).Add(tensor.Checkpoint(T.Sign, x))
		}),
		"CheckpointTwice": of1(func(x T) T {
			return tensor.Checkpoint(func(x T) T { return tensor.Checkpoint(T.Tanh, x.Square()).Mul(x) }, x)
		}),
		"Tidy": of1(func(x T) T {
			return x.Scope().Tidy(func() T { return x.Tanh().Mul(x.Exp()) })
		}),
	}
}

// cube is an operation of a program's own, with a derivative.
func cube(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Op{
		Name: "Cube", In: []*tensor.Tensor{x}, DType: x.DType(), Shape: x.Shape(), Save: []*tensor.Tensor{x}, SaveResult: true,
		Launch: func(s *device.Stream, out *tensor.Tensor) error {
			from, err := tensor.SlicesOf[float64](x.Mul(x).Mul(x), out)
			if err != nil {
				return err
			}
			return device.Copy(s, from[1], from[0])
		},
		Back: func(d *tensor.Derivative) []*tensor.Tensor {
			return []*tensor.Tensor{d.Result.Div(d.Saved[0]).Scale(3).Mul(d.Grad)}
		},
	}.Apply()
}

// arguments returns random values.
func (f function) arguments() [][]float64 {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([][]float64, len(f.shapes))
	for i, shape := range f.shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		list[i] = make([]float64, n)
		for k := range list[i] {
			if list[i][k] = 4*r.Float64() - 2; f.positive {
				list[i][k] = 0.5 + 1.5*r.Float64()
			}
		}
	}
	return list
}

// loss returns the weighted sum of the function's results.
func (f function) loss(x []*tensor.Tensor) *tensor.Tensor {
	return weighted(f.of(x))
}

// weighted returns the sum of y with weights.
func weighted(y *tensor.Tensor) *tensor.Tensor {
	weights := make([]float64, y.Len())
	for i := range weights {
		weights[i] = math.Sin(float64(3*i + 1))
	}
	return y.Mul(tensor.From(y.Scope(), weights, y.Shape()...)).Sum()
}

// derivatives returns the derivatives by Backward.
func (f function) derivatives(t *testing.T, s *tensor.Scope, values [][]float64) [][]float64 {
	t.Helper()
	s.Record()
	x := make([]*tensor.Tensor, len(values))
	for i, v := range values {
		x[i] = s.Variable(tensor.From(s, v, f.shapes[i]...))
	}
	s.Backward(f.loss(x))
	list := make([][]float64, len(x))
	for i := range x {
		var err error
		if list[i], err = tensor.Values[float64](t.Context(), x[i].Grad()); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// difference returns the derivative with respect to element k of argument i by finite differences.
func (f function) difference(t *testing.T, s *tensor.Scope, values [][]float64, i, k int) float64 {
	t.Helper()
	at := func(d float64) float64 {
		x := make([]*tensor.Tensor, len(values))
		for j, v := range values {
			v := append([]float64{}, v...)
			if j == i {
				v[k] += d
			}
			x[j] = tensor.From(s, v, f.shapes[j]...)
		}
		y, err := tensor.Values[float64](t.Context(), f.loss(x))
		if err != nil {
			t.Fatal(err)
		}
		return y[0]
	}
	const h = 1e-5
	return (at(h) - at(-h)) / (2 * h)
}

func TestDerivatives(t *testing.T) {
	for name, f := range functions() {
		t.Run(name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				values := f.arguments()
				got := f.derivatives(t, s, values)
				for i, list := range got {
					for k, g := range list {
						if want := f.difference(t, s, values, i, k); math.Abs(g-want) > 1e-7*(1+math.Abs(want)) {
							t.Errorf("argument %d, element %d: %v, by finite differences %v", i, k, g, want)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDerivativesOnDevices compares the derivatives of all devices with those of the kernels' own Go functions.
func TestDerivativesOnDevices(t *testing.T) {
	want := map[string][][]float64{}
	for name, f := range functions() {
		if err := onCPU(t, func(s *tensor.Scope) error {
			want[name] = f.derivatives(t, s, f.arguments())
			return nil
		}); err != nil {
			t.Fatal(name, err)
		}
	}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		for name, f := range functions() {
			for i, list := range f.derivatives(t, s, f.arguments()) {
				for k, g := range list {
					if w := want[name][i][k]; math.Abs(g-w) > 1e-12*(1+math.Abs(w)) {
						t.Errorf("%s: argument %d, element %d: %v, on the CPU %v", name, i, k, g, w)
					}
				}
			}
		}
		return nil
	})
}

// TestSum checks operations whose derivatives include those through other operations, and one of an operand that is there twice.
func TestSum(t *testing.T) {
	type T = *tensor.Tensor
	scaled := func(x []T, factors ...float64) T {
		return tensor.Op{Name: "Scaled", In: x, DType: x[0].DType(), Shape: x[0].Shape(),
			Launch: func(s *device.Stream, out T) error {
				to, err := tensor.SliceOf[float32](out)
				if err != nil {
					return err
				}
				return device.Fill(s, to, 1)
			},
			Back: func(d *tensor.Derivative) (list []T) {
				for i, f := range factors {
					g := d.Grad.Scale(f)
					if sum := d.Sum(i); sum != nil {
						g = g.Add(sum)
					}
					list = append(list, g)
				}
				return list
			},
		}.Apply()
	}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		s.Record()
		x, y := s.Variable(tensor.From(s, []float32{1, 2}, 2)), s.Variable(tensor.From(s, []float32{3, 4}, 2))
		s.Backward(scaled([]T{x, y}, 2, 3).Add(scaled([]T{x, x}, 5, 7)).Add(x.Mul(y)).Sum())
		same(t, x.Grad(), []int{2}, float32(2+5+7+3), 2+5+7+4)
		same(t, y.Grad(), []int{2}, float32(3+1), 3+2)
		return nil
	})
}
