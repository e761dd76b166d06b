package train_test

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
	"github.com/gopherwarp/gopherwarp/train"
)

// TestRestore takes four steps, and two steps with each of two optimizers, of which the second continues: the values have the same bits.
func TestRestore(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	run := func(f func(s *tensor.Scope) error) {
		t.Helper()
		if err := tensor.RunOn(t.Context(), stream, f); err != nil {
			t.Fatal(err)
		}
	}
	steps := func(n int, initial []float32, from train.State) (values []float32, state train.State) {
		p := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
		x, opt := p.Parameter(initial, len(initial)), train.NewAdamW(p, train.AdamWOptions{Rate: 0.1, Clip: 1, Schedule: train.Linear(4, 0)})
		run(func(s *tensor.Scope) error { return opt.Restore(s, from) })
		for range n {
			run(func(s *tensor.Scope) error {
				s.Record()
				s.Backward(x.In(s).Square().Sum())
				return opt.Step(s)
			})
		}
		run(func(s *tensor.Scope) (err error) {
			if values, err = tensor.Values[float32](t.Context(), x.In(s)); err == nil {
				state, err = opt.State(s)
			}
			return err
		})
		if err := errors.Join(opt.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		return values, state
	}
	initial := []float32{1, -2, 3}
	want, _ := steps(4, initial, train.State{})
	half, state := steps(2, initial, train.State{})
	if got, last := steps(2, half, state); !slices.Equal(got, want) || last.Steps != 4 {
		t.Errorf("%v after %d steps, want %v", got, last.Steps, want)
	}
	p := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
	p.Parameter(initial, 3)
	opt := train.NewAdamW(p, train.AdamWOptions{})
	run(func(s *tensor.Scope) error {
		if err := opt.Restore(s, train.State{Steps: 1, Moments: []float32{1}}); !errors.Is(err, train.ErrOptions) {
			t.Errorf("a State of another optimizer: %v", err)
		}
		return nil
	})
	if err := errors.Join(opt.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

func TestLinear(t *testing.T) {
	s := train.Linear(4, 0.2)
	for step, want := range []float64{1, 0.8, 0.6, 0.4, 0.2, 0.2} {
		if got := s(step); math.Abs(got-want) > 1e-12 {
			t.Errorf("step %d: %g, want %g", step, got, want)
		}
	}
}
