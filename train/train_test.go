package train_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// optimizer is AdamW or SGD.
type optimizer interface {
	Step(s *tensor.Scope) error
	Norm(s *tensor.Scope) (float64, error)
	Clear(s *tensor.Scope) error
	Steps() int
	Close() error
}

// model is parameters w of which the loss is the sum of (w-1)^2 weighted by 1, 2, 3 and 4.
type model struct {
	params *nn.Params
	w      *nn.Parameter
	opt    optimizer
}

func newModel(s *device.Stream, of dtype.Type, opt func(p *nn.Params) optimizer) *model {
	p := nn.NewParams(s, nn.Options{DType: of})
	return &model{p, p.Parameter([]float32{2, 0, -1, 3}, 4), opt(p)}
}

func (m *model) close() error { return errors.Join(m.opt.Close(), m.params.Close()) }

// backward adds the derivatives, 2*weight*(w-1).
func (m *model) backward(s *tensor.Scope) {
	s.Record()
	w := m.w.In(s)
	s.Backward(w.AddScalar(-1).Square().Mul(tensor.From(s, []float32{1, 2, 3, 4}, 4).To(w.DType())).Sum())
}

// master returns the parameters in float32.
func (m *model) master(t *testing.T, s *tensor.Scope) []float32 {
	t.Helper()
	memory, err := m.params.Memory(s)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, 4)
	if err := errors.Join(device.Download(s.Stream(), v, memory.Master.Slice(0, 4)), s.Stream().Synchronize(t.Context())); err != nil {
		t.Fatal(err)
	}
	return v
}

// settings are options that both optimizers have, and the momentum of SGD.
type settings struct{ rate, decay, limit, momentum float64 }

// expected takes steps in float64, as PyTorch documents its optimizers: of AdamW, or of SGD if the momentum is not 0.
func expected(steps int, o settings) []float64 {
	x, first, second := []float64{2, 0, -1, 3}, make([]float64, 4), make([]float64, 4)
	for n := 1; n <= steps; n++ {
		var grad [4]float64
		norm := 0.0
		for i := range x {
			grad[i] = 2 * float64(i+1) * (x[i] - 1)
			norm = math.Hypot(norm, grad[i])
		}
		for i := range x {
			g := grad[i] * math.Min(1, o.limit/(norm+1e-6))
			if o.momentum != 0 {
				first[i] = o.momentum*first[i] + g + o.decay*x[i]
				x[i] -= o.rate * first[i]
				continue
			}
			x[i] *= 1 - o.rate*o.decay
			first[i] = 0.9*first[i] + 0.1*g
			second[i] = 0.999*second[i] + 0.001*g*g
			x[i] -= o.rate * first[i] / (1 - math.Pow(0.9, float64(n))) / (math.Sqrt(second[i]/(1-math.Pow(0.999, float64(n)))) + 1e-8)
		}
	}
	return x
}

// TestReference compares the reference with PyTorch 2.11, whose torch.optim.AdamW and torch.optim.SGD took the steps of TestSteps in float32
// after torch.nn.utils.clip_grad_norm_.
func TestReference(t *testing.T) {
	for momentum, want := range map[float64][]float64{
		0:   {1.42097759, 0.484443009, -0.461424112, 2.36461711},
		0.5: {1.16553032, 1.00138068, 1.11131024, 0.931860507},
	} {
		for i, got := range expected(10, settings{rate: 0.05, decay: 0.1, limit: 5, momentum: momentum}) {
			if math.Abs(got-want[i]) > 2e-6 {
				t.Errorf("momentum %g: parameter %d is %g, want %g", momentum, i, got, want[i])
			}
		}
	}
}

// TestSteps compares parameters after ten steps, each in a Scope of its own, with the reference.
func TestSteps(t *testing.T) {
	const rate, decay, limit = 0.05, 0.1, 5
	for name, open := range kerneltest.Executions() {
		for kind, c := range map[string]struct {
			opt  func(p *nn.Params) optimizer
			want []float64
		}{
			"AdamW": {func(p *nn.Params) optimizer {
				return train.NewAdamW(p, train.AdamWOptions{Rate: rate, Decay: decay, Clip: limit})
			}, expected(10, settings{rate, decay, limit, 0})},
			"SGD": {func(p *nn.Params) optimizer {
				return train.NewSGD(p, train.SGDOptions{Rate: rate, Decay: decay, Clip: limit, Momentum: 0.5})
			}, expected(10, settings{rate, decay, limit, 0.5})},
		} {
			for of, tolerance := range map[dtype.Type]float64{dtype.Float32: 1e-5, dtype.BFloat16: 0.03} {
				t.Run(fmt.Sprint(name, "/", kind, "/", of), func(t *testing.T) {
					dev := kerneltest.Device(t, open)
					s, err := dev.NewStream()
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					m := newModel(s, of, c.opt)
					for range 10 {
						if err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error { m.backward(s); return m.opt.Step(s) }); err != nil {
							t.Fatal(err)
						}
					}
					m.verify(t, dev, c.want, tolerance)
					if owners := dev.Owners(); len(owners) > 0 {
						t.Errorf("memory that was not freed: %v", owners)
					}
				})
			}
		}
	}
}

