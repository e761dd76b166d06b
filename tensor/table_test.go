package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// types are the element types that operations compute with.
var types = []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16, dtype.Float64, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Bool}

func isFloat(t dtype.Type) bool {
	return t == dtype.Float32 || t == dtype.BFloat16 || t == dtype.Float16 || t == dtype.Float64
}

// rounded returns v as a number of a type.
func rounded(of dtype.Type, v float64) float64 {
	switch of {
	case dtype.Float32:
		return float64(float32(v))
	case dtype.BFloat16:
		return dtype.BF16From64(v).Float64()
	case dtype.Float16:
		return dtype.F16From64(v).Float64()
	case dtype.Int32:
		return float64(int32(int64(v)))
	case dtype.Int64:
		return math.Trunc(v)
	case dtype.Uint8:
		return float64(uint8(int64(v)))
	case dtype.Bool:
		if v != 0 {
			return 1
		}
		return 0
	}
	return v
}

// tolerance returns the relative error of results of a type, besides which results may be a few of the smallest numbers wrong.
func tolerance(of dtype.Type) float64 {
	switch of {
	case dtype.Float32:
		return 3e-6
	case dtype.BFloat16:
		return 1.0 / 128
	case dtype.Float16:
		return 1.0 / 1024
	case dtype.Float64:
		return 1e-13
	}
	return 0
}

// grid is an array of a reference.
type grid struct {
	shape  []int
	values []float64
}

// random returns numbers of a type: small integers, or floats from -2 to 2.
func random(r *rand.Rand, of dtype.Type, shape ...int) grid {
	n := 1
	for _, d := range shape {
		n *= d
	}
	g := grid{shape, make([]float64, n)}
	for i := range g.values {
		v := 4*r.Float64() - 2
		if !isFloat(of) {
			v = float64(r.IntN(9) - 3)
		}
		if of == dtype.Uint8 {
			v = math.Abs(v)
		}
		g.values[i] = rounded(of, v)
	}
	return g
}

// at returns the element at an index of a shape to which g is broadcast.
func (g grid) at(index []int) float64 {
	at, more := 0, len(index)-len(g.shape)
	for i, n := range g.shape {
		k := index[more+i]
		if n == 1 {
			k = 0
		}
		at = at*n + k
	}
	return g.values[at]
}

// each calls f with all indices of a shape, in row-major order.
func each(shape []int, f func(index []int)) {
	if slices.Contains(shape, 0) {
		return
	}
	index := make([]int, len(shape))
	for {
		f(index)
		d := len(shape) - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// upload returns g as a tensor of a type: contiguous, or the transpose of a transposed one, or a part of a larger one.
func (g grid) upload(s *tensor.Scope, of dtype.Type, layout int) *tensor.Tensor {
	x := tensor.From(s, g.values, g.shape...).To(of)
	switch {
	case layout == 1 && len(g.shape) > 1:
		return x.T().Contiguous().T()
	case layout == 2 && len(g.shape) > 0:
		last := g.shape[len(g.shape)-1]
		return tensor.Concat(-1, x, x, x).Slice(-1, last, 2*last)
	}
	return x
}

// equals compares a tensor with a reference.
func (g grid) equals(t *testing.T, what string, of dtype.Type, x *tensor.Tensor) {
	t.Helper()
	if x.Err() == nil && (x.DType() != of || !slices.Equal(x.Shape(), g.shape)) {
		t.Errorf("%s: %v %v, want %v %v", what, x.DType(), x.Shape(), of, g.shape)
		return
	}
	got, err := tensor.Values[float64](t.Context(), x.To(dtype.Float64))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i, want := range g.values {
		want = rounded(of, want)
		if math.IsNaN(want) && math.IsNaN(got[i]) || want == got[i] {
			continue
		}
		if !(math.Abs(got[i]-want) <= tolerance(of)*(math.Abs(want)+1e-3)) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want)
			return
		}
	}
}

var shapes = [][]int{{}, {0}, {0, 3}, {1}, {7}, {3, 5}, {300}, {2, 3, 1, 4}, {9, 16}}

