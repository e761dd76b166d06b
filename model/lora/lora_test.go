package lora_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// layers are those of a model with two blocks.
var layers = []lora.Linear{
	{Name: "model.layers.0.self_attn.q_proj", In: 6, Out: 8}, {Name: "model.layers.0.mlp.down_proj", In: 5, Out: 6},
	{Name: "model.layers.1.self_attn.q_proj", In: 6, Out: 8}, {Name: "model.layers.1.mlp.down_proj", In: 5, Out: 6},
}

// newAdapter returns an adapter, which is closed when the test ends.
func newAdapter(t *testing.T, s *device.Stream, o lora.Options) *lora.Adapter {
	t.Helper()
	a, err := lora.New(s, layers, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// fill sets all parameters of an adapter to different numbers.
func fill(t *testing.T, s *device.Stream, a *lora.Adapter) {
	t.Helper()
	err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		m, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		values, rounded := make([]float32, m.Master.Len()), make([]dtype.BF16, m.Master.Len())
		for i := range values {
			values[i] = (float32(i%17) - 8) / 64
			rounded[i] = dtype.BF16From32(values[i])
		}
		if m.Values.DType() == dtype.BFloat16 {
			copied, err := tensor.SliceOf[dtype.BF16](m.Values)
			if err := errors.Join(err, device.UploadTo(s, copied, rounded)); err != nil {
				return err
			}
		}
		return device.UploadTo(s, m.Master, values)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// apply returns what an adapter adds to results of 0 for two rows.
func apply(t *testing.T, s *device.Stream, a *lora.Adapter, l lora.Linear) (list []float32) {
	t.Helper()
	err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) (err error) {
		x := make([]float32, 2*l.In)
		for i := range x {
			x[i] = float32(i) - 4
		}
		y := a.Pair(l.Name).Add(tensor.From(scope, make([]float32, 2*l.Out), 2, l.Out), tensor.From(scope, x, 2, l.In))
		list, err = tensor.Values[float32](t.Context(), y)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestNewChangesNothing(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	a := newAdapter(t, s, lora.Options{Rank: 2, Alpha: 4, Seed: 1})
	if len(a.Layers()) != 4 {
		t.Errorf("%d layers are adapted, want 4", len(a.Layers()))
	}
	for _, v := range apply(t, s, a, layers[0]) {
		if v != 0 {
			t.Fatalf("a new adapter adds %v", v)
		}
	}
	if a.Pair("lm_head") != nil {
		t.Error("lm_head is adapted")
	}
}

// TestScale compares the factors of the two scalings.
func TestScale(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	plain, stable := newAdapter(t, s, lora.Options{Rank: 4, Alpha: 4}), newAdapter(t, s, lora.Options{Rank: 4, Alpha: 4, RankStabilized: true})
	fill(t, s, plain)
	fill(t, s, stable)
	x, y := apply(t, s, plain, layers[1]), apply(t, s, stable, layers[1])
	for i := range x {
		if x[i] == 0 || math.Abs(float64(y[i]/x[i])-2) > 1e-6 {
			t.Errorf("element %d is %v and, rank-stabilized, %v; want twice as much", i, x[i], y[i])
		}
	}
}

// TestFolder writes adapters and reads them again.
func TestFolder(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	for _, o := range []lora.Options{
		{Rank: 2, Alpha: 3, Base: "model.gguf"}, {Rank: 3, Alpha: 1.5, RankStabilized: true, Modules: []string{"q_proj"}},
	} {
		a := newAdapter(t, s, o)
		fill(t, s, a)
		folder := filepath.Join(t.TempDir(), "adapter")
		if err := a.Save(t.Context(), s, folder); err != nil {
			t.Fatal(err)
		}
		b, err := lora.Open(s, layers, folder)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Layers(), b.Layers()) || b.Rank != o.Rank || b.Alpha != o.Alpha || b.RankStabilized != o.RankStabilized || b.Base != o.Base {
			t.Errorf("read %+v of %v, wrote %+v of %v", b.Options, b.Layers(), a.Options, a.Layers())
		}
		for _, l := range a.Layers() {
			if x, y := apply(t, s, a, l), apply(t, s, b, l); !slices.Equal(x, y) {
				t.Errorf("%s adds %v, wrote %v", l.Name, y, x)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStrict opens adapters that do not fit.
func TestStrict(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	for _, x := range []struct {
		name   string
		layers []lora.Linear
		config map[string]any
		drop   string
		want   error
		text   []string
	}{
		{name: "key", config: map[string]any{"lora_bias": true, "rank_pattern": map[string]int{"q_proj": 3}}, want: lora.ErrFormat, text: []string{"lora_bias: true", `rank_pattern: {"q_proj":3}`}},
		{name: "defaults", config: map[string]any{"use_dora": false, "rank_pattern": map[string]int{}, "layers_to_transform": nil, "megatron_core": "megatron.core"}},
		{name: "DoRA", config: map[string]any{"use_dora": true}, want: lora.ErrFormat, text: []string{"layers.1.mlp.down_proj.lora_magnitude_vector is missing"}},
		{name: "dropout", config: map[string]any{"lora_dropout": 1}, want: lora.ErrOptions, text: []string{"dropout 1"}},
		{name: "type", config: map[string]any{"peft_type": "IA3"}, want: lora.ErrFormat, text: []string{`"IA3"`}},
		{name: "bias", config: map[string]any{"bias": "all"}, want: lora.ErrFormat, text: []string{`"all"`}},
		{name: "rank", config: map[string]any{"r": 5}, want: lora.ErrFormat, text: []string{"q_proj.lora_A.weight is [2 6], want [5 6]", "q_proj.lora_B.weight is [8 2], want [8 5]"}},
		{name: "rank 0", config: map[string]any{"r": 0}, want: lora.ErrOptions, text: []string{"rank 0"}},
		{name: "alpha", config: map[string]any{"lora_alpha": -1}, want: lora.ErrOptions, text: []string{"alpha -1"}},
		{name: "module", config: map[string]any{"target_modules": []string{"q_proj", "down_proj", "fc1"}}, want: lora.ErrModule, text: []string{"fc1"}},
		{name: "unnamed module", config: map[string]any{"target_modules": []string{"q_proj"}}, want: lora.ErrModule, text: []string{"model.layers.0.mlp.down_proj.lora_A.weight", "model.layers.1.mlp.down_proj.lora_B.weight"}},
		{name: "pattern", config: map[string]any{"target_modules": ".*_proj"}},
		{name: "other model", layers: layers[:2], want: lora.ErrModule, text: []string{"model.layers.1.self_attn.q_proj.lora_A.weight"}},
		{name: "tensor", drop: "base_model.model.model.layers.1.mlp.down_proj.lora_B.weight", want: lora.ErrFormat, text: []string{"layers.1.mlp.down_proj.lora_B.weight is missing"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := newAdapter(t, s, lora.Options{Rank: 2, Alpha: 4}).Save(t.Context(), s, folder); err != nil {
				t.Fatal(err)
			}
			changeConfig(t, folder, x.config)
			dropTensor(t, folder, x.drop)
			if x.layers == nil {
				x.layers = layers
			}
			a, err := lora.Open(s, x.layers, folder)
			if !errors.Is(err, x.want) {
				t.Fatalf("got %v, want %v", err, x.want)
			}
			for _, part := range x.text {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
			if err == nil {
				err = a.Close()
			}
			if x.want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOtherWidths says that the error for an adapter of a model with other widths has one line, and that the error for many mistakes has four.
func TestOtherWidths(t *testing.T) {
	s, folder := kerneltest.Stream(t, cpu.Open), t.TempDir()
	if err := newAdapter(t, s, lora.Options{Rank: 2, Alpha: 4}).Save(t.Context(), s, folder); err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(layers)
	for i := range other {
		other[i].In += 10
		other[i].Out += 10
	}
	want := fmt.Sprintf("it belongs to another model: %s has %d inputs in the adapter, and %d in the model", layers[0].Name, layers[0].In, other[0].In)
	if _, err := lora.Open(s, other, folder); !errors.Is(err, lora.ErrFormat) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with %q", err, want)
	}
	changeConfig(t, folder, map[string]any{"r": 5})
	if _, err := lora.Open(s, layers, folder); !errors.Is(err, lora.ErrFormat) || strings.Count(err.Error(), "\n") != 3 || !strings.Contains(err.Error(), fmt.Sprint(2*len(layers)-3, " more mistakes")) {
		t.Errorf("got %v, want three mistakes and the number of the others", err)
	}
}

// changeConfig changes keys of the configuration.
func changeConfig(t *testing.T, folder string, change map[string]any) {
	t.Helper()
	name := filepath.Join(folder, "adapter_config.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	for key, value := range change {
		config[key] = value
	}
	if text, err = json.Marshal(config); err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dropTensor removes a tensor.
func dropTensor(t *testing.T, folder, tensor string) {
	t.Helper()
	if tensor == "" {
		return
	}
	name := filepath.Join(folder, "adapter_model.safetensors")
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.DeleteFunc(slices.Clone(f.Tensors), func(x *weights.Tensor) bool { return x.Name() == tensor })
	less, err := weights.New(weights.Contents{Tensors: list})
	if err == nil {
		err = errors.Join(safetensors.Save(name, less), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNewErrors(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	for _, x := range []struct {
		o    lora.Options
		want error
	}{
		{lora.Options{Alpha: 1}, lora.ErrOptions}, {lora.Options{Rank: 1 << 17, Alpha: 1}, lora.ErrOptions}, {lora.Options{Rank: 1}, lora.ErrOptions},
		{lora.Options{Rank: 1, Alpha: math.NaN()}, lora.ErrOptions}, {lora.Options{Rank: 1, Alpha: 1, Modules: []string{"q_proj", "fc1"}}, lora.ErrModule},
	} {
		if _, err := lora.New(s, layers, x.o); !errors.Is(err, x.want) {
			t.Errorf("%+v: %v, want %v", x.o, err, x.want)
		}
	}
	if _, err := lora.Open(s, layers, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}
