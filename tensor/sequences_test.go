package tensor_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// program is a random sequence of operations, with mistakes among them.
type program struct {
	r    *rand.Rand
	s    *tensor.Scope
	pool []*tensor.Tensor
}

func (p *program) one() *tensor.Tensor { return p.pool[p.r.IntN(len(p.pool))] }

// wrong decides whether to make a mistake.
func (p *program) wrong() bool { return p.r.IntN(40) == 0 }

// dim returns a dimension of x, or one that may not exist.
func (p *program) dim(x *tensor.Tensor) int {
	if x.Dims() == 0 || p.wrong() {
		return p.r.IntN(8) - 4
	}
	return p.r.IntN(x.Dims())
}

// indices returns indices for a dimension of x, of the shape of x.
func (p *program) indices(x *tensor.Tensor) *tensor.Tensor {
	if p.wrong() {
		return p.one()
	}
	list := make([]int64, x.Len())
	for i := range list {
		list[i] = int64(p.r.IntN(3))
	}
	return tensor.From(p.s, list, x.Shape()...)
}

// float returns a tensor of floats.
func (p *program) float() *tensor.Tensor {
	if x := p.one(); isFloat(x.DType()) || p.wrong() {
		return x
	}
	return p.one().To(types[p.r.IntN(4)])
}

// step runs one operation.
func (p *program) step() *tensor.Tensor {
	x, y := p.one(), p.one()
	if steps := p.elementwise(x, y); p.r.IntN(3) == 0 {
		return steps[p.r.IntN(len(steps))]()
	}
	if steps := p.overRows(x, y); p.r.IntN(2) == 0 {
		return steps[p.r.IntN(len(steps))]()
	}
	steps := slices.Concat(p.others(x), p.layers())
	return steps[p.r.IntN(len(steps))]()
}

// layers are the operations of neural networks, mostly on operands that fit.
func (p *program) layers() []func() *tensor.Tensor {
	f := p.float()
	row := func() *tensor.Tensor {
		if p.wrong() {
			return p.one()
		}
		return tensor.Full(p.s, 2, dtype.Float32, max(f.Dim(-1), 1))
	}
	heads := func() *tensor.Tensor { return f.Reshape(-1, 1, max(f.Dim(-1), 1)) }
	return []func() *tensor.Tensor{
		func() *tensor.Tensor { return tensor.SwiGLU(f, f.Scale(2)) },
		func() *tensor.Tensor { return f.Linear(heads().Reshape(-1, max(f.Dim(-1), 1)), nil) },
		func() *tensor.Tensor { return heads().RMSNorm(row(), tensor.NormOptions{Epsilon: 1}) },
		func() *tensor.Tensor {
			return heads().LayerNorm(row(), row(), tensor.NormOptions{DType: types[p.r.IntN(4)]})
		},
		func() *tensor.Tensor {
			x := heads()
			return tensor.Attention(x, x, x, tensor.AttentionOptions{Causal: p.wrong()})
		},
		func() *tensor.Tensor {
			x := heads()
			n := x.Dim(0)
			if p.wrong() {
				n = 2
			}
			return x.Rotate(tensor.Angles(tensor.Arange(p.s, n).To(dtype.Int32), tensor.Full(p.s, 1, dtype.Float32, x.Dim(-1)/2)))
		},
		func() *tensor.Tensor { return f.Dropout(0.5) },
		func() *tensor.Tensor { return tensor.Uniform(p.s, f.DType(), f.Shape()...) },
		func() *tensor.Tensor { return tensor.Bernoulli(p.s, p.r.Float64()*1.02, 3) },
	}
}

