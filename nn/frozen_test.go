package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// frozen is a loaded model, and its parameters in float64.
type frozen struct {
	testModel
	values map[string]*tensor.Tensor
}

const frozenWidth, frozenInner, frozenWords = 64, 96, 50

// newFrozen loads a model whose matrices have values that are exact in a type.
func newFrozen(t *testing.T, s *tensor.Scope, p *nn.Params, of weights.Type, o nn.LoadOptions) frozen {
	t.Helper()
	f, r := frozen{values: map[string]*tensor.Tensor{}}, rand.New(rand.NewPCG(4, 2))
	var list []entry
	add := func(name string, of weights.Type, values []float32, shape ...int) {
		list = append(list, entry{name, of, shape, values})
		f.values[name] = tensor.From(s, float64s(values), shape...)
	}
	matrix := func(name string, rows, columns int) {
		values := make([]float32, rows*columns)
		for i := range values {
			switch values[i] = float32(r.IntN(16))/8 - 1; i % 32 { // the numbers of a block of Q4_1
			case 0:
				values[i] = -1
			case 1:
				values[i] = 0.875
			}
			if of == weights.Q8_0 {
				if values[i] = float32(r.IntN(255)-127) / 64; i%32 == 0 {
					values[i] = 127. / 64
				}
			}
		}
		add(name+".weight", of, values, rows, columns)
	}
	matrix("up", frozenInner, frozenWidth)
	matrix("gate", frozenInner, frozenWidth)
	matrix("more", frozenInner, frozenWidth)
	matrix("embed", frozenWords, frozenWidth)
	matrix("down", frozenWidth, frozenInner)
	add("up.bias", weights.F32, numbers(frozenInner), frozenInner)
	add("norm.weight", weights.F32, numbers(frozenWidth), frozenWidth)
	f.testModel = testModel{
		nn.RMSNorm{Width: frozenWidth, Epsilon: 1e-5}, nn.Linear{In: frozenWidth, Out: frozenInner, Bias: true},
		nn.Stacked{In: frozenWidth, Out: []int{frozenInner, frozenInner}},
		nn.Linear{In: frozenInner, Out: frozenWidth}, nn.Embedding{Count: frozenWords, Width: frozenWidth},
	}
	if err := nn.Load(p, &f.testModel, file(t, "", list...), o); err != nil {
		t.Fatal(err)
	}
	return f
}

// loss is a model of all layers.
func (f frozen) loss(x, labels *tensor.Tensor) *tensor.Tensor {
	mid := f.Pair.SwiGLU(&f.Norm, x)
	side := f.Up.Forward(f.Norm.Forward(x)).To(dtype.Float32).Tanh()
	x = f.Down.AddTo(f.Down.AddTo(x, mid), side.To(mid.DType()))
	x = nn.Rows(x, labels.Mul(labels.Sign()).To(dtype.Int32))
	return f.Embed.CrossEntropy(f.Norm.Forward(x), labels).Add(f.Embed.Scores(&f.Norm, x).CrossEntropy(labels))
}

// reference is loss in float64.
func (f frozen) reference(x, labels *tensor.Tensor) *tensor.Tensor {
	by := func(x *tensor.Tensor, name string) *tensor.Tensor { return x.MatMul(f.values[name+".weight"].T()) }
	norm := func(x *tensor.Tensor) *tensor.Tensor {
		return x.RMSNorm(f.values["norm.weight"], tensor.NormOptions{Epsilon: 1e-5})
	}
	mid := tensor.SwiGLU(by(norm(x), "gate"), by(norm(x), "more"))
	side := by(norm(x), "up").Add(f.values["up.bias"]).Tanh()
	x = x.Add(by(mid, "down")).Add(by(side, "down"))
	x = x.Take(0, labels.Mul(labels.Sign()))
	return by(norm(x), "embed").CrossEntropy(labels).Scale(2)
}

// TestFrozen compares the derivatives through all layers of a loaded model with float64, for matrices of all types. The interpreter has some types.
func TestFrozen(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for i, of := range []weights.Type{weights.F32, weights.F16, weights.BF16, weights.Q8_0, weights.Q4_1} {
			if name == "interp" && !sweep.Every(2, i) {
				continue // it is slow
			}
			t.Run(fmt.Sprintf("%s/%v", name, of), func(t *testing.T) {
				onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
					f := newFrozen(t, s, p, of, nn.LoadOptions{})
					f.compare(t, s, p, 5)
					if name != "interp" { // which is slow
						f.compare(t, s, p, 1)
						f.compare(t, s, p, 40)
					}
				})
			})
		}
	}
}

// TestTrainedFile compares the derivatives with respect to all parameters of a model that is loaded to be trained with float64, for matrices of several types.
func TestTrainedFile(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		if name == "interp" { // which is slow
			continue
		}
		for _, of := range []weights.Type{weights.F32, weights.BF16, weights.Q8_0} {
			t.Run(fmt.Sprintf("%s/%v", name, of), func(t *testing.T) {
				onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
					f := newFrozen(t, s, p, of, nn.LoadOptions{Train: true})
					f.compareParameters(t, s, p)
					f.compare(t, s, p, 5)
				})
			})
		}
	}
}