// unaries are the operations on one tensor. Integers become float32 if float says so.
var unaries = []struct {
	name  string
	of    func(x *tensor.Tensor) *tensor.Tensor
	want  func(x float64) float64
	float bool
}{
	{"Neg", (*tensor.Tensor).Neg, func(x float64) float64 { return -x }, false},
	{"Abs", (*tensor.Tensor).Abs, math.Abs, false},
	{"Sign", (*tensor.Tensor).Sign, func(x float64) float64 { return float64(cmp(x, 0)) }, false},
	{"Square", (*tensor.Tensor).Square, func(x float64) float64 { return x * x }, false},
	{"ReLU", (*tensor.Tensor).ReLU, func(x float64) float64 { return math.Max(x, 0) }, false},
	{"Sqrt", (*tensor.Tensor).Sqrt, math.Sqrt, true},
	{"Exp", (*tensor.Tensor).Exp, math.Exp, true},
	{"Log", (*tensor.Tensor).Log, math.Log, true},
	{"Tanh", (*tensor.Tensor).Tanh, math.Tanh, true},
	{"Sigmoid", (*tensor.Tensor).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, true},
	{"GELU", (*tensor.Tensor).GELU, func(x float64) float64 { return x * 0.5 * math.Erfc(-x/math.Sqrt2) }, true},
	{"SiLU", (*tensor.Tensor).SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, true},
}

func cmp(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func TestUnaryOperations(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(1, 1))
		for _, op := range unaries {
			for i, of := range types {
				result := of
				if op.float && !isFloat(of) {
					result = dtype.Float32
				}
				for k, shape := range shapes {
					x := random(r, of, shape...)
					want := grid{shape, make([]float64, len(x.values))}
					for j, v := range x.values {
						want.values[j] = op.want(v)
					}
					layout := (i + k) % 3
					want.equals(t, fmt.Sprint(op.name, " of ", of, shape, " layout ", layout), result, op.of(x.upload(s, of, layout)))
				}
			}
		}
		return nil
	})
}

// binaries are the operations on two tensors. Their results have the type of the operands, or the given one, or float32 for integers
// if float says so.
var binaries = []struct {
	name  string
	of    func(x, y *tensor.Tensor) *tensor.Tensor
	want  func(x, y float64) float64
	float bool
	truth bool
}{
	{"Add", (*tensor.Tensor).Add, func(x, y float64) float64 { return x + y }, false, false},
	{"Sub", (*tensor.Tensor).Sub, func(x, y float64) float64 { return x - y }, false, false},
	{"Mul", (*tensor.Tensor).Mul, func(x, y float64) float64 { return x * y }, false, false},
	{"Div", (*tensor.Tensor).Div, func(x, y float64) float64 { return x / y }, true, false},
	{"Maximum", (*tensor.Tensor).Maximum, math.Max, false, false},
	{"Minimum", (*tensor.Tensor).Minimum, math.Min, false, false},
	{"Equal", (*tensor.Tensor).Equal, func(x, y float64) float64 { return truth(x == y) }, false, true},
	{"NotEqual", (*tensor.Tensor).NotEqual, func(x, y float64) float64 { return truth(x != y) }, false, true},
	{"Less", (*tensor.Tensor).Less, func(x, y float64) float64 { return truth(x < y) }, false, true},
	{"LessEqual", (*tensor.Tensor).LessEqual, func(x, y float64) float64 { return truth(x <= y) }, false, true},
	{"Greater", (*tensor.Tensor).Greater, func(x, y float64) float64 { return truth(x > y) }, false, true},
	{"GreaterEqual", (*tensor.Tensor).GreaterEqual, func(x, y float64) float64 { return truth(x >= y) }, false, true},
	{"Pow", func(x, y *tensor.Tensor) *tensor.Tensor { return x.Abs().Pow(y.Abs()) }, func(x, y float64) float64 { return math.Pow(math.Abs(x), math.Abs(y)) }, false, false},
	{"Where", func(x, y *tensor.Tensor) *tensor.Tensor { return tensor.Where(x.Less(y), x, y) }, math.Min, false, false},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// pairs are shapes and what they are broadcast to.
var pairs = [][3][]int{
	{{}, {}, {}},
	{{3}, {}, {3}},
	{{}, {0}, {0}},
	{{0, 3}, {3}, {0, 3}},
	{{5}, {5}, {5}},
	{{3, 5}, {3, 5}, {3, 5}},
	{{3, 1}, {1, 4}, {3, 4}},
	{{4}, {2, 3, 4}, {2, 3, 4}},
	{{2, 3, 4}, {3, 1}, {2, 3, 4}},
	{{2, 1, 3, 1, 2}, {1, 2, 1, 3, 2}, {2, 2, 3, 3, 2}},
	{{1}, {300}, {300}},
	{{6, 16}, {6, 16}, {6, 16}}, // whole vectors of 16 bytes
	{{2, 3, 16}, {3, 16}, {2, 3, 16}},
	{{16}, {4, 16}, {4, 16}},
	{{4, 16}, {4, 1}, {4, 16}},
	{{2, 3, 8}, {3, 1}, {2, 3, 8}},
}

// mixed returns the type of an operation on two types, which is the first that holds both.
func mixed(a, b dtype.Type) dtype.Type {
	order := []dtype.Type{dtype.Bool, dtype.Uint8, dtype.Int32, dtype.Int64, dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}
	i, k := slices.Index(order, a), slices.Index(order, b)
	if min(i, k) == 4 && max(i, k) == 5 {
		return dtype.Float32
	}
	return order[max(i, k)]
}

func TestBinaryOperations(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(2, 1))
		interpreted := s.Stream().Device().Info().Kind == "interp"
		for n, op := range binaries {
			for i, a := range types {
				if interpreted && !sweep.Every(4, n+i/2) {
					continue
				}
				b := a
				if i%2 == n%2 {
					b = types[(i+n)%len(types)]
				}
				of := mixed(a, b)
				result := of
				if op.float && !isFloat(of) {
					result = dtype.Float32
				}
				if op.truth {
					result = dtype.Bool
				}
				for k, p := range pairs {
					x, y := random(r, a, p[0]...), random(r, b, p[1]...)
					want := grid{shape: p[2]}
					each(p[2], func(index []int) { want.values = append(want.values, op.want(x.at(index), y.at(index))) })
					what := fmt.Sprint(op.name, " of ", a, p[0], " and ", b, p[1])
					want.equals(t, what, result, op.of(x.upload(s, a, (i+k)%3), y.upload(s, b, (n+k)%3)))
				}
			}
		}
		return nil
	})
}