func (p *program) elementwise(x, y *tensor.Tensor) []func() *tensor.Tensor {
	return []func() *tensor.Tensor{
		func() *tensor.Tensor { return x.Add(y) },
		func() *tensor.Tensor { return x.Mul(y) },
		func() *tensor.Tensor { return x.Div(y) },
		func() *tensor.Tensor { return x.Pow(y) },
		func() *tensor.Tensor { return x.Maximum(y) },
		func() *tensor.Tensor { return tensor.Where(x.Less(y), x, y) },
		func() *tensor.Tensor { return x.Exp().GELU() },
		func() *tensor.Tensor { return x.Sqrt().SiLU() },
		func() *tensor.Tensor { return x.To(types[p.r.IntN(len(types))]) },
		func() *tensor.Tensor {
			if p.wrong() {
				return x.To(dtype.Type(p.r.IntN(18)))
			}
			return x.PowScalar(2)
		},
	}
}

func (p *program) overRows(x, y *tensor.Tensor) []func() *tensor.Tensor {
	return []func() *tensor.Tensor{
		func() *tensor.Tensor { return x.Sum(p.dim(x)) },
		func() *tensor.Tensor { return x.Mean() },
		func() *tensor.Tensor { return x.Max(p.dim(x)) },
		func() *tensor.Tensor { return x.ArgMax(p.dim(x)) },
		func() *tensor.Tensor { return x.Softmax(p.dim(x)) },
		func() *tensor.Tensor { return x.LogSumExp(p.dim(x)) },
		func() *tensor.Tensor { return x.CumSum(p.dim(x)) },
		func() *tensor.Tensor { f := p.float(); return f.MatMul(f.Transpose(0, -1)) },
		func() *tensor.Tensor { return p.float().CrossEntropy(y.To(dtype.Int32)) },
		func() *tensor.Tensor { return p.float().CrossEntropyRows(y.To(dtype.Int64)) },
		func() *tensor.Tensor { v, at := x.Sort(p.dim(x)); p.pool[0] = at; return v },
		func() *tensor.Tensor { v, _ := x.Top(1); return v },
	}
}

func (p *program) others(x *tensor.Tensor) []func() *tensor.Tensor {
	r := p.r
	return []func() *tensor.Tensor{
		func() *tensor.Tensor { return x.Take(p.dim(x), p.indices(x)) },
		func() *tensor.Tensor { return x.Gather(p.dim(x), p.indices(x)) },
		func() *tensor.Tensor { return x.ScatterAdd(p.dim(x), p.indices(x), x.Scale(1)) },
		func() *tensor.Tensor { return tensor.Concat(p.dim(x), x, x.To(types[r.IntN(8)])) },
		func() *tensor.Tensor { return tensor.Stack(p.dim(x), x, x) },
		func() *tensor.Tensor { return x.Reshape(-1) },
		func() *tensor.Tensor { return x.Reshape(x.Dim(0), -1).T() },
		func() *tensor.Tensor { return x.Slice(p.dim(x), 0, 1) },
		func() *tensor.Tensor { d := p.dim(x); return x.Unsqueeze(d).Squeeze(d) },
		func() *tensor.Tensor { return x.Expand(append([]int{2}, x.Shape()...)...) },
		func() *tensor.Tensor { return p.s.Tidy(func() *tensor.Tensor { p.float(); return x.Square() }) },
		func() *tensor.Tensor { return tensor.Full(p.s, 2, x.DType(), x.Shape()...) },
		p.recorded,
		func() *tensor.Tensor {
			if p.wrong() {
				return x.Add(nil)
			}
			return x.Neg()
		},
	}
}

// recorded records a few operations and goes back.
func (p *program) recorded() *tensor.Tensor {
	x := p.float()
	if x.DType() == dtype.Invalid {
		return x
	}
	if !p.wrong() {
		p.s.Record()
	}
	v := p.s.Variable(x)
	y := v
	for range 3 {
		steps := p.elementwise(y, v)
		p.pool[0] = y
		if p.r.IntN(2) == 0 {
			steps = p.layers()
		}
		if z := steps[p.r.IntN(6)](); z.Len() < 1000 {
			y = z
		}
	}
	p.s.Backward(y.Sum().Add(v.Sum()))
	return v.Grad()
}

// programs is the number of programs of TestRandomOperations, or 0.
var programs = flag.Int("programs", 0, "how many programs TestRandomOperations runs on each device; 0 is 300, or 1000 in sweeps")

