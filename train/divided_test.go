package train_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// TestDivided takes a step with each of two optimizers, of which one has half of the parameters: both clip by the norm of all derivatives, and clear
// them. A step without Measure is an error.
func TestDivided(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	const n, rate = 1000, 0.1
	for rank := range 2 {
		p := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
		w := p.Parameter(make([]float32, n), n/10, 10)
		if err := p.Divide(nn.Division{Rank: rank, World: 2, Bucket: n}); err != nil {
			t.Fatal(err)
		}
		opt := train.NewSGD(p, train.SGDOptions{Rate: rate, Clip: 1})
		err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
			if err := opt.Step(s); !errors.Is(err, train.ErrMeasure) {
				t.Errorf("a step without Measure: %v", err)
			}
			s.Record()
			s.Backward(w.In(s).AddScalar(2).Square().Sum()) // derivatives of 4
			norms, err := opt.Measure(s)
			if err != nil {
				return err
			}
			parts, all := make([]float32, 2), 4*math.Sqrt(n)
			if err := errors.Join(device.Download(stream, parts, norms), stream.Synchronize(t.Context())); err != nil {
				return err
			}
			parts[1-rank] = float32(math.Sqrt(all*all - float64(parts[rank]*parts[rank])))
			if err := errors.Join(device.UploadTo(stream, norms, parts), opt.Step(s)); err != nil {
				return err
			}
			if norm, err := opt.Norm(s); err != nil || math.Abs(norm/all-1) > 1e-6 {
				t.Errorf("rank %d: the norm is %g, want %g, %v", rank, norm, all, err)
			}
			m, err := p.Memory(s)
			if err != nil {
				return err
			}
			got, err := tensor.Values[float32](t.Context(), s.Use(m.Values))
			grads, failed := tensor.Values[float32](t.Context(), s.Use(m.Grads))
			if err := errors.Join(err, failed); err != nil {
				return err
			}
			for i, v := range got {
				want := 0.0
				if i < n && slices.ContainsFunc(m.Parts, func(p nn.Part) bool { return i >= p.Begin && i < p.End }) {
					want = -rate * 4 / all
				}
				if math.Abs(float64(v)-want) > 1e-6 || grads[i] != 0 {
					t.Fatalf("rank %d: element %d is %g, want %g; its derivative is %g", rank, i, v, want, grads[i])
				}
			}
			return nil
		})
		if err := errors.Join(err, opt.Close(), p.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