func TestScalarOperations(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(3, 1))
		for i, of := range types {
			for k, shape := range shapes {
				x := random(r, of, shape...)
				for _, v := range []float64{3, -0.5} {
					result := of
					if !isFloat(of) && v != 3 {
						result = dtype.Float32
					} else if of == dtype.Bool {
						result = dtype.Int64
					}
					scaled, added := grid{shape: shape}, grid{shape: shape}
					for _, e := range x.values {
						scaled.values, added.values = append(scaled.values, e*v), append(added.values, e+v)
					}
					u := x.upload(s, of, (i+k)%3)
					scaled.equals(t, fmt.Sprint("Scale of ", of, shape), result, u.Scale(v))
					added.equals(t, fmt.Sprint("AddScalar of ", of, shape), result, u.AddScalar(v))
				}
			}
		}
		return nil
	})
}

// reductions are the operations over dimensions.
var reductions = []struct {
	name string
	of   func(x *tensor.Tensor, dims ...int) *tensor.Tensor
	want func(list []float64) float64
}{
	{"Sum", (*tensor.Tensor).Sum, func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		return sum
	}},
	{"Mean", (*tensor.Tensor).Mean, func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		return sum / float64(len(list))
	}},
	{"Max", (*tensor.Tensor).Max, func(list []float64) float64 { return slices.Max(list) }},
	{"Min", (*tensor.Tensor).Min, func(list []float64) float64 { return slices.Min(list) }},
	{"LogSumExp", (*tensor.Tensor).LogSumExp, func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum += math.Exp(v)
		}
		return math.Log(sum)
	}},
}

// resultOf returns the type of a reduction.
func resultOf(name string, of dtype.Type) dtype.Type {
	switch {
	case isFloat(of) || name == "Max" || name == "Min":
		return of
	case name == "Sum":
		return dtype.Int64
	}
	return dtype.Float32
}

// reduced returns the reference of a reduction over dims, or all if there are none.
func (g grid) reduced(dims []int, f func(list []float64) float64) grid {
	over := make([]bool, len(g.shape))
	for i := range over {
		over[i] = len(dims) == 0 || slices.Contains(dims, i) || slices.Contains(dims, i-len(g.shape))
	}
	out := grid{shape: []int{}}
	var keep []int
	for i, n := range g.shape {
		if !over[i] {
			out.shape, keep = append(out.shape, n), append(keep, i)
		}
	}
	lists := map[string][]float64{}
	var order []string
	each(g.shape, func(index []int) {
		var key []int
		for _, i := range keep {
			key = append(key, index[i])
		}
		k := fmt.Sprint(key)
		if lists[k] == nil {
			order = append(order, k)
		}
		lists[k] = append(lists[k], g.at(index))
	})
	slices.SortStableFunc(order, func(a, b string) int { return 0 })
	for _, k := range order {
		out.values = append(out.values, f(lists[k]))
	}
	return out
}

func TestReductions(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		reduce(t, s, rand.New(rand.NewPCG(4, 1)), reductionCases)
		return nil
	})
}

