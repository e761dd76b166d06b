package nn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// values returns the elements of a float32 tensor.
func values(t *testing.T, x *tensor.Tensor) []float32 {
	t.Helper()
	v, err := tensor.Values[float32](t.Context(), x.To(dtype.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTrainedLinear compares the result and the derivatives of a layer, for both element types, with those computed by hand.
func TestTrainedLinear(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			t.Run(name+"/"+of.String(), func(t *testing.T) {
				onDevice(t, open, func(s *tensor.Scope, _ *nn.Params) {
					p := nn.NewParams(s.Stream(), nn.Options{DType: of})
					defer p.Close()
					w := p.Parameter([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
					for range 2 { // derivatives add up
						s.Record()
						x := tensor.From(s, []float32{1, 0, -1, 2, 2, 2}, 2, 3).To(of)
						y := x.MatMul(w.In(s).T())
						same(t, y.To(dtype.Float32), []int{2, 2}, []float32{-2, -2, 12, 30})
						s.Backward(y.Mul(tensor.From(s, []float32{1, 0, 1, 2}, 2, 2).To(of)).Sum())
					}
					m, err := p.Memory(s)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := values(t, s.Use(m.Grads))[:6], []float32{6, 4, 2, 8, 8, 8}; !slices.Equal(got, want) {
						t.Errorf("derivatives %v, want %v", got, want)
					}
					if got := values(t, w.In(s)); !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) || w.In(s).DType() != of {
						t.Errorf("outside a recording: %v of %v", got, w.In(s).DType())
					}
				})
			})
		}
	}
}

// TestNewLinear tests the distribution of initial values, that they depend on the seed alone, and that a layer has a matrix and a bias.
func TestNewLinear(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		const in, out = 100, 64
		var all [3][]float32
		for i, seed := range []uint64{1, 1, 2} {
			p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: seed})
			l := nn.NewLinear(p, in, out)
			zero := l.Forward(tensor.Zeros(s, dtype.Float32, 1, in))
			m, err := p.Memory(s)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = values(t, s.Use(m.Values))
			if bias := all[i][in*out:][:out]; !slices.Equal(values(t, zero), bias) {
				t.Errorf("the result for 0 is %v, want the bias, %v", values(t, zero), bias)
			}
			unit := make([]float32, in)
			unit[3] = 1
			if got, want := values(t, l.AddTo(zero.Neg(), tensor.From(s, unit, 1, in)))[5], all[i][5*in+3]; math.Abs(float64(got-want)) > 1e-6 {
				t.Errorf("element 5, 3 of the matrix is %g, want %g", got, want)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(all[0], all[1]) || slices.Equal(all[0], all[2]) {
			t.Error("initial values do not depend on the seed alone")
		}
		sum, squares := 0.0, 0.0
		for _, v := range all[0][:in*out] {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		low, high := slices.Min(all[0]), slices.Max(all[0])
		if mean, deviation := sum/in/out, math.Sqrt(squares/in/out); math.Abs(mean) > 0.003 || math.Abs(deviation-0.1/math.Sqrt(3)) > 0.002 || low < -0.1 || high > 0.1 || low > -0.099 || high < 0.099 {
			t.Errorf("values from %g to %g, mean %g, deviation %g; want a uniform distribution from -0.1 to 0.1", low, high, mean, deviation)
		}
	})
}

// TestTrainedCheckpoint compares the derivatives of layers in a Checkpoint with those without.
func TestTrainedCheckpoint(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		var grads [2][]float32
		for i := range grads {
			p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 3})
			a, b := nn.NewLinear(p, 4, 5), nn.NewLinear(p, 5, 4)
			f := func(x *tensor.Tensor) *tensor.Tensor { return b.Forward(a.Forward(x).Tanh()) }
			s.Record()
			x := tensor.From(s, numbers(12), 3, 4)
			if i == 0 {
				x = f(f(x))
			} else {
				x = tensor.Checkpoint(f, tensor.Checkpoint(f, x))
			}
			s.Backward(x.Square().Sum())
			m, err := p.Memory(s)
			if err != nil {
				t.Fatal(err)
			}
			grads[i] = values(t, s.Use(m.Grads))
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(grads[0], grads[1]) || slices.Max(grads[0]) == 0 {
			t.Errorf("derivatives %v, with Checkpoint %v", grads[0], grads[1])
		}
	})
}

