package gate

import (
	"cmp"
	"context"
)

// Scaled is an element of the field lora of a request to llama-server: ID is the adapter's index in AdaptersOf, and Scale multiplies what the adapter
// adds.
type Scaled struct {
	ID    int     `json:"id"`
	Scale float64 `json:"scale"`
}

// Chosen returns the name of the adapter with the scale 1, or "" if there is none. names are the model's adapters. The error is a Failure.
func Chosen(list []Scaled, names []string) (chosen string, err error) {
	for _, s := range list {
		switch {
		case s.ID < 0 || s.ID >= len(names):
			return "", Invalid("id", "there is no adapter %d", s.ID)
		case s.Scale == 0:
		case s.Scale != 1 || chosen != "":
			return "", Invalid("lora", "a scale other than 0 and 1, or more than one adapter, is not supported")
		default:
			chosen = names[s.ID]
		}
	}
	return chosen, nil
}

// FindScaled is like Find, for a request with the field lora. Unless the list is empty, it takes precedence over the name of an adapter.
func (g *Gate) FindScaled(ctx context.Context, name string, list []Scaled) (string, Model, error) {
	if len(list) > 0 {
		resolved, err := g.Resolve(name)
		if err != nil {
			return "", nil, err
		}
		of := g.modelOf(resolved)
		chosen, err := Chosen(list, g.AdaptersOf(of))
		if err != nil {
			return "", nil, err
		}
		name = cmp.Or(chosen, of)
	}
	return g.Find(ctx, name)
}