// verify compares parameters, and what layers see of them, and closes the model.
func (m *model) verify(t *testing.T, dev *device.Device, want []float64, tolerance float64) {
	t.Helper()
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		got := m.master(t, s)
		seen, err := tensor.Values[float32](t.Context(), m.w.In(s).To(dtype.Float32))
		for i := range got {
			rounded := got[i]
			if m.params.Activations() == dtype.BFloat16 {
				rounded = dtype.BF16From32(rounded).Float32()
			}
			if math.Abs(float64(got[i])-want[i]) > tolerance || seen[i] != rounded {
				t.Errorf("parameter %d is %g, in layers %g, want %g", i, got[i], seen[i], want[i])
			}
		}
		return err
	})
	if err := errors.Join(err, m.close()); err != nil {
		t.Error(err)
	}
}

// TestAccumulation compares a step after two halves of a batch, and the norm, with a step after the whole.
func TestAccumulation(t *testing.T) {
	dev := kerneltest.Device(t, cpu.Open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		m := newModel(s.Stream(), dtype.Float32, func(p *nn.Params) optimizer { return train.NewSGD(p, train.SGDOptions{Rate: 0.125, Clip: 1000}) })
		m.backward(s)
		if err := m.opt.Clear(s); err != nil { // an abandoned batch
			return err
		}
		m.backward(s)
		m.backward(s)
		if err := m.opt.Step(s); err != nil {
			return err
		}
		if got, want := m.master(t, s), []float32{1.5, 1, 2, -1}; !slices.Equal(got, want) {
			t.Errorf("parameters %v, want %v", got, want)
		}
		norm, err := m.opt.Norm(s)
		if want := 4 * math.Sqrt(1+4+36+64); math.Abs(norm-want) > 1e-4 || m.opt.Steps() != 1 {
			t.Errorf("norm %g, want %g; %d steps", norm, want, m.opt.Steps())
		}
		return errors.Join(err, m.close())
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMistakeInStep makes a mistake after Backward: the parameters keep their values, and the next step is as if nothing had happened.
func TestMistakeInStep(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	dev := stream.Device()
	m := newModel(stream, dtype.Float32, func(p *nn.Params) optimizer { return train.NewAdamW(p, train.AdamWOptions{Rate: 0.05, Clip: 5}) })
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		m.backward(s)
		tensor.Zeros(s, dtype.Float32, 2).Add(tensor.Zeros(s, dtype.Float32, 3))
		return m.opt.Step(s)
	})
	if !errors.Is(err, tensor.ErrShape) || m.opt.Steps() != 0 {
		t.Errorf("%v after %d steps", err, m.opt.Steps())
	}
	if err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error { m.backward(s); return m.opt.Step(s) }); err != nil {
		t.Fatal(err)
	}
	m.verify(t, dev, expected(1, settings{rate: 0.05, limit: 5}), 1e-5)
}

// TestTooLittleMemory takes a step under every limit of memory under which it fails, in the forward pass, in Backward and in Step: the error
// names the line, the parameters keep their values, and the step succeeds when there is enough memory. The parameters have theirs before.
func TestTooLittleMemory(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(name, func(t *testing.T) {
			stream := kerneltest.Stream(t, open)
			dev := stream.Device()
			failed := 0
			for more, err := int64(0), error(device.ErrMemory); err != nil; more += 256 {
				m := newModel(stream, dtype.Float32, func(p *nn.Params) optimizer { return train.NewAdamW(p, train.AdamWOptions{Rate: 0.05, Clip: 5}) })
				step := func() error {
					return tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { m.backward(s); return m.opt.Step(s) })
				}
				if err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { m.master(t, s); return nil }); err != nil {
					t.Fatal(err)
				}
				stats, _ := dev.MemoryStats()
				dev.SetMemoryLimit(stats.Used + more)
				err = step()
				dev.SetMemoryLimit(0)
				if err != nil {
					var e *tensor.Error
					if !errors.Is(err, device.ErrMemory) || !errors.As(err, &e) || !strings.HasPrefix(e.Line, "train_test.go:") || m.opt.Steps() != 0 {
						t.Fatalf("with %d bytes more: %v, after %d steps", more, err, m.opt.Steps())
					}
					failed++
					if err := step(); err != nil {
						t.Fatal(err)
					}
				}
				m.verify(t, dev, expected(1, settings{rate: 0.05, limit: 5}), 1e-5)
			}
			if failed == 0 {
				t.Error("no step failed")
			}
		})
	}
}

