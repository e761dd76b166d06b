package lora

import (
	"context"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Gradients returns the derivatives with respect to all matrices, by their names in files, as float32 numbers.
func (a *Adapter) Gradients(s *tensor.Scope) (map[string][]float32, error) {
	all := map[string][]float32{}
	for _, p := range a.list {
		for _, q := range p.parameters() {
			g, err := q.Grad(s)
			if err != nil {
				return nil, err
			}
			if all[prefix+p.layer.Name+q.suffix], err = tensor.Values[float32](s.Context(), s.Use(g).To(dtype.Float32)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Values returns the elements of all parameters by their names in files.
func (a *Adapter) Values(ctx context.Context, s *device.Stream) (map[string][]float32, error) {
	f, err := a.file(ctx, s)
	if err != nil {
		return nil, err
	}
	all := map[string][]float32{}
	for _, t := range f.Tensors {
		if all[t.Name()], err = float32s(t); err != nil {
			return nil, err
		}
	}
	return all, nil
}
