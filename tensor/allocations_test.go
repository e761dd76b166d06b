//go:build !race

package tensor_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// An operation allocates its result at once, and nothing else. With the race detector, the CPU device allocates for each kernel.
func TestAllocations(t *testing.T) {
	dev := kerneltest.Device(t, cpu.Open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
		row := tensor.From(s, []float32{5, 6}, 2)
		for name, f := range map[string]func() *tensor.Tensor{
			"Add":      func() *tensor.Tensor { return x.Add(x) },
			"Add rows": func() *tensor.Tensor { return x.Add(row) },
			"Exp":      func() *tensor.Tensor { return x.Exp() },
			"Scale":    func() *tensor.Tensor { return x.Scale(2) },
			"Sum":      func() *tensor.Tensor { return x.Sum(1) },
			"MatMul":   func() *tensor.Tensor { return x.MatMul(x) },
			"T":        func() *tensor.Tensor { return x.T() },
			"Reshape":  func() *tensor.Tensor { return x.Reshape(4) },
			"Slice":    func() *tensor.Tensor { return x.Slice(0, 1, 2) },
		} {
			const calls = 50
			frame := func() {
				s.Tidy(func() *tensor.Tensor {
					for range calls {
						f()
					}
					return nil
				})
			}
			if n := testing.AllocsPerRun(20, frame) / calls; n >= 1.5 { // each frame allocates too, and so may the device
				t.Errorf("%s: %.2f allocations", name, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