// TestOptions tests that options out of range, and mistakes of parameters, are errors of Step.
func TestOptions(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	for want, opt := range map[error]func(p *nn.Params) optimizer{
		train.ErrOptions: func(p *nn.Params) optimizer { return train.NewAdamW(p, train.AdamWOptions{Beta1: 1}) },
		nn.ErrValues: func(p *nn.Params) optimizer {
			p.Parameter(nil, 1)
			return train.NewSGD(p, train.SGDOptions{})
		},
	} {
		m := newModel(stream, dtype.Float32, opt)
		if err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { return m.opt.Step(s) }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		p := nn.NewParams(stream, nn.Options{})
		for _, opt := range []optimizer{train.NewAdamW(p, train.AdamWOptions{Rate: v}), train.NewSGD(p, train.SGDOptions{Decay: v})} {
			if err := tensor.RunOn(t.Context(), stream, opt.Step); !errors.Is(err, train.ErrOptions) {
				t.Errorf("%g: %v", v, err)
			}
		}
	}
}

// flat is the number of steps of TestMemoryIsFlat.
var flat = flag.Int("flat", 1000, "the steps of TestMemoryIsFlat")

// TestMemoryIsFlat takes steps without Go's collector, and with one that runs all the time: memory in use is the same after the second step and
// all that follow.
func TestMemoryIsFlat(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		for _, percent := range []int{-1, 1} {
			t.Run(fmt.Sprint(name, "/GOGC=", percent), func(t *testing.T) {
				stream := kerneltest.Stream(t, open)
				defer debug.SetGCPercent(debug.SetGCPercent(percent))
				stats := memoryOfSteps(t, stream, *flat)
				if i := slices.IndexFunc(stats[1:], func(m device.MemoryStats) bool { return m != stats[1] }); i >= 0 {
					t.Errorf("memory after the second step %+v, after step %d %+v", stats[1], i+2, stats[i+1])
				}
			})
		}
	}
}

