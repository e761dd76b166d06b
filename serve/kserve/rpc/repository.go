package rpc

import (
	"context"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
)

// indexQuestion is a request for the list of models.
type indexQuestion struct{ ready bool }

func (q *indexQuestion) read(data []byte) error {
	return fields(data, func(f field) error {
		if f.number == 2 {
			q.ready = f.varint != 0
		}
		return nil
	})
}

// indexAnswer is the list of models.
type indexAnswer []kserve.Indexed

func (a indexAnswer) append(to []byte) []byte {
	for _, x := range a {
		to = message(to, 1, text(text(text(text(nil, 1, x.Name), 2, x.Version), 3, x.State), 4, x.Reason))
	}
	return to
}

// loadQuestion is a request to load or unload a model.
type loadQuestion struct {
	name       string
	parameters int
}

func (q *loadQuestion) read(data []byte) error {
	return fields(data, func(f field) error {
		switch f.number {
		case 2:
			q.name = string(f.bytes)
		case 3:
			q.parameters++
		}
		return nil
	})
}

// load loads the model. The parameters of a load are a configuration and files of the model.
func (q *loadQuestion) load(ctx context.Context, h *kserve.Handler) error {
	if q.parameters > 0 {
		return gate.Unsupported("parameters")
	}
	return h.Load(ctx, q.name)
}

// empty is an answer without fields.
type empty struct{}

func (empty) append(to []byte) []byte { return to }
