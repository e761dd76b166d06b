package tensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// place is where the elements of an array are in testdata/vectors.npz.
type place struct {
	Type  string
	At    int
	Shape []int
}

// vector is an operation with operands and results that PyTorch computed.
type vector struct {
	Op      string
	Args    []int
	Type    string // of the first result; "" is that of the operands, and float is float32 or float64
	In, Out []place
	Weights *place // of the elements of the first result in the sum of which Grads are the derivatives
	Grads   []place
}

// vectors is the contents of testdata/vectors.npz.
type vectors struct {
	cases  []vector
	floats []float64
	ints   []int32
	places []int64
	bools  []bool
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.npz")
	if err != nil {
		t.Fatal(err)
	}
	err = onCPU(t, func(s *tensor.Scope) error {
		list, err := tensor.ReadNPZ(s, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return err
		}
		v.floats, v.ints, v.places, v.bools = elements[float64](t, list["float64"]), elements[int32](t, list["int32"]), elements[int64](t, list["int64"]), elements[bool](t, list["bool"])
		return json.Unmarshal(elements[uint8](t, list["cases"]), &v.cases)
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func elements[T tensor.Element](t *testing.T, x *tensor.Tensor) []T {
	t.Helper()
	list, err := tensor.Values[T](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// upload returns an array; floats and int32 numbers become numbers of the type.
func (v *vectors) upload(s *tensor.Scope, p place, of dtype.Type) *tensor.Tensor {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	end := p.At + n
	switch p.Type {
	case "float64":
		return tensor.From(s, v.floats[p.At:end], p.Shape...).To(of)
	case "int32":
		return tensor.From(s, v.ints[p.At:end], p.Shape...).To(of)
	case "int64":
		return tensor.From(s, v.places[p.At:end], p.Shape...)
	}
	return tensor.From(s, v.bools[p.At:end], p.Shape...)
}

// types returns the element types of the operands of a case.
func (v *vectors) types(c vector) []dtype.Type {
	for _, p := range c.In {
		switch p.Type {
		case "float64":
			return []dtype.Type{dtype.Float64, dtype.Float32, dtype.BFloat16, dtype.Float16}
		case "int32":
			return []dtype.Type{dtype.Int32, dtype.Int64}
		}
	}
	return []dtype.Type{dtype.Float32}
}

// vectorTolerance returns the error relative to the greatest element of a result: that of float32 for integers, some of whose results are
// floats.
func vectorTolerance(of dtype.Type, kind string) float64 {
	switch {
	case of == dtype.Float64:
		return 1e-12
	case of == dtype.Float16:
		return 4e-3
	case of == dtype.BFloat16:
		return 3e-2
	case kind == "cuda":
		return 4e-5 // exponentials and quotients are approximate
	}
	return 1e-5
}

// TestVectors compares operations with PyTorch: in all types, of operands in row-major order and of views that are not, with derivatives.
func TestVectors(t *testing.T) {
	v := readVectors(t)
	run(t, func(t *testing.T, outer *tensor.Scope) error {
		kind := outer.Stream().Device().Info().Kind
		for i, c := range v.cases {
			if kind == "interp" && i%20 != 0 && !sweep.Whole() {
				continue
			}
			for _, of := range v.types(c) {
				for _, form := range []string{"contiguous", "transposed", "part"} {
					x := trial{c, fmt.Sprintf("case %d, %s%v of %v, %s", i, c.Op, c.Args, of, form), of, form}
					if err := tensor.RunOn(t.Context(), outer.Stream(), func(s *tensor.Scope) error { return v.compare(t, s, x) }); err != nil {
						t.Errorf("%s: %v", x.name, err)
					}
				}
			}
		}
		return nil
	})
}

// trial is a case in a type, with operands of a form: see view.
type trial struct {
	vector
	name string
	of   dtype.Type
	form string
}

// view returns a tensor with the elements of x: x itself, or a view of a transposed copy, or of a part of a larger one.
func view(x *tensor.Tensor, form string) *tensor.Tensor {
	switch {
	case form == "transposed" && x.Dims() > 1:
		return x.Transpose(0, -1).Contiguous().Transpose(0, -1)
	case form == "part" && x.Dims() > 0:
		return tensor.Concat(-1, x, x, x).Slice(-1, x.Dim(-1), 2*x.Dim(-1))
	}
	return x
}

// compare compares the results and derivatives of a case.
func (v *vectors) compare(t *testing.T, s *tensor.Scope, c trial) error {
	t.Helper()
	s.Record()
	var in, variables []*tensor.Tensor
	for _, p := range c.In {
		x := view(v.upload(s, p, c.of), c.form)
		if c.Weights != nil && p.Type == "float64" {
			x = s.Variable(x)
			variables = append(variables, x)
		}
		in = append(in, x)
	}
	f, known := vectorOps[c.Op]
	if !known {
		t.Errorf("no operation %s", c.Op)
		return nil
	}
	out := f(in, c.Args)
	want := map[string]dtype.Type{"": c.of, "float32": dtype.Float32, "int64": dtype.Int64, "bool": dtype.Bool, "float": dtype.Float32}[c.Type]
	if c.Type == "float" && c.of == dtype.Float64 {
		want = c.of
	}
	if s.Err() == nil && out[0].DType() != want {
		t.Errorf("%s: the result is of %v, want %v", c.name, out[0].DType(), want)
	}
	tolerance := vectorTolerance(c.of, s.Stream().Device().Info().Kind)
	for i, p := range c.Out {
		v.near(t, fmt.Sprintf("%s: result %d", c.name, i), out[i], p, tolerance)
	}
	if c.Weights == nil || s.Err() != nil {
		return s.Err()
	}
	s.Backward(out[0].Mul(v.upload(s, *c.Weights, out[0].DType())).To(dtype.Float32).Sum())
	for i, p := range c.Grads {
		v.near(t, fmt.Sprintf("%s: derivative %d", c.name, i), variables[i].Grad(), p, 2*tolerance)
	}
	return s.Err()
}

// near compares elements with those of an array.
func (v *vectors) near(t *testing.T, what string, x *tensor.Tensor, p place, tolerance float64) {
	t.Helper()
	s := x.Scope()
	if x.Err() != nil {
		t.Errorf("%s: %v", what, x.Err())
		return
	}
	if fmt.Sprint(x.Shape()) != fmt.Sprint(p.Shape) {
		t.Errorf("%s: shape %v, want %v", what, x.Shape(), p.Shape)
		return
	}
	got, want := elements[float64](t, x.To(dtype.Float64)), elements[float64](t, v.upload(s, p, dtype.Float64).To(dtype.Float64))
	largest := 1.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*largest) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}

// one is an operation on one tensor, without arguments.
func one(f func(x *tensor.Tensor) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, _ []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0])} }
}