// TestReductionsOfGroups reduces rows and columns of a multiple of eight elements, which GPUs take together.
func TestReductionsOfGroups(t *testing.T) {
	cases := []reduction{{[]int{300, 16}, []int{0}}, {[]int{2, 9, 16}, []int{0, 1}}, {[]int{9, 24}, []int{1}}, {[]int{16400}, nil}}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		reduce(t, s, rand.New(rand.NewPCG(4, 2)), cases)
		return nil
	})
}

// reduction is the dimensions over which an array of a shape is reduced.
type reduction struct{ shape, dims []int }

var reductionCases = []reduction{
	{[]int{}, nil}, {[]int{1}, nil}, {[]int{7}, []int{0}}, {[]int{65}, nil}, {[]int{5000}, nil},
	{[]int{3, 5}, nil}, {[]int{3, 5}, []int{0}}, {[]int{3, 5}, []int{-1}}, {[]int{2, 200}, []int{1}}, {[]int{200, 3}, []int{0}},
	{[]int{2, 3, 4}, []int{1}}, {[]int{2, 3, 4}, []int{0, 2}}, {[]int{2, 3, 4}, []int{1, 2}}, {[]int{2, 3, 4}, []int{0, 1}}, {[]int{2, 1, 3, 5}, []int{1, 3}},
	{[]int{0, 3}, []int{1}},
}

// reduce compares reductions of random arrays with the reference.
func reduce(t *testing.T, s *tensor.Scope, r *rand.Rand, cases []reduction) {
	t.Helper()
	for n, op := range reductions {
		for i, of := range types {
			for k, c := range cases {
				if s.Stream().Device().Info().Kind == "interp" && !sweep.Every(5, n+i+k) {
					continue // it is slow
				}
				x := random(r, of, c.shape...)
				want := x.reduced(c.dims, op.want)
				what := fmt.Sprint(op.name, " of ", of, c.shape, " over ", c.dims)
				if of == dtype.BFloat16 || of == dtype.Float16 || op.name != "Max" && op.name != "Min" {
					for j := range want.values { // sums of numbers of either sign lose digits
						want.values[j] = math.Round(want.values[j]*1e9) / 1e9
					}
				}
				want.near(t, what, resultOf(op.name, of), op.of(x.upload(s, of, (i+k)%3), c.dims...), float64(len(x.values)))
			}
		}
	}
}

// near is equals for sums of n numbers up to 8, whose errors are relative to the numbers.
func (g grid) near(t *testing.T, what string, of dtype.Type, x *tensor.Tensor, n float64) {
	t.Helper()
	if !isFloat(of) {
		g.equals(t, what, of, x)
		return
	}
	got, err := tensor.Values[float64](t.Context(), x.To(dtype.Float64))
	if err != nil || x.DType() != of || !slices.Equal(x.Shape(), g.shape) {
		t.Fatalf("%s: %v, %v", what, x, err)
	}
	for i, want := range g.values {
		if !(math.Abs(got[i]-want) <= tolerance(of)*math.Abs(want)+1e-6*math.Sqrt(n)+1e-9) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want)
			return
		}
	}
}

func TestIndicesOfExtremes(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		r := rand.New(rand.NewPCG(5, 1))
		for i, of := range types {
			for _, c := range []struct {
				shape []int
				dim   int
			}{{[]int{7}, 0}, {[]int{5000}, 0}, {[]int{3, 70}, 1}, {[]int{70, 3}, 0}, {[]int{2, 3, 4}, 1}, {[]int{0, 2}, 1}} {
				x := random(r, of, c.shape...)
				first := func(better func(a, b float64) bool) func(list []float64) float64 {
					return func(list []float64) float64 {
						best := 0
						for k, v := range list {
							if better(v, list[best]) {
								best = k
							}
						}
						return float64(best)
					}
				}
				u := x.upload(s, of, i%3)
				x.reduced([]int{c.dim}, first(func(a, b float64) bool { return a > b })).equals(t, fmt.Sprint("ArgMax of ", of, c.shape), dtype.Int64, u.ArgMax(c.dim))
				x.reduced([]int{c.dim}, first(func(a, b float64) bool { return a < b })).equals(t, fmt.Sprint("ArgMin of ", of, c.shape), dtype.Int64, u.ArgMin(c.dim))
			}
		}
		nan := tensor.From(s, []float32{1, float32(math.NaN()), 3, float32(math.NaN())}, 4)
		same(t, nan.ArgMax(0), []int{}, int64(1))
		same(t, nan.ArgMin(0), []int{}, int64(1))
		return nil
	})
}
