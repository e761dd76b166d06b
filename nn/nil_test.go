package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// all has a layer of each kind, for vectors of 32 elements.
type all struct {
	Linear nn.Linear    `weights:"a"`
	Pair   nn.Stacked   `weights:"{b,c}"`
	Table  nn.Embedding `weights:"d"`
	Norm   nn.RMSNorm   `weights:"e"`
	Layer  nn.LayerNorm `weights:"f"`
	Heads  nn.MultiHead `weights:"g"`
	Conv   nn.Conv2d    // only in trained and unloaded models
}

const wide = 32

func unloadedLayers() *all {
	heads := nn.MultiHead{Heads: 2, KeyHeads: 2, HeadDim: wide / 2, QKV: nn.Stacked{In: wide, Out: []int{wide, wide, wide}}, O: nn.Linear{In: wide, Out: wide}}
	return &all{nn.Linear{In: wide, Out: wide}, nn.Stacked{In: wide, Out: []int{wide, wide}}, nn.Embedding{Count: 4, Width: wide},
		nn.RMSNorm{Width: wide}, nn.LayerNorm{Width: wide}, heads, nn.Conv2d{In: 1, Out: 1, Kernel: 1}}
}

func trainedLayers(p *nn.Params) *all {
	return &all{nn.NewLinear(p, wide, wide), nn.NewStacked(p, wide, wide, wide), nn.NewEmbedding(p, 4, wide), nn.NewRMSNorm(p, wide, 1e-5),
		nn.NewLayerNorm(p, wide, 1e-5), nn.NewMultiHead(p, 2, 2, wide/2), nn.Conv2d{In: 1, Out: 1, Kernel: 1}}
}