// count returns the number of programs of TestRandomOperations.
func count() int {
	switch {
	case *programs > 0:
		return *programs
	case testing.Short():
		return 100
	case sweep.Whole():
		return 1000
	}
	return 150
}

// TestRandomOperations runs programs with mistakes: none may panic or leak, and the first mistake has a line.
func TestRandomOperations(t *testing.T) {
	mistakes, steps := 0, 0
	run(t, func(t *testing.T, outer *tensor.Scope) error {
		stream := outer.Stream()
		n := count()
		if stream.Device().Info().Kind == "interp" {
			n /= 20
		}
		for seed := range n {
			err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { return randomProgram(s, uint64(seed), &steps) })
			var e *tensor.Error
			switch {
			case errors.As(err, &e) && strings.Contains(e.Line, "_test.go:"):
				mistakes++
			case err != nil:
				t.Fatalf("program %d: %v", seed, err)
			}
		}
		return nil
	})
	t.Logf("%d operations, %d mistakes", steps, mistakes)
	if mistakes == 0 && steps > 0 {
		t.Error("no program has a mistake")
	}
}

// randomProgram runs operations until the first mistake, and a few after.
func randomProgram(s *tensor.Scope, seed uint64, steps *int) error {
	p := &program{r: rand.New(rand.NewPCG(seed, 3)), s: s}
	for i, of := range types {
		shape := [][]int{{2, 3}, {3}, {1}, {2, 1, 3}, {3, 3}, {1, 1}, {3}, {1, 3}}[(i+int(seed))%8]
		p.pool = append(p.pool, random(p.r, of, shape...).upload(s, of, i%3))
	}
	for after := 0; after < 3; {
		y := p.step()
		*steps++
		if y == nil {
			return fmt.Errorf("a nil tensor")
		}
		if s.Err() != nil {
			after++
			continue
		}
		if y.Len() < 1000 {
			p.pool[p.r.IntN(len(p.pool))] = y
		}
	}
	return nil
}

func TestMistakesOfRecording(t *testing.T) {
	one := func(s *tensor.Scope) *tensor.Tensor { return tensor.From(s, []float32{1, 2}, 2) }
	for _, c := range []struct {
		name  string
		cause error
		text  string
		f     func(s *tensor.Scope)
	}{
		{"no Record", tensor.ErrRecord, "Backward: recording: Record was not called before", func(s *tensor.Scope) { s.Backward(one(s).Sum()) }},
		{"no Record before Variable", tensor.ErrRecord, "Variable: recording: Record was not called", func(s *tensor.Scope) { s.Variable(one(s)) }},
		{"Record twice", tensor.ErrRecord, "Record was called before", func(s *tensor.Scope) { s.Record(); s.Record() }},
		{"no variable", tensor.ErrRecord, "the loss does not depend on a variable", func(s *tensor.Scope) { s.Record(); s.Backward(one(s).Sum()) }},
		{"shape of the loss", tensor.ErrShape, "a loss of shape [2]", func(s *tensor.Scope) { s.Record(); s.Backward(s.Variable(one(s))) }},
		{"twice", tensor.ErrRecord, "Backward was called before, at sequences_test.go:", func(s *tensor.Scope) {
			s.Record()
			loss := s.Variable(one(s)).Sum()
			s.Backward(loss)
			s.Backward(loss)
		}},
		{"Grad before Backward", tensor.ErrRecord, "Grad: recording: Backward was not called", func(s *tensor.Scope) { s.Record(); s.Variable(one(s)).Grad() }},
		{"Grad of a result", tensor.ErrRecord, "is not a variable", func(s *tensor.Scope) { s.Record(); s.Variable(one(s)).Exp().Grad() }},
		{"a variable of integers", tensor.ErrDType, "a variable of int32", func(s *tensor.Scope) { s.Record(); s.Variable(tensor.From(s, []int32{1}, 1)) }},
		{"a derivative of another shape", tensor.ErrShape, "Bad: shapes do not fit: a derivative of float32 [3] for float32 [2]", func(s *tensor.Scope) {
			s.Record()
			x := s.Variable(one(s))
			y := tensor.Op{Name: "Bad", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: []int{2}, Launch: func(st *device.Stream, out *tensor.Tensor) error { return nil },
				Back: func(d *tensor.Derivative) []*tensor.Tensor {
					return []*tensor.Tensor{tensor.Zeros(s, dtype.Float32, 3)}
				}}.Apply()
			s.Backward(y.Sum())
		}},
		{"columns of attention", tensor.ErrShape, "[2 1] for 1 heads, 1 of keys, of 1 elements", func(s *tensor.Scope) {
			tensor.AttentionTogether(one(s).Reshape(2, 1), tensor.Heads{Heads: 1, KeyHeads: 1, Dim: 1}, tensor.AttentionOptions{})
		}},
		{"parameter of another shape", tensor.ErrShape, "a derivative of float32 [2] for float32 [1 2]", func(s *tensor.Scope) { s.Record(); s.Parameter(one(s).Reshape(1, 2), one(s)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error { c.f(s); return nil })
			var e *tensor.Error
			if !errors.Is(err, c.cause) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(e.Line, "sequences_test.go:") {
				t.Errorf("Run returned %v, want %q", err, c.text)
			}
		})
	}
}

