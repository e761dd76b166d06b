package tensor_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// layers returns the operations of neural networks, of which those on other types than float64 are kernels.
func layers() map[string]function {
	type T = *tensor.Tensor
	norm := func(x []T) T { return x[0].RMSNorm(x[1], tensor.NormOptions{Epsilon: 1e-2}) }
	centred := func(x []T) T { return x[0].LayerNorm(x[1], x[2], tensor.NormOptions{Epsilon: 1e-2}) }
	turned := func(x T) T {
		s := x.Scope()
		return x.Rotate(tensor.Angles(tensor.From(s, []int32{0, 3, 1}, 3), tensor.From(s, []float32{1, 0.5}, 2)))
	}
	return map[string]function{
		"Linear":      {shapes: [][]int{{2, 3, 4}, {5, 4}, {5}}, of: func(x []T) T { return x[0].Linear(x[1], x[2]) }},
		"LinearPlain": of2([]int{3}, []int{2, 3}, func(x, w T) T { return x.Linear(w, nil) }),
		"LinearT":     of2([]int{4, 3}, []int{4, 2}, func(x, w T) T { return x.T().Linear(w.T(), nil) }),
		"AddLinear":   {shapes: [][]int{{2, 3, 5}, {2, 3, 4}, {5, 4}, {5}}, of: func(x []T) T { return x[0].AddLinear(x[1], x[2], x[3]).Square() }},
		"SwiGLU":      of2([]int{3, 4}, []int{3, 4}, tensor.SwiGLU),
		"RMSNorm":     {shapes: [][]int{{3, 4}, {4}}, of: norm},
		"RMSNorm3":    {shapes: [][]int{{2, 3, 5}, {5}}, of: norm},
		"LayerNorm":   {shapes: [][]int{{3, 4}, {4}, {4}}, of: centred},
		"Rotate":      {shapes: [][]int{{3, 2, 4}}, of: func(x []T) T { return turned(x[0]) }},
		"RotateBatch": {shapes: [][]int{{2, 3, 1, 6}}, of: func(x []T) T { return turned(x[0]) }},
		"RotateEach": {shapes: [][]int{{2, 3, 1, 4}}, of: func(x []T) T {
			s := x[0].Scope()
			positions := tensor.From(s, []int32{0, 1, 2, 5, 6, 7}, 2, 3)
			return x[0].Rotate(tensor.Angles(positions, tensor.From(s, []float32{0.3}, 1)))
		}},
		"Attention":       {shapes: [][]int{{3, 2, 4}, {3, 1, 4}, {3, 1, 4}}, of: attention(tensor.AttentionOptions{})},
		"AttentionAcross": {shapes: [][]int{{2, 3, 4, 2}, {2, 5, 2, 2}, {2, 5, 2, 2}}, of: attention(tensor.AttentionOptions{})},
		"AttentionCausal": {shapes: [][]int{{2, 3, 2, 2}, {2, 3, 2, 2}, {2, 3, 2, 2}}, of: attention(tensor.AttentionOptions{Causal: true})},
		"AttentionPacked": {shapes: [][]int{{5, 2, 2}, {5, 2, 2}, {5, 2, 2}}, of: attention(tensor.AttentionOptions{}, 0, 2, 5)},
	}
}

// attention returns the function Attention, with the given starts unless there are none.
func attention(o tensor.AttentionOptions, starts ...int32) func(x []*tensor.Tensor) *tensor.Tensor {
	return func(x []*tensor.Tensor) *tensor.Tensor {
		if starts != nil {
			o.Starts = tensor.From(x[0].Scope(), starts, len(starts))
		}
		return tensor.Attention(x[0], x[1], x[2], o)
	}
}