// loadedLayers returns layers whose matrices have a type.
func loadedLayers(t *testing.T, p *nn.Params, of weights.Type) *all {
	t.Helper()
	var list []entry
	for _, name := range []string{"a", "b", "c", "g.q_proj", "g.k_proj", "g.v_proj", "g.o_proj"} {
		list = append(list, entry{name + ".weight", of, []int{wide, wide}, numbers(wide * wide)})
	}
	list = append(list, entry{"d.weight", of, []int{4, wide}, numbers(4 * wide)})
	for _, name := range []string{"e.weight", "f.weight", "f.bias"} {
		list = append(list, entry{name, weights.F32, []int{wide}, numbers(wide)})
	}
	m := unloadedLayers()
	var from struct {
		Linear nn.Linear    `weights:"a"`
		Pair   nn.Stacked   `weights:"{b,c}"`
		Table  nn.Embedding `weights:"d"`
		Norm   nn.RMSNorm   `weights:"e"`
		Layer  nn.LayerNorm `weights:"f"`
		Heads  nn.MultiHead `weights:"g"`
	}
	from.Linear, from.Pair, from.Table, from.Norm, from.Layer, from.Heads = m.Linear, m.Pair, m.Table, m.Norm, m.Layer, m.Heads
	if err := nn.Load(p, &from, file(t, "", list...), nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	return &all{from.Linear, from.Pair, from.Table, from.Norm, from.Layer, from.Heads, m.Conv}
}

// calls are all functions of layers, for vectors and for numbers of the table.
func (m *all) calls() map[string]func(x, numbers *tensor.Tensor) *tensor.Tensor {
	type T = *tensor.Tensor
	first := func(y T, _ bool) T { return y }
	return map[string]func(x, n T) T{
		"Linear.Forward":      func(x, _ T) T { return m.Linear.Forward(x) },
		"Linear.Product":      func(x, _ T) T { return m.Linear.Product(x) },
		"Linear.ForwardGELU":  func(x, _ T) T { return m.Linear.ForwardGELU(x) },
		"Linear.ForwardSum":   func(x, _ T) T { return m.Linear.ForwardSum(x, x) },
		"Linear.AddTo":        func(x, _ T) T { return m.Linear.AddTo(x, x) },
		"Linear.Scores":       func(x, _ T) T { return m.Linear.Scores(&m.Norm, x) },
		"Linear.CrossEntropy": func(x, n T) T { return m.Linear.CrossEntropy(x, n) },
		"Linear.Losses":       func(x, n T) T { return m.Linear.Losses(x, n) },
		"Stacked.Forward":     func(x, _ T) T { return m.Pair.Forward(x)[1] },
		"Stacked.SwiGLU":      func(x, _ T) T { return m.Pair.SwiGLU(&m.Norm, x) },
		"Stacked.Gated":       func(x, _ T) T { return m.Pair.Gated(x) },
		"Stacked.Together":    func(x, _ T) T { return first(m.Pair.Together(x)) },
		"Stacked.NormTogether": func(x, _ T) T {
			return first(m.Pair.NormTogether(&m.Norm, x))
		},
		"Stacked.CanRotate": func(x, _ T) T {
			m.Pair.CanRotate(&m.Norm, x)
			return nil
		},
		"Embedding.Forward":      func(_, n T) T { return m.Table.Forward(n) },
		"Embedding.Scores":       func(x, _ T) T { return m.Table.Scores(&m.Norm, x) },
		"Embedding.CrossEntropy": func(x, n T) T { return m.Table.CrossEntropy(x, n) },
		"Embedding.Losses":       func(x, n T) T { return m.Table.Losses(x, n) },
		"SumForward": func(_, n T) T {
			return nn.SumForward([3]*nn.Embedding{&m.Table, &m.Table, &m.Table}, [3]T{n, n, n})
		},
		"RMSNorm.Forward":       func(x, _ T) T { return m.Norm.Forward(x) },
		"LayerNorm.Forward":     func(x, _ T) T { return m.Layer.Forward(x) },
		"MultiHead.Forward":     func(x, _ T) T { return m.Heads.Forward(x, nn.MultiHeadOptions{}) },
		"MultiHead.AddTo":       func(x, _ T) T { return m.Heads.AddTo(x, x, nn.MultiHeadOptions{}) },
		"MultiHead.ForwardFrom": func(x, _ T) T { return m.Heads.ForwardFrom(x, x, nn.MultiHeadOptions{}) },
		"Conv2d.Forward":        func(x, _ T) T { return m.Conv.Forward(x) },
		"Conv2d.ForwardSum":     func(x, _ T) T { return m.Conv.ForwardSum(x, x) },
		"Dropout.Forward":       func(x, _ T) T { return nn.Dropout{Rate: 0.5}.Forward(x) },
	}
}

// optional are functions that return false, or nothing, instead of a mistake.
var optional = []string{"Stacked.Together", "Stacked.NormTogether", "Stacked.CanRotate"}

// TestNil says that a layer whose argument is nil, or is void and has no Scope, returns a void tensor with this mistake, and does not panic.
func TestNil(t *testing.T) {
	for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16} {
		err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
			p := nn.NewParams(s.Stream(), nn.Options{DType: of})
			defer p.Close()
			models := map[string]*all{"unloaded": unloadedLayers()}
			for _, m := range []weights.Type{weights.F32, weights.F16, weights.BF16, weights.Q8_0} {
				models[fmt.Sprint(m)] = loadedLayers(t, p, m)
			}
			models["trained"] = trainedLayers(p)
			for name, m := range models {
				for call, f := range m.calls() {
					name := fmt.Sprintf("%v, %s: %s", of, name, call)
					checkVoid(t, name, tensor.ErrValue, call, func() *tensor.Tensor { return f(nil, nil) })
					void := tensor.Concat(0)
					checkVoid(t, name+" of a void tensor", void.Err(), call, func() *tensor.Tensor { return f(void, void) })
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// checkVoid calls a layer, which must return a void tensor.
func checkVoid(t *testing.T, name string, want error, call string, f func() *tensor.Tensor) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", name, r)
		}
	}()
	y := f()
	switch {
	case y == nil && slices.Contains(optional, call):
	case y == nil:
		t.Errorf("%s: nil", name)
	case !errors.Is(y.Err(), want):
		t.Errorf("%s: %v, want %v", name, y.Err(), want)
	}
}
