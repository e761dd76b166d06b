package lora_test

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// gradients returns the derivatives with respect to all parameters, by their names in files.
func gradients(s *tensor.Scope, a *lora.Adapter) (map[string][]float32, error) {
	m, err := a.Params().Memory(s)
	if err != nil {
		return nil, err
	}
	all, err := tensor.Values[float32](s.Context(), s.Use(m.Grads).To(dtype.Float32))
	if err != nil {
		return nil, err
	}
	return named(a, m, all)
}

// values returns the elements of all parameters by their names in files.
func values(ctx context.Context, s *device.Stream, a *lora.Adapter) (byName map[string][]float32, err error) {
	err = tensor.RunOn(ctx, s, func(scope *tensor.Scope) error {
		m, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		all := make([]float32, m.Master.Len())
		if err := device.Download(s, all, m.Master); err != nil {
			return err
		}
		if err := s.Synchronize(ctx); err != nil {
			return err
		}
		byName, err = named(a, m, all)
		return err
	})
	return byName, err
}

// named splits numbers that are laid out as the parameters are in memory: the matrices of all layers, then their norms.
func named(a *lora.Adapter, m *nn.Memory, all []float32) (map[string][]float32, error) {
	var names []string
	for _, l := range a.Layers() {
		names = append(names, "base_model.model."+l.Name+".lora_A.weight", "base_model.model."+l.Name+".lora_B.weight")
	}
	if a.DoRA {
		for _, l := range a.Layers() {
			names = append(names, "base_model.model."+l.Name+".lora_magnitude_vector")
		}
	}
	begins, sizes := m.Layout()
	if len(begins) != len(names) {
		return nil, fmt.Errorf("%d parameters, want %q", len(begins), names)
	}
	byName := map[string][]float32{}
	for i, name := range names {
		byName[name] = all[begins[i]:][:sizes[i]]
	}
	return byName, nil
}
