package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// keep and forget are what programs of forgotten do with results.
func keep(x *tensor.Tensor) *tensor.Tensor   { return x }
func forget(x *tensor.Tensor) *tensor.Tensor { return x.Forget() }

// forgotten computes layers of norms and SwiGLU, applies f to their results, and returns the derivative of the loss, and the bytes in use
// before Backward.
func forgotten(t *testing.T, open kerneltest.Opener, of dtype.Type, f func(x *tensor.Tensor) *tensor.Tensor) (grad []float32, used int64) {
	t.Helper()
	dev := kerneltest.Device(t, open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		s.Seed(3)
		start := tensor.Normal(s, dtype.Float32, 16, 64)
		weight := tensor.Normal(s, dtype.Float32, 64, 64).Scale(0.1).To(of)
		gain := tensor.Uniform(s, dtype.Float32, 64)
		s.Record()
		x, w, g := s.Variable(start), s.Variable(weight), s.Variable(gain)
		y := x
		for range 3 {
			y = s.Tidy(func() *tensor.Tensor {
				n := f(y.RMSNorm(g, tensor.NormOptions{Epsilon: 1e-5, DType: of}))
				act := f(tensor.SwiGLU(n.MatMul(w), n.Linear(w, nil)))
				act = f(act.Neg()) // which Forget does not change
				return y.Add(f(act.RMSNorm(g, tensor.NormOptions{Epsilon: 1e-5, DType: of})).MatMul(w))
			})
		}
		stats, err := dev.MemoryStats()
		used = stats.Used
		s.Backward(y.Square().Sum())
		for _, v := range []*tensor.Tensor{x, w, g} {
			list, failed := tensor.Values[float32](t.Context(), v.Grad().To(dtype.Float32))
			grad, err = append(grad, list...), errors.Join(err, failed)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if stats, err := dev.MemoryStats(); err != nil || stats.Used != 0 {
		t.Errorf("%d bytes are in use at the end, %v", stats.Used, err)
	}
	return grad, used
}

// TestForget compares derivatives of programs that keep and that forget results: they have the same bits, in less memory. The interpreter has one type.
func TestForget(t *testing.T) {
	for name, open := range kerneltest.Some() {
		for i, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			if name == "interp" && !sweep.Every(2, i) {
				continue
			}
			t.Run(name+"/"+of.String(), func(t *testing.T) {
				want, kept := forgotten(t, open, of, keep)
				got, used := forgotten(t, open, of, forget)
				if !slices.Equal(got, want) {
					t.Error("derivatives differ")
				}
				n := int64(6) // those that products need, of 16*64 elements
				if of == dtype.BFloat16 {
					n = 3 // CPUs have no kernel for norms of bfloat16 elements
				}
				if less := n * int64(16*64*of.Size()); used > kept-less {
					t.Errorf("%d bytes in use, without Forget %d; want %d less", used, kept, less)
				}
			})
		}
	}
}

// TestForgetChanged changes what a forgotten result is computed from: Backward reports it. Forget of constants, and without Backward, has no effect.
func TestForgetChanged(t *testing.T) {
	err := tensor.Run(t.Context(), kerneltest.Device(t, kerneltest.Executions()["scalar"]), func(s *tensor.Scope) error {
		x, g := tensor.Full(s, 2, dtype.Float32, 3, 4), tensor.Full(s, 1, dtype.Float32, 4)
		if y := x.RMSNorm(g, tensor.NormOptions{}).Forget(); y.Sum().Err() != nil {
			t.Error(y.Err())
		}
		s.Record()
		v, w := s.Variable(x), s.Variable(tensor.Full(s, 1, dtype.Float32, 4, 4))
		y := s.Tidy(func() *tensor.Tensor { return v.RMSNorm(g, tensor.NormOptions{}).Forget().MatMul(w) })
		tensor.Changed(v)
		s.Backward(y.Sum())
		return nil
	})
	if !errors.Is(err, tensor.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	err = tensor.Run(t.Context(), kerneltest.Device(t, kerneltest.Executions()["scalar"]), func(s *tensor.Scope) error {
		s.Record()
		v, w := s.Variable(tensor.Full(s, 2, dtype.Float32, 3, 4)), tensor.Full(s, 1, dtype.Float32, 4, 4)
		s.Tidy(func() *tensor.Tensor {
			return v.RMSNorm(tensor.Full(s, 1, dtype.Float32, 4), tensor.NormOptions{}).Forget().MatMul(w)
		})
		return nil // the Scope ends without Backward
	})
	if err != nil {
		t.Error(err)
	}
}