// compareParameters compares the derivatives with respect to all parameters.
func (f frozen) compareParameters(t *testing.T, s *tensor.Scope, p *nn.Params) {
	t.Helper()
	const rows = 9
	x, labels := numbers(rows*frozenWidth), []int32{0, 3, -1, 5, 8, 1, 1, 7, 2}
	s.Record()
	s.Backward(f.loss(tensor.From(s, x, rows, frozenWidth), tensor.From(s, labels, rows)))
	s.Record()
	reference := frozen{values: map[string]*tensor.Tensor{}}
	for name, v := range f.values {
		reference.values[name] = s.Variable(v)
	}
	s.Backward(reference.reference(tensor.From(s, float64s(x), rows, frozenWidth), tensor.From(s, labels, rows)))
	tolerance := 1e-4
	if p.Activations() == dtype.BFloat16 {
		tolerance = 0.05
	}
	if len(p.Named()) != len(f.values) {
		t.Errorf("%d parameters, want %d", len(p.Named()), len(f.values))
	}
	for _, q := range p.Named() {
		got, err := q.Grad(s)
		if err != nil {
			t.Fatal(err)
		}
		want := reference.values[q.Name].Grad()
		distance := s.Use(got).To(dtype.Float64).Sub(want).Square().Sum().Div(want.Square().Sum()).Sqrt()
		v, err := tensor.Values[float64](t.Context(), distance)
		if err != nil {
			t.Fatal(err)
		}
		if !(v[0] <= tolerance) {
			t.Errorf("derivatives with respect to %s have a relative error of %g", q.Name, v[0])
		}
	}
}

// TestLosses compares the losses of more rows than those whose scores are in memory at a time, and the derivatives of their weighted sum, with a reference in float64:
// for a matrix with one column that is constant, and for one that is trained.
func TestLosses(t *testing.T) {
	const count, rows = 700, 17
	table := make([]float32, count)
	for i := range table {
		table[i] = float32(i%7-3) / 2
	}
	for _, train := range []bool{false, true} {
		onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
			model := struct {
				L nn.Linear `weights:"l"`
			}{nn.Linear{In: 1, Out: count}}
			if err := nn.Load(p, &model, file(t, "", entry{"l.weight", weights.F32, []int{count, 1}, table}), nn.LoadOptions{Train: train}); err != nil {
				t.Fatal(err)
			}
			at, factors, labels := make([]float32, rows), make([]float32, rows), make([]int32, rows)
			for i := range at {
				at[i], factors[i], labels[i] = float32(i-8)/8, float32(i%3-1), int32(i*40)
			}
			labels[16] = -1
			s.Record()
			x := s.Variable(tensor.From(s, at, rows, 1))
			losses := model.L.LossesBy(4*count, x, tensor.From(s, labels, rows))
			s.Backward(losses.Mul(tensor.From(s, factors, rows)).Sum())
			got, slopes := values(t, losses), values(t, x.Grad())
			for i, v := range at {
				var sum, mean float64
				for j := range 7 { // all rows of the table, which has each of 7 numbers about as often
					n := float64((count - j + 6) / 7)
					sum += n * math.Exp(float64(v)*float64(table[j]))
					mean += n * math.Exp(float64(v)*float64(table[j])) * float64(table[j])
				}
				want, slope := 0.0, 0.0
				if label := labels[i]; label >= 0 {
					want = math.Log(sum) - float64(v)*float64(table[label])
					slope = float64(factors[i]) * (mean/sum - float64(table[label]))
				}
				if math.Abs(float64(got[i])-want) > 1e-5 || math.Abs(float64(slopes[i])-slope) > 1e-5 {
					t.Errorf("row %d, trained %v: the loss is %v with the derivative %v, want %v and %v", i, train, got[i], slopes[i], want, slope)
				}
			}
		})
	}
}

// compare compares the losses of some rows, and their derivatives.
func (f frozen) compare(t *testing.T, s *tensor.Scope, p *nn.Params, rows int) {
	t.Helper()
	values, labels := numbers(rows*frozenWidth), make([]int32, rows)
	for i := range labels {
		if labels[i] = int32(i * 7 % rows); i%4 == 3 {
			labels[i] = -1
		}
	}
	var losses, grads [2]*tensor.Tensor
	for i, of := range []dtype.Type{dtype.Float32, dtype.Float64} {
		s.Record()
		x := s.Variable(tensor.From(s, values, rows, frozenWidth).To(of))
		if at := tensor.From(s, labels, rows); of == dtype.Float32 {
			losses[i] = f.loss(x, at)
		} else {
			losses[i] = f.reference(x, at)
		}
		s.Backward(losses[i])
		grads[i] = x.Grad()
	}
	tolerance := 1e-4
	if p.Activations() == dtype.BFloat16 {
		tolerance = 0.05
	}
	for name, pair := range map[string][2]*tensor.Tensor{"loss": losses, "derivatives": grads} {
		error := pair[0].Sub(pair[1]).Square().Sum().Sqrt().Div(pair[1].Square().Sum().Sqrt().AddScalar(0.1)) // a loss may be about 0
		v, err := tensor.Values[float64](t.Context(), error)
		if err != nil {
			t.Fatal(err)
		}
		if !(v[0] <= tolerance) || math.IsInf(v[0], 0) {
			t.Errorf("%d rows: %s with a relative error of %g", rows, name, v[0])
		}
	}
}