func TestParametersAccumulate(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		w, g := tensor.From(s, []float32{1, 2}, 2), tensor.Zeros(s, dtype.Float32, 2)
		for step := range 3 {
			s.Record()
			p := s.Parameter(w, g)
			x := tensor.From(s, []float32{3, 4}, 2)
			s.NoGrad(func() { p.Exp() })
			s.Backward(p.Mul(x).Sum().Add(p.Square().Sum()))
			n := float32(step + 1)
			same(t, g, []int{2}, n*5, n*8)
		}
		s.Record()
		v, unused := s.Variable(w), s.Variable(w)
		s.Backward(v.Sum())
		same(t, unused.Grad(), []int{2}, float32(0), 0)
		return nil
	})
}

// TestProductsAccumulate adds derivatives of products to those of parameters, which also other operations use. All numbers are exact in bfloat16.
func TestProductsAccumulate(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16, dtype.Float64} {
			w := tensor.Full(s, 1, of, 8, 16)
			g := tensor.Zeros(s, of, 8, 16)
			x := tensor.Full(s, 2, of, 3, 16)
			for step := range 2 {
				s.Record()
				p := s.Parameter(w, g)
				y := x.Linear(p, nil).Add(x.MatMul(p.T())).Sum().Add(p.Sum())
				s.Backward(y.Add(p.MatMul(p.T()).Sum()))
				want := make([]float32, 8*16)
				for i := range want {
					want[i] = float32((step + 1) * (6 + 6 + 1 + 16))
				}
				same(t, g.To(dtype.Float32), []int{8, 16}, want...)
			}
		}
		return nil
	})
}

// TestDerivativesOutliveFrames frees tensors before Backward needs them.
func TestDerivativesOutliveFrames(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		var loss *tensor.Tensor
		s.Tidy(func() *tensor.Tensor {
			loss = s.Tidy(func() *tensor.Tensor { return x.Scale(2).Square() }).Sum()
			s.Keep(loss)
			return nil
		})
		for range 4 {
			tensor.From(s, []float32{7, 7}, 2)
		}
		s.Backward(loss)
		same(t, x.Grad(), []int{2}, float32(8), 16)
		return nil
	})
}

func TestRecording(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		var got []bool
		note := func() { got = append(got, s.Recording()) }
		note() // false
		s.Record()
		note() // true
		s.NoGrad(note)
		note() // true
		s.Backward(tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor {
			note() // false, then true in Backward
			return x.Square()
		}, s.Variable(tensor.From(s, []float32{1}, 1))))
		note() // false
		if want := []bool{false, true, false, true, false, true, false}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		return nil
	})
}
