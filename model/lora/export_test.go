package lora

import "github.com/gopherwarp/gopherwarp/tensor"

// Gradients returns the derivatives with respect to all matrices, by their names in files.
func (a *Adapter) Gradients(s *tensor.Scope) (map[string][]float32, error) {
	all := map[string][]float32{}
	for _, p := range a.list {
		for suffix, q := range map[string]interface {
			Grad(s *tensor.Scope) (*tensor.Tensor, error)
		}{suffixA: p.a, suffixB: p.b} {
			g, err := q.Grad(s)
			if err != nil {
				return nil, err
			}
			if all[prefix+p.layer.Name+suffix], err = tensor.Values[float32](s.Context(), s.Use(g)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