// wideLayers returns functions of more elements than finite differences take.
func wideLayers() map[string]function {
	causal := tensor.AttentionOptions{Causal: true}
	return map[string]function{
		"LinearWide": {shapes: [][]int{{3, 21, 64}, {72, 64}, {72}}, of: func(x []*tensor.Tensor) *tensor.Tensor { return x[0].Linear(x[1], x[2]) }},
		"AddLinearWide": {shapes: [][]int{{3, 21, 72}, {3, 21, 64}, {72, 64}, {72}}, of: func(x []*tensor.Tensor) *tensor.Tensor {
			return x[0].AddLinear(x[1], x[2], x[3]).Square()
		}},
		"AddLinearSelf": {shapes: [][]int{{16, 24}, {24, 24}}, of: func(x []*tensor.Tensor) *tensor.Tensor { return x[0].AddLinear(x[0], x[1], nil) }},
		"LinearShared": {shapes: [][]int{{21, 64}, {64, 64}, {64, 64}, {64}, {64}}, of: func(x []*tensor.Tensor) *tensor.Tensor {
			y := x[0].LayerNorm(x[3], x[4], tensor.NormOptions{Epsilon: 1e-2})
			return x[0].Linear(x[1], nil).Add(x[0].Linear(x[2], nil)).Add(y)
		}},
		"AttentionWide":    {shapes: [][]int{{2, 21, 4, 16}, {2, 21, 2, 16}, {2, 21, 2, 16}}, of: attention(causal)},
		"AttentionFull":    {shapes: [][]int{{33, 2, 32}, {33, 1, 32}, {33, 1, 32}}, of: attention(tensor.AttentionOptions{})},
		"AttentionFewKeys": {shapes: [][]int{{2, 21, 4, 16}, {2, 5, 2, 16}, {2, 5, 2, 16}}, of: attention(tensor.AttentionOptions{})},
		"AttentionStarts":  {shapes: [][]int{{40, 2, 16}, {40, 2, 16}, {40, 2, 16}}, of: attention(causal, 1, 3, 3, 20, 37)},
		"AttentionNothing": {shapes: [][]int{{3, 2, 16}, {3, 2, 16}, {3, 2, 16}}, of: attention(causal, 2)},
	}
}

// TestLayers compares results and derivatives of kernels, in all types, with those in float64.
func TestLayers(t *testing.T) {
	list := layers()
	maps.Copy(list, wideLayers())
	wants := map[string][][]float64{} // computed once for all executions
	run(t, func(t *testing.T, s *tensor.Scope) error {
		tolerances := map[dtype.Type]float64{dtype.Float32: 1e-5, dtype.BFloat16: 3e-2, dtype.Float16: 4e-3}
		switch s.Stream().Device().Info().Kind {
		case "interp":
			delete(tolerances, dtype.Float16) // to save time: other executions test it
		case "cuda":
			tolerances[dtype.Float32] = 4e-5 // exponentials and quotients are approximate
		}
		for i, name := range slices.Sorted(maps.Keys(list)) {
			f := list[name]
			for of, tolerance := range tolerances {
				if s.Stream().Device().Info().Kind == "interp" && (of == dtype.Float32) != (i%2 == 0) && !sweep.Whole() {
					continue // half of the functions in each type
				}
				values := f.arguments()
				for _, list := range values {
					for i, v := range list {
						list[i] = rounded(of, v)
					}
				}
				what := name + " in " + of.String()
				if wants[what] == nil {
					if err := onCPU(t, func(s *tensor.Scope) error { wants[what] = f.outcome(t, s, values, dtype.Float64); return nil }); err != nil {
						return err
					}
				}
				want, got := wants[what], f.outcome(t, s, values, of)
				for i := range want {
					near(t, what, got[i], want[i], tolerance)
				}
			}
		}
		return nil
	})
}

// near compares numbers, with a tolerance relative to the largest one.
func near(t *testing.T, name string, got, want []float64, tolerance float64) {
	t.Helper()
	size := 1.0
	for _, w := range want {
		size = max(size, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*size) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], w)
			return
		}
	}
}