// TestParameterMistakes tests that a mistake becomes that of the tensors of all parameters.
func TestParameterMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		want error
		make func(s *tensor.Scope, p *nn.Params) *nn.Parameter
	}{
		"shape":    {nn.ErrValues, func(s *tensor.Scope, p *nn.Params) *nn.Parameter { return p.Parameter([]float32{1}, 2) }},
		"negative": {nn.ErrValues, func(s *tensor.Scope, p *nn.Params) *nn.Parameter { return p.Uniform(1, -2, 3) }},
		"late": {nn.ErrPlaced, func(s *tensor.Scope, p *nn.Params) *nn.Parameter {
			p.Parameter([]float32{1}, 1).In(s)
			return p.Parameter([]float32{1}, 1)
		}},
	} {
		dev := kerneltest.Device(t, cpu.Open)
		var p *nn.Params
		err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
			p = nn.NewParams(s.Stream(), nn.Options{})
			if q := c.make(s, p).In(s); !errors.Is(q.Err(), c.want) {
				t.Errorf("%s: %v, want %v", name, q.Err(), c.want)
			}
			return p.Close()
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: Run returns %v, want %v", name, err, c.want)
		}
	}
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Int64})
		if _, err := p.Memory(s); !errors.Is(err, nn.ErrFormat) {
			t.Errorf("activations of int64: %v", err)
		}
	})
}

// TestTrainedNorm compares the result of an RMSNorm that is trained with that of one that is loaded, and its derivatives with finite
// differences.
func TestTrainedNorm(t *testing.T) {
	const width, epsilon = 6, 1e-2
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32})
		defer p.Close()
		n := nn.NewRMSNorm(p, width, epsilon)
		input, factors := numbers(2*width), tensor.From(s, numbers(2*width), 2, width)
		of := func(input []float32) *tensor.Tensor { return n.Forward(tensor.From(s, input, 2, width)) }
		var want []float64
		for _, row := range [][]float32{input[:width], input[width:]} {
			squares := 0.0
			for _, v := range row {
				squares += float64(v) * float64(v)
			}
			for _, v := range row {
				want = append(want, float64(v)/math.Sqrt(squares/width+epsilon))
			}
		}
		near(t, of(input), want)

		s.Record()
		x := s.Variable(tensor.From(s, input, 2, width))
		s.Backward(n.Forward(x).Mul(factors).Sum())
		grad := values(t, x.Grad())
		for i := range input {
			const h = 1. / 64
			up, down := slices.Clone(input), slices.Clone(input)
			up[i], down[i] = up[i]+h, down[i]-h
			d := values(t, of(up).Mul(factors).Sum().Sub(of(down).Mul(factors).Sum()))[0] / (2 * h)
			if math.Abs(float64(grad[i]-d)) > 2e-3 {
				t.Errorf("derivative %d is %g, by finite differences %g", i, grad[i], d)
			}
		}
		m, err := p.Memory(s)
		if err != nil {
			t.Fatal(err)
		}
		near(t, s.Use(m.Grads).Slice(0, 0, width), float64s(values(t, of(input).Mul(factors).Sum(0))))
	})
}

// TestTrainedEmbedding tests the vectors and their derivatives, of the input and of the head, for a number that occurs twice and one that
// is outside the table.
func TestTrainedEmbedding(t *testing.T) {
	const width = 3
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32})
		defer p.Close()
		e, n := nn.NewEmbedding(p, 4, width), nn.NewRMSNorm(p, width, 1e-5)
		at := tensor.From(s, []int32{1, 3, 1, 4}, 4)
		m, err := p.Memory(s)
		if err != nil {
			t.Fatal(err)
		}
		table := values(t, s.Use(m.Values))[:4*width]
		same(t, e.Forward(at), []int{4, width}, slices.Concat(table[3:6], table[9:12], table[3:6], make([]float32, 3)))
		s.Record()
		s.Backward(e.Forward(at).Mul(tensor.From(s, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9}, 4, width)).Sum())
		same(t, s.Use(m.Grads).Slice(0, 0, 4*width), []int{4 * width}, []float32{0, 0, 0, 8, 10, 12, 0, 0, 0, 4, 5, 6})

		x := tensor.From(s, []float32{1, 1, 1}, 1, width)
		var sums []float64
		for i := range 4 {
			sums = append(sums, (float64(table[3*i])+float64(table[3*i+1])+float64(table[3*i+2]))/math.Sqrt(1+1e-5))
		}
		near(t, e.Scores(&n, x), sums)
	})
}

// TestTrainedOutsideScopes tests that operands without a Scope are a mistake.
func TestTrainedOutsideScopes(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	p := nn.NewParams(s, nn.Options{})
	l, n := nn.NewLinear(p, 2, 2), nn.NewRMSNorm(p, 2, 0)
	x, err := tensor.Wrap(kerneltest.Upload(t, s, []float32{1, 2}), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range []*tensor.Tensor{l.Forward(x), n.Forward(x)} {
		if !errors.Is(y.Err(), tensor.ErrValue) && !errors.Is(y.Err(), tensor.ErrScope) {
			t.Errorf("%d: %v", i, y.Err())
		}
	}
}
