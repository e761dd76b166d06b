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

// TestScaler takes steps with losses that are scaled: a step whose derivatives overflow float16 is skipped and changes nothing but the scale, and
// the steps that follow give the same parameters as without a scale. All of it with moments of 8 and of 32 bits.
func TestScaler(t *testing.T) {
	for name, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		for _, eightBit := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				stream := kerneltest.Stream(t, open)
				x := train.NewScaler()
				p := nn.NewParams(stream, nn.Options{DType: dtype.Float16})
				m := &model{p, p.Parameter([]float32{2, 0, -1, 3}, 4), train.NewAdamW(p, train.AdamWOptions{Rate: 0.05, Decay: 0.1, Clip: 5, EightBit: eightBit, Scaler: x})}
				// step takes a step and returns the parameters and the norm.
				step := func(factor float64) (values []float32, norm float64) {
					t.Helper()
					err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) (err error) {
						s.Record()
						w := m.w.In(s)
						loss := w.AddScalar(-1).Square().Mul(tensor.From(s, []float32{1, 2, 3, 4}, 4).To(w.DType())).To(dtype.Float32).Sum()
						s.Backward(loss.Scale(factor * x.Scale()))
						if err := m.opt.Step(s); err != nil {
							return err
						}
						values = m.master(t, s)
						norm, err = m.opt.Norm(s)
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
					return values, norm
				}
				values, norm := step(1) // 65536 * 2*4*2 overflows
				if !slices.Equal(values, []float32{2, 0, -1, 3}) || !(math.IsInf(norm, 0) || math.IsNaN(norm)) || m.opt.Steps() != 0 {
					t.Errorf("the first step gives %v, a norm of %g, and %d steps", values, norm, m.opt.Steps())
				}
				if got, want := x.State(), (train.Scaling{Scale: 32768, Skipped: 1}); got != want {
					t.Errorf("after an overflow %+v, want %+v", got, want)
				}
				for x.Scale() > 2048 {
					step(1)
				}
				for x.State().Good < 10 {
					values, norm = step(1)
				}
				for i, want := range expected(10, settings{rate: 0.05, decay: 0.1, limit: 5}) {
					if math.Abs(float64(values[i])-want) > 2e-3 {
						t.Errorf("parameter %d is %g, want %g", i, values[i], want)
					}
				}
				if state := x.State(); state.Skipped < 3 || m.opt.Steps() != 10 || !(norm > 1 && norm < 40) {
					t.Errorf("%+v after %d steps, a norm of %g", state, m.opt.Steps(), norm)
				}
				before := x.State()
				x.Restore(train.Scaling{Scale: 4, Good: 1999, Skipped: before.Skipped})
				if step(1); x.State() != (train.Scaling{Scale: 8, Skipped: before.Skipped}) {
					t.Errorf("after 2000 steps %+v", x.State())
				}
				if err := errors.Join(m.close()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