// outcome returns the result of a function of arguments of a type, and then the derivatives.
func (f function) outcome(t *testing.T, s *tensor.Scope, values [][]float64, of dtype.Type) [][]float64 {
	t.Helper()
	s.Record()
	x := make([]*tensor.Tensor, len(values))
	for i, v := range values {
		x[i] = s.Variable(tensor.From(s, v, f.shapes[i]...).To(of))
	}
	y := f.of(x)
	if y.DType() != of {
		t.Fatalf("a result of %v, want %v", y, of)
	}
	s.Backward(weighted(y))
	list := []*tensor.Tensor{y}
	for i := range x {
		list = append(list, x[i].Grad())
	}
	all := make([][]float64, len(list))
	for i, x := range list {
		var err error
		if all[i], err = tensor.Values[float64](t.Context(), x.To(dtype.Float64)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestMistakesOfLayers checks the causes of mistakes.
func TestMistakesOfLayers(t *testing.T) {
	type T = *tensor.Tensor
	for _, c := range []struct {
		name  string
		cause error
		f     func(x, ints T) T
	}{
		{"SwiGLU of two shapes", tensor.ErrShape, func(x, _ T) T { return tensor.SwiGLU(x, x.T()) }},
		{"SwiGLU of two types", tensor.ErrDType, func(x, ints T) T { return tensor.SwiGLU(x, x.To(dtype.Float64)) }},
		{"a norm of integers", tensor.ErrDType, func(x, ints T) T { return ints.RMSNorm(x.Slice(0, 0, 1).Reshape(3), tensor.NormOptions{}) }},
		{"weights of another size", tensor.ErrShape, func(x, _ T) T { return x.RMSNorm(x.Reshape(6), tensor.NormOptions{}) }},
		{"a negative epsilon", tensor.ErrValue, func(x, _ T) T { return x.RMSNorm(x.Slice(0, 0, 1).Reshape(3), tensor.NormOptions{Epsilon: -1}) }},
		{"a bias of another size", tensor.ErrShape, func(x, _ T) T { return x.Linear(x, x.Slice(0, 0, 1).Reshape(3)) }},
		{"weights of other rows", tensor.ErrShape, func(x, _ T) T { return x.Linear(x.T(), nil) }},
		{"a product of integers", tensor.ErrDType, func(_, ints T) T { return ints.Reshape(1, 2).Linear(ints.Reshape(1, 2), nil) }},
		{"frequencies of integers", tensor.ErrDType, func(x, ints T) T { return tensor.Angles(ints, ints) }},
		{"too many angles", tensor.ErrShape, func(x, _ T) T { return x.Reshape(2, 1, 3).Rotate(tensor.Zeros(x.Scope(), dtype.Float32, 2, 4)) }},
		{"angles of other tokens", tensor.ErrShape, func(x, _ T) T { return x.Reshape(2, 1, 3).Rotate(tensor.Zeros(x.Scope(), dtype.Float32, 1, 2)) }},
		{"queries without heads", tensor.ErrShape, func(x, _ T) T { return tensor.Attention(x, x, x, tensor.AttentionOptions{}) }},
		{"heads that key heads do not divide", tensor.ErrShape, func(x, _ T) T {
			return tensor.Attention(x.Reshape(1, 3, 2), x.Reshape(1, 3, 2).Slice(1, 0, 2), x.Reshape(1, 3, 2).Slice(1, 0, 2), tensor.AttentionOptions{})
		}},
		{"starts of int64", tensor.ErrDType, func(x, ints T) T {
			q := x.Reshape(1, 3, 2)
			return tensor.Attention(q, q, q, tensor.AttentionOptions{Starts: tensor.Arange(x.Scope(), 2)})
		}},
		{"starts of a batch", tensor.ErrShape, func(x, ints T) T {
			q := x.Reshape(1, 1, 3, 2)
			return tensor.Attention(q, q, q, tensor.AttentionOptions{Starts: ints})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				c.f(tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.From(s, []int32{1, 2}, 2))
				return nil
			})
			if !errors.Is(err, c.cause) {
				t.Errorf("%v, want %v", err, c.cause)
			}
		})
	}
}

// TestNeedsGrad tests for which tensors operations are recorded.
func TestNeedsGrad(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		c := tensor.From(s, []float32{1, 2}, 2)
		got := []bool{c.NeedsGrad()}
		s.Record()
		x := s.Variable(c)
		y := x.Mul(c)
		got = append(got, c.NeedsGrad(), c.Exp().NeedsGrad(), x.NeedsGrad(), y.NeedsGrad())
		s.NoGrad(func() { got = append(got, y.NeedsGrad()) })
		s.Backward(y.Sum())
		got = append(got, y.NeedsGrad())
		if want := []bool{false, false, false, true, true, false, false}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		return nil
	})
}