// memoryOfSteps trains a small network, and returns the memory in use after each step.
func memoryOfSteps(t *testing.T, stream *device.Stream, steps int) (list []device.MemoryStats) {
	t.Helper()
	p := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
	in, out := nn.NewLinear(p, 8, 16), nn.NewLinear(p, 16, 3)
	opt := train.NewAdamW(p, train.AdamWOptions{Clip: 1})
	inputs, labels := make([]float32, 5*8), []int32{0, 1, 2, 1, 0}
	for i := range inputs {
		inputs[i] = float32(i%7) / 7
	}
	for range steps {
		err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
			s.Record()
			s.Backward(out.Forward(in.Forward(tensor.From(s, inputs, 5, 8)).GELU()).CrossEntropy(tensor.From(s, labels, 5)))
			return opt.Step(s)
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := stream.Device().MemoryStats()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	if err := errors.Join(opt.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	return list
}

func TestSchedules(t *testing.T) {
	s := train.WarmUp(3, train.Cosine(4, 0.5))
	for step, want := range []float64{0.25, 0.5, 0.75, 1, 0.5 + 0.25*(1+math.Sqrt2/2), 0.75, 0.5 + 0.25*(1-math.Sqrt2/2), 0.5, 0.5} {
		if got := s(step); math.Abs(got-want) > 1e-12 {
			t.Errorf("step %d: %g, want %g", step, got, want)
		}
	}
	if train.Constant(7) != 1 {
		t.Errorf("%g", train.Constant(7))
	}
	last := func(int) float64 { return 0.1 }
	for name, c := range map[string]struct{ of, want train.Schedule }{
		"Cosine(0)":  {train.Cosine(0, 0.1), last},
		"Cosine(-9)": {train.Cosine(-9, 0.1), last},
		"Linear(0)":  {train.Linear(0, 0.1), last},
		"Linear(-1)": {train.Linear(-1, 0.1), last},
		"WarmUp(0)":  {train.WarmUp(0, train.Linear(4, 0.1)), train.Linear(4, 0.1)},
		"WarmUp(-3)": {train.WarmUp(-3, train.Linear(4, 0.1)), train.Linear(4, 0.1)},
		"WarmUp(9, Cosine(-1))": {train.WarmUp(9, train.Cosine(-1, 0.1)), func(step int) float64 {
			if step < 9 {
				return float64(step+1) / 10
			}
			return 0.1
		}},
	} {
		for _, step := range []int{0, 1, 4, 8, 9, 1000} {
			if got, want := c.of(step), c.want(step); got != want {
				t.Errorf("%s, step %d: %g, want %g", name, step, got, want)
			}
		}
	}
}

// TestIncompleteExamples has examples whose numbers of inputs and labels do not fit, or whose Width is missing.
func TestIncompleteExamples(t *testing.T) {
	e := train.Examples[float32, int]{Inputs: []float32{1, 2, 3, 4, 5, 6}, Labels: []int{12, 34, 56}}
	first, rest := e.Split(1, 1)
	for _, part := range []train.Examples[float32, int]{first, rest} {
		for b := range part.Batches(-7, 1) {
			if b.Width != 2 || b.Len() != 1 || len(b.Inputs) != 2 || b.Labels[0] != int(10*b.Inputs[0]+b.Inputs[1]) {
				t.Errorf("a batch of %v", b)
			}
		}
	}
	if first, rest := e.Split(9, 1); first.Len() != 3 || rest.Len() != 0 {
		t.Errorf("Split(9) of 3 examples: %d and %d", first.Len(), rest.Len())
	}
	for want, e := range map[string]train.Examples[float32, int]{
		"train: option out of range: Examples have 5 inputs and 3 labels; the Width is 2":  {Inputs: e.Inputs[:5], Labels: e.Labels, Width: 2},
		"train: option out of range: Examples have 6 inputs and 3 labels; the Width is 1":  {Inputs: e.Inputs, Labels: e.Labels, Width: 1},
		"train: option out of range: Examples have 5 inputs and 3 labels; the Width is 1":  {Inputs: e.Inputs[:5], Labels: e.Labels},
		"train: option out of range: Examples have 6 inputs and 3 labels; the Width is -2": {Inputs: e.Inputs, Labels: e.Labels, Width: -2},
		"train: option out of range: Examples have 6 inputs and 0 labels; the Width is 0":  {Inputs: e.Inputs},
	} {
		for name, f := range map[string]func(){"Batches": func() { e.Batches(2, 1) }, "Split": func() { e.Split(2, 1) }} {
			err := func() (err error) {
				defer func() { err, _ = recover().(error) }()
				f()
				return nil
			}()
			if !errors.Is(err, train.ErrOptions) || err.Error() != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	e := train.Examples[float32, int]{Width: 2}
	for i := range 10 {
		e.Inputs, e.Labels = append(e.Inputs, float32(i), float32(-i)), append(e.Labels, i)
	}
	read := func(seed uint64) (sizes, labels []int) {
		for b := range e.Batches(4, seed) {
			sizes, labels = append(sizes, b.Len()), append(labels, b.Labels...)
			for i, l := range b.Labels {
				if b.Inputs[2*i] != float32(l) || b.Inputs[2*i+1] != float32(-l) {
					t.Errorf("inputs %v of %v", b.Inputs, b.Labels)
				}
			}
		}
		return sizes, labels
	}
	sizes, labels := read(1)
	if _, again := read(1); !slices.Equal(sizes, []int{4, 4, 2}) || !slices.Equal(labels, again) || slices.IsSorted(labels) {
		t.Errorf("batches of %v: %v, again %v", sizes, labels, again)
	}
	if _, other := read(2); slices.Equal(labels, other) {
		t.Errorf("seeds 1 and 2: %v", labels)
	}
	if slices.Sort(labels); !slices.Equal(labels, e.Labels) {
		t.Errorf("labels %v", labels)
	}
	first, rest := e.Split(3, 1)
	both := slices.Sorted(slices.Values(append(slices.Clone(first.Labels), rest.Labels...)))
	if first.Len() != 3 || rest.Width != 2 || len(rest.Inputs) != 14 || !slices.Equal(both, e.Labels) {
		t.Errorf("parts %v and %v", first, rest)
	}
	for range e.Batches(0, 1) { // ends early
		break
	}
}
