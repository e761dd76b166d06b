package nn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestUnloaded uses layers without parameters: the results are void, and the error names the function to call.
func TestUnloaded(t *testing.T) {
	type T = *tensor.Tensor
	linear, table := nn.Linear{In: 4, Out: 4}, nn.Embedding{Count: 4, Width: 4}
	biased := nn.Linear{In: 4, Out: 4, Bias: true}
	stacked, norm := nn.Stacked{In: 4, Out: []int{4, 4}}, nn.RMSNorm{Width: 4}
	layer, conv := nn.LayerNorm{Width: 4}, nn.Conv2d{In: 1, Out: 1, Kernel: 1}
	heads := nn.MultiHead{Heads: 2, KeyHeads: 2, HeadDim: 2, QKV: nn.Stacked{In: 4, Out: []int{4, 4, 4}}, O: linear}
	for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16} {
		for name, c := range map[string]struct {
			call string
			f    func(x, numbers T) T
		}{
			"Linear.Forward":      {"Load or NewLinear", func(x, _ T) T { return linear.Forward(x) }},
			"with a bias":         {"Load or NewLinear", func(x, _ T) T { return biased.Forward(x) }},
			"Product":             {"Load or NewLinear", func(x, _ T) T { return linear.Product(x) }},
			"RowNorms":            {"Load or NewLinear", func(x, _ T) T { return linear.RowNorms(x.Scope()) }},
			"ForwardGELU":         {"Load or NewLinear", func(x, _ T) T { return linear.ForwardGELU(x) }},
			"ForwardSum":          {"Load or NewLinear", func(x, _ T) T { return linear.ForwardSum(x, x) }},
			"AddTo":               {"Load or NewLinear", func(x, _ T) T { return linear.AddTo(x.To(dtype.Float32), x) }},
			"CrossEntropy":        {"Load or NewLinear", func(x, n T) T { return linear.CrossEntropy(x, n) }},
			"biased CrossEntropy": {"Load or NewLinear", func(x, n T) T { return biased.CrossEntropy(x, n) }},
			"Linear.Scores":       {"Load or NewRMSNorm", func(x, _ T) T { return linear.Scores(&norm, x) }},
			"Embedding.Forward":   {"Load or NewEmbedding", func(_, n T) T { return table.Forward(n) }},
			"Embedding.Losses":    {"Load or NewEmbedding", func(x, n T) T { return table.Losses(x, n) }},
			"SumForward": {"Load or NewEmbedding", func(_, n T) T {
				return nn.SumForward([3]*nn.Embedding{&table, &table, &table}, [3]*tensor.Tensor{n, n, n})
			}},
			"Stacked.Forward":   {"Load or NewStacked", func(x, _ T) T { return stacked.Forward(x)[1] }},
			"Stacked.SwiGLU":    {"Load or NewRMSNorm", func(x, _ T) T { return stacked.SwiGLU(&norm, x) }},
			"RMSNorm.Forward":   {"Load or NewRMSNorm", func(x, _ T) T { return norm.Forward(x) }},
			"LayerNorm.Forward": {"Load or NewLayerNorm", func(x, _ T) T { return layer.Forward(x) }},
			"Conv2d.Forward":    {"Load", func(x, _ T) T { return conv.Forward(x.Reshape(1, 2, 4, 1)) }},
			"MultiHead.Forward": {"Load or NewStacked", func(x, _ T) T { return heads.Forward(x, nn.MultiHeadOptions{}) }},
		} {
			err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
				y := c.f(tensor.Zeros(s, of, 2, 4), tensor.Zeros(s, dtype.Int32, 2))
				if y.Err() == nil {
					t.Errorf("%s of %v: no error", name, of)
				}
				return nil
			})
			var e *tensor.Error
			if !errors.Is(err, nn.ErrUnloaded) || !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), "nn: the layer has no parameters: call "+c.call) || !strings.HasPrefix(e.Line, "unloaded_test.go:") {
				t.Errorf("%s of %v: %v, want: call %s", name, of, err, c.call)
			}
		}
	}
}