func TestArange(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		same(t, tensor.Arange(s, 5), []int{5}, int64(0), 1, 2, 3, 4)
		same(t, tensor.Arange(s, 0), []int{0}, []int64{}...)
		return nil
	})
}

// TestNormOfAnotherType computes norms of float32 rows whose results have other types.
func TestNormOfAnotherType(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		x, weight, bias := tensor.From(s, []float32{1, 3, 1, 3}, 1, 4), tensor.From(s, []float32{2, 2, 2, 4}, 4), tensor.From(s, []float32{1, 0, 0, 0}, 4)
		for _, of := range []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16} {
			o := tensor.NormOptions{DType: of}
			for y, want := range map[*tensor.Tensor][]float64{x.LayerNorm(weight, bias, o): {-1, 2, -2, 4}, x.Sub(x).AddScalar(2).RMSNorm(weight, o): {2, 2, 2, 4}} {
				got, err := tensor.Values[float64](t.Context(), y.To(dtype.Float64))
				if err != nil || y.DType() != of {
					t.Fatalf("%v: %v, %v", of, y.DType(), err)
				}
				near(t, of.String(), got, want, 1e-6)
			}
		}
		return nil
	})
}

// TestAttentionAcross compares attention to other numbers of keys than of queries, without derivatives, with that in float64. The interpreter has
// each shape in one type.
func TestAttentionAcross(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		types := []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16}
		tolerances := []float64{4e-5, 3e-2, 4e-3}
		for n, c := range []struct{ batches, queries, keys, heads, keyHeads, dim int }{
			{1, 3, 70, 2, 1, 16}, {2, 70, 3, 2, 2, 16}, {3, 5, 1, 2, 1, 32}, {2, 65, 64, 1, 1, 64}, {2, 64, 65, 1, 1, 64}, {2, 4, 7, 2, 1, 6}, {2, 0, 7, 1, 1, 16},
		} {
			shape := []int{c.batches, c.queries, c.heads, c.dim}
			keys := []int{c.batches, c.keys, c.keyHeads, c.dim}
			for k, of := range types {
				if s.Stream().Device().Info().Kind == "interp" && !sweep.Every(3, n+k) {
					continue
				}
				var x [3]*tensor.Tensor
				for i, shape := range [][]int{shape, keys, keys} {
					n := 1
					for _, d := range shape {
						n *= d
					}
					list := make([]float64, n)
					for k := range list {
						list[k] = rounded(of, math.Sin(float64(7*k+i)))
					}
					x[i] = tensor.From(s, list, shape...)
				}
				attend := func(of dtype.Type) []float64 {
					y := tensor.Attention(x[0].To(of), x[1].To(of), x[2].To(of), tensor.AttentionOptions{})
					if y.Err() == nil && (!slices.Equal(y.Shape(), shape) || y.DType() != of) {
						t.Errorf("%+v: %v", c, y)
					}
					list, err := tensor.Values[float64](t.Context(), y.To(dtype.Float64))
					if err != nil {
						t.Fatal(err)
					}
					return list
				}
				near(t, fmt.Sprintf("%+v in %v", c, of), attend(of), attend(dtype.Float64), tolerances[k])
			}
		}
		return nil
	})
}

