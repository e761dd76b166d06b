package rpc

import (
	"context"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
)

// repositoryQuestion is a request to list, load or unload models. Field 2 is a bool in a request for the list, and a name in the
// others.
type repositoryQuestion struct {
	ready      bool   // of a list: only models that are ready
	name       string // of a model to load or unload
	parameters int
}

func (q *repositoryQuestion) read(data []byte) error {
	return fields(data, func(f field) error {
		switch f.number {
		case 2:
			q.ready, q.name = f.varint != 0, string(f.bytes)
		case 3:
			q.parameters++
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

// load loads the model. The parameters of a load are a configuration and files of the model.
func (q *repositoryQuestion) load(ctx context.Context, h *kserve.Handler) error {
	if q.parameters > 0 {
		return gate.Unsupported("parameters")
	}
	return h.Load(ctx, q.name)
}

// empty is an answer without fields.
type empty struct{}

func (empty) append(to []byte) []byte { return to }
