package tensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
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
	Type    string   // of the first result; "" is that of the operands, and float is float32 or float64
	Types   []string // of the operands, if they are not all that the arrays stand for
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
	bytes  []uint8
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
		v.floats, v.ints, v.places = elements[float64](t, list["float64"]), elements[int32](t, list["int32"]), elements[int64](t, list["int64"])
		v.bytes, v.bools = elements[uint8](t, list["uint8"]), elements[bool](t, list["bool"])
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
	case "uint8":
		return tensor.From(s, v.bytes[p.At:end], p.Shape...)
	}
	return tensor.From(s, v.bools[p.At:end], p.Shape...)
}

// types returns the element types that operands of a case are uploaded in. Arrays of int64, uint8 and bool keep their types.
func (c vector) types(t *testing.T) (list []dtype.Type) {
	t.Helper()
	for _, name := range c.Types {
		of, ok := dtype.Parse(name)
		if !ok {
			t.Fatalf("no type %s", name)
		}
		list = append(list, of)
	}
	of := dtype.Bool
	for i, p := range c.In {
		switch {
		case list != nil:
		case p.Type == "float64":
			return []dtype.Type{dtype.Float64, dtype.Float32, dtype.BFloat16, dtype.Float16}
		case p.Type == "int32":
			return []dtype.Type{dtype.Int32, dtype.Int64}
		case p.Type == "int64" && i == 0: // others are indices
			of = dtype.Int64
		case p.Type == "uint8" && of == dtype.Bool:
			of = dtype.Uint8
		}
	}
	if list == nil {
		list = []dtype.Type{of}
	}
	return list
}

// vectorTolerance returns the error of floats relative to the greatest element of a result: that of float32 for results of integers.
// Conversions, and results that are not floats, are exact.
func vectorTolerance(op string, of dtype.Type, kind string) float64 {
	switch {
	case op == "To":
		return 0
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

// TestVectors compares operations with PyTorch and NumPy: in all types, of operands in row-major order and of views that are not, with derivatives.
// The interpreter runs one trial of every 20th case, scalar code a sixth of all trials, and vector code half. In a sweep, the interpreter
// runs each case in each type, of operands of one form: forms have strides of their own, which kernels treat alike in all types.
func TestVectors(t *testing.T) {
	v := readVectors(t)
	run(t, func(t *testing.T, outer *tensor.Scope) error {
		kind := outer.Stream().Device().Info().Kind
		for i, c := range v.cases {
			types := c.types(t)
			for k, of := range types {
				for n, form := range []string{"contiguous", "transposed", "part"} {
					runs := kind == "cuda" || sweep.Every(2, i+k+n)
					switch {
					case kind == "interp":
						runs = sweep.Every(20, i) && sweep.Every(len(types), i/20+k) && (i+k+n)%3 == 0
					case strings.HasSuffix(t.Name(), "/scalar"):
						runs = sweep.Every(6, i+k+n)
					}
					if !runs {
						continue
					}
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

// result returns the type of the first result.
func (c trial) result() dtype.Type {
	switch {
	case c.Type == "" || c.Type == "float" && c.of == dtype.Float64:
		return c.of
	case c.Type == "float":
		return dtype.Float32
	}
	of, _ := dtype.Parse(c.Type)
	return of
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
	if want := c.result(); s.Err() == nil && out[0].DType() != want {
		t.Errorf("%s: the result is of %v, want %v", c.name, out[0].DType(), want)
	}
	tolerance := vectorTolerance(c.Op, c.of, s.Stream().Device().Info().Kind)
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
	if p.Type == "int64" {
		exact(t, what, elements[int64](t, x), elements[int64](t, v.upload(s, p, dtype.Int64)))
		return
	}
	got, want := elements[float64](t, x.To(dtype.Float64)), elements[float64](t, v.upload(s, p, dtype.Float64).To(dtype.Float64))
	if !isFloat(x.DType()) {
		exact(t, what, got, want)
		return
	}
	largest := 1.0
	for _, w := range want {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			largest = max(largest, math.Abs(w))
		}
	}
	for i, w := range want {
		if got[i] != w && !(math.IsNaN(w) && math.IsNaN(got[i])) && !(math.Abs(got[i]-w) <= tolerance*largest) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}

// exact compares elements that do not have an error.
func exact[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i, w := range want {
		if got[i] != w {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}