// TestAttentionAcrossMistakes says that the numbers of keys and queries must be equal with Causal and with Starts, and there must be keys.
func TestAttentionAcrossMistakes(t *testing.T) {
	for want, c := range map[string]struct {
		keys int
		o    func(s *tensor.Scope) tensor.AttentionOptions
	}{
		"3 queries and 2 keys; with Causal or Starts, the numbers must be equal": {2, func(*tensor.Scope) tensor.AttentionOptions { return tensor.AttentionOptions{Causal: true} }},
		"3 queries and 4 keys; with Causal or Starts, the numbers must be equal": {4, func(s *tensor.Scope) tensor.AttentionOptions {
			return tensor.AttentionOptions{Starts: tensor.From(s, []int32{0, 3}, 2)}
		}},
		"3 queries and no keys": {0, func(*tensor.Scope) tensor.AttentionOptions { return tensor.AttentionOptions{} }},
	} {
		err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
			k := tensor.Zeros(s, dtype.Float32, c.keys, 1, 16)
			return tensor.Attention(tensor.Zeros(s, dtype.Float32, 3, 1, 16), k, k, c.o(s)).Err()
		})
		if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAttentionTogether compares attention to columns of one tensor, and its derivative, with attention to three tensors.
func TestAttentionTogether(t *testing.T) {
	h := tensor.Heads{Heads: 2, KeyHeads: 1, Dim: 16}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(12, 1))
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16} {
			x, factor := random(r, of, 2, 20, 64), random(r, of, 2, 20, 32)
			var list [2][2]*tensor.Tensor
			for i := range list {
				s.Record()
				v := s.Variable(x.upload(s, of, 0))
				var y *tensor.Tensor
				if i == 0 {
					y = tensor.AttentionTogether(v, h, tensor.AttentionOptions{Causal: true})
				} else {
					part := func(from, heads int) *tensor.Tensor {
						return v.Slice(-1, from, from+heads*16).Reshape(2, 20, heads, 16)
					}
					y = tensor.Attention(part(0, 2), part(32, 1), part(48, 1), tensor.AttentionOptions{Causal: true}).Reshape(2, 20, 32)
				}
				s.Backward(y.Mul(factor.upload(s, of, 0)).To(dtype.Float32).Sum())
				list[i] = [2]*tensor.Tensor{y, v.Grad()}
			}
			for k := range 2 {
				want, err := tensor.Values[float64](t.Context(), list[1][k].To(dtype.Float64))
				if err != nil {
					return err
				}
				grid{list[1][k].Shape(), want}.equals(t, fmt.Sprint("tensor ", k, " of ", of), of, list[0][k])
			}
		}
		return nil
	})
}

// TestParameterOfLayers uses a parameter in two layers, whose derivatives are added to one that is not 0.
func TestParameterOfLayers(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			r := rand.New(rand.NewPCG(13, 1))
			w, x, y := random(r, of, 16, 24), random(r, of, 8, 24), random(r, of, 8, 24)
			grad := tensor.Full(s, 1, of, 16, 24)
			s.Record()
			p := s.Parameter(w.upload(s, of, 0), grad)
			s.Backward(x.upload(s, of, 0).Linear(p, nil).Sum().Add(y.upload(s, of, 0).Linear(p, nil).Sum()))
			want := grid{shape: []int{16, 24}}
			for range 16 {
				for c := range 24 {
					sum := 1.0
					for i := range 8 {
						sum += x.at([]int{i, c}) + y.at([]int{i, c})
					}
					want.values = append(want.values, sum)
				}
			}
			got, err := tensor.Values[float64](t.Context(), grad.To(dtype.Float64))
			if err != nil {
				return err
			}
			for i, v := range want.values {
				if !(math.Abs(got[i]-v) <= 3*tolerance(of)*(math.Abs(v)+16)) {
					t.Fatalf("%v: element %d is %v, want %v", of, i, got[i], v)
				}
			}
		}
		return nil
	})
}