// two is an operation on two tensors.
func two(f func(x, y *tensor.Tensor) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, _ []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0], in[1])} }
}

// along is an operation along some dimensions.
func along(f func(x *tensor.Tensor, dims ...int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		return []*tensor.Tensor{f(in[0], args...)}
	}
}

// first is an operation along one dimension.
func first(f func(x *tensor.Tensor, dim int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor { return []*tensor.Tensor{f(in[0], args[0])} }
}

// several is an operation on several tensors.
func several(f func(in []*tensor.Tensor, args []int) *tensor.Tensor) func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
	return func(in []*tensor.Tensor, args []int) []*tensor.Tensor { return []*tensor.Tensor{f(in, args)} }
}

// vectorOps are the operations of testdata/vectors.py.
var vectorOps = map[string]func(in []*tensor.Tensor, args []int) []*tensor.Tensor{
	"Neg": one((*tensor.Tensor).Neg), "Abs": one((*tensor.Tensor).Abs), "Sign": one((*tensor.Tensor).Sign), "Square": one((*tensor.Tensor).Square),
	"ReLU": one((*tensor.Tensor).ReLU), "Exp": one((*tensor.Tensor).Exp), "Tanh": one((*tensor.Tensor).Tanh), "Sigmoid": one((*tensor.Tensor).Sigmoid),
	"GELU": one((*tensor.Tensor).GELU), "SiLU": one((*tensor.Tensor).SiLU), "Sqrt": one((*tensor.Tensor).Sqrt), "Log": one((*tensor.Tensor).Log),

	"Add": two((*tensor.Tensor).Add), "Sub": two((*tensor.Tensor).Sub), "Mul": two((*tensor.Tensor).Mul), "Div": two((*tensor.Tensor).Div),
	"Pow": two((*tensor.Tensor).Pow), "Maximum": two((*tensor.Tensor).Maximum), "Minimum": two((*tensor.Tensor).Minimum),
	"Equal": two((*tensor.Tensor).Equal), "NotEqual": two((*tensor.Tensor).NotEqual), "Less": two((*tensor.Tensor).Less),
	"LessEqual": two((*tensor.Tensor).LessEqual), "Greater": two((*tensor.Tensor).Greater), "GreaterEqual": two((*tensor.Tensor).GreaterEqual),
	"MatMul": two((*tensor.Tensor).MatMul), "SwiGLU": two(tensor.SwiGLU), "CrossEntropy": two((*tensor.Tensor).CrossEntropy),

	"Sum": along((*tensor.Tensor).Sum), "Mean": along((*tensor.Tensor).Mean), "Max": along((*tensor.Tensor).Max), "Min": along((*tensor.Tensor).Min),
	"LogSumExp": along((*tensor.Tensor).LogSumExp), "Reshape": along((*tensor.Tensor).Reshape), "Expand": along((*tensor.Tensor).Expand),

	"ArgMax": first((*tensor.Tensor).ArgMax), "ArgMin": first((*tensor.Tensor).ArgMin), "Softmax": first((*tensor.Tensor).Softmax),
	"LogSoftmax": first((*tensor.Tensor).LogSoftmax), "CumSum": first((*tensor.Tensor).CumSum), "Squeeze": first((*tensor.Tensor).Squeeze),
	"Unsqueeze": first((*tensor.Tensor).Unsqueeze),

	"Sort": func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		values, indices := in[0].Sort(args[0])
		return []*tensor.Tensor{values, indices}
	},
	"Top": func(in []*tensor.Tensor, args []int) []*tensor.Tensor {
		values, indices := in[0].Top(args[0])
		return []*tensor.Tensor{values, indices}
	},
	"Where":      several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return tensor.Where(in[0], in[1], in[2]) }),
	"Take":       several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Take(args[0], in[1]) }),
	"Gather":     several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Gather(args[0], in[1]) }),
	"ScatterAdd": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].ScatterAdd(args[0], in[1], in[2]) }),
	"Concat":     several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return tensor.Concat(args[0], in...) }),
	"Stack":      several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return tensor.Stack(args[0], in...) }),
	"Transpose":  several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Transpose(args[0], args[1]) }),
	"Slice":      several(func(in []*tensor.Tensor, args []int) *tensor.Tensor { return in[0].Slice(args[0], args[1], args[2]) }),
	"Linear":     several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor { return in[0].Linear(in[1], in[2]) }),
	"LayerNorm": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].LayerNorm(in[1], in[2], tensor.NormOptions{Epsilon: 1e-5})
	}),
	"RMSNorm": several(func(in []*tensor.Tensor, _ []int) *tensor.Tensor {
		return in[0].RMSNorm(in[1], tensor.NormOptions{Epsilon: 1e-5})
	}),
	"Attention": several(func(in []*tensor.Tensor, args []int) *tensor.Tensor {
		return tensor.Attention(in[0], in[1], in[2], tensor.AttentionOptions{Causal: args[0] == 1})
	}),
}
