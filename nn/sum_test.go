package nn_test

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestForwardSum compares sums of products in all types, of few and of many rows, with those in float64.
func TestForwardSum(t *testing.T) {
	const in, out = 32, 16
	w, b := numbers(out*in), numbers(out)
	for of, tolerance := range map[dtype.Type]float64{dtype.Float32: 1e-6, dtype.BFloat16: 0x1p-7, dtype.Float16: 0x1p-10} {
		for _, rows := range []int{1, 5, 40} {
			withType(t, of, func(s *tensor.Scope, p *nn.Params) {
				var model struct {
					Up nn.Linear `weights:"up"`
				}
				model.Up = nn.Linear{In: in, Out: out, Bias: true}
				f := file(t, "safetensors", entry{"up.weight", weights.F32, []int{out, in}, w}, entry{"up.bias", weights.F32, []int{out}, b})
				if err := nn.Load(p, &model, f, nn.LoadOptions{}); err != nil {
					t.Fatal(err)
				}
				x, to := numbers(rows*in), numbers(rows*out)
				y := model.Up.ForwardSum(tensor.From(s, x, rows, in).To(of), tensor.From(s, to, rows, out).To(of))
				if y.DType() != of {
					t.Errorf("the result is of %v, want %v", y.DType(), of)
				}
				got, err := tensor.Values[float32](t.Context(), y.To(dtype.Float32))
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range got {
					want := float64(to[i]) + float64(b[i%out])
					for k := range in {
						want += float64(x[i/out*in+k]) * float64(w[i%out*in+k])
					}
					if !(math.Abs(float64(g)-want) <= tolerance*math.Max(math.Abs(want), 1)) {
						t.Fatalf("%v, %d rows: element %d is %v, want %v", of, rows, i, g, want)
					}
				}
			})
		}
	}
}

// withType calls f with parameters whose activations have a type.
func withType(t *testing.T, of dtype.Type, f func(s *tensor.Scope, p *nn.Params)) {
	t.Helper()
	err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		p := nn.NewParams(s.Stream(), nn.Options{DType: of})
		f(s, p)
		return p.Close()
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFloat16 loads matrices of all dense types as float16, and computes with dense, quantized and trained ones: products of quantized ones have float32 vectors.
func TestFloat16(t *testing.T) {
	table := numbers(5 * 32)
	for _, of := range []weights.Type{weights.F32, weights.F16, weights.BF16} {
		withType(t, dtype.Float16, func(s *tensor.Scope, p *nn.Params) {
			var model struct {
				Embed nn.Embedding `weights:"embed"`
			}
			model.Embed = nn.Embedding{Count: 5, Width: 32}
			if err := nn.Load(p, &model, file(t, "", entry{"embed.weight", of, []int{5, 32}, table}), nn.LoadOptions{}); err != nil {
				t.Fatal(err)
			}
			if p.Activations() != dtype.Float16 || p.Bytes() != 2*5*32 {
				t.Errorf("activations are %v, and parameters have %d bytes", p.Activations(), p.Bytes())
			}
			same(t, model.Embed.Forward(tensor.From(s, []int32{4, 7}, 2)), []int{2, 32}, append(table[128:160:160], make([]float32, 32)...))
		})
	}
	values, x := numbers(3*32), numbers(2*32)
	want := make([]float32, 2*3)
	for i := range 2 {
		for j := range 3 {
			for k := range 32 {
				want[3*i+j] += x[32*i+k] * values[32*j+k]
			}
		}
	}
	for name, train := range map[weights.Type]bool{weights.F32: false, weights.Q8_0: false, weights.BF16: true} {
		withType(t, dtype.Float16, func(s *tensor.Scope, p *nn.Params) {
			var model struct {
				Up nn.Linear `weights:"up"`
			}
			model.Up = nn.Linear{In: 32, Out: 3}
			if err := nn.Load(p, &model, file(t, "", entry{"up.weight", name, []int{3, 32}, values}), nn.LoadOptions{Train: train}); err != nil {
				t.Fatal(err)
			}
			in := tensor.From(s, x, 2, 32).To(dtype.Float16)
			close16(t, model.Up.Forward(in), dtype.Float16, want)
			sum := model.Up.AddTo(tensor.Zeros(s, dtype.Float32, 2, 3), in)
			close16(t, sum, dtype.Float32, want)
			s.Record()
			v := s.Variable(in)
			s.Backward(model.Up.Forward(v).To(dtype.Float32).Sum())
			back := make([]float32, 2*32)
			for i := range back {
				for j := range 3 {
					back[i] += values[32*j+i%32]
				}
			}
			close16(t, v.Grad(), dtype.Float16, back)
		})
	}
}

// close16 compares a tensor with numbers, which may have been rounded to 8 bits.
func close16(t *testing.T, x *tensor.Tensor, of dtype.Type, want []float32) {
	t.Helper()
	got, err := tensor.Values[float32](t.Context(), x.To(dtype.Float32))
	if err != nil || x.DType() != of {
		t.Fatalf("%v of %v, %v", x.Shape(), x.DType(), err)
	}
	for i, v := range want {
		if math.Abs(float64(got[i]-v)) > 0.03*(1+math.Abs(float64(v))) {
			t.Errorf("element %d is %g, want %g", i, got[i], v)
		}
	}
}
