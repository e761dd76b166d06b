package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// Find returns the resolved name (see Resolve) and its model. For the name of an adapter, it returns the adapter's model (see Options.Adapters). Find
// loads the model if it is not loaded. ctx is the context of the request that Guard has passed to a Handler, or the context that Hold has passed to its
// function. The model stays loaded until this Handler or function returns. FailureOf converts the error to a Failure.
func (g *Gate) Find(ctx context.Context, name string) (string, Model, error) {
	return g.find(ctx, name, func(m *repository.Model[Model]) (Model, func(), error) { return m.Use(ctx) })
}

// Peek is like Find, but does not load the model: if the model is not loaded, the error is a Failure. Peek does not count as a use for
// repository.Options.KeepAlive.
func (g *Gate) Peek(ctx context.Context, name string) (string, Model, error) {
	return g.find(ctx, name, func(m *repository.Model[Model]) (Model, func(), error) {
		found, release, ok := m.Peek()
		if !ok {
			s := m.Status()
			message := fmt.Sprintf("the model %q is %v; a request to generate a text loads it", s.Name, s.State)
			return nil, nil, Failure{Status: http.StatusServiceUnavailable, Code: "model_not_loaded", Message: message, Retry: time.Second}
		}
		return found, release, nil
	})
}

// find returns the resolved name and the model for a name in a request. The function of returns a model that is loaded on demand.
func (g *Gate) find(ctx context.Context, name string, of func(*repository.Model[Model]) (Model, func(), error)) (string, Model, error) {
	name, err := g.Resolve(name)
	if err != nil {
		return "", nil, err
	}
	model := g.modelOf(name)
	m := g.Models[model]
	if on := g.OnDemand[model]; on != nil {
		var release func()
		if m, release, err = of(on); err != nil {
			return "", nil, err
		}
		hold(ctx, release)
	}
	if m == nil {
		return "", nil, WrongKind(name)
	}
	describeModel(ctx, name)
	if model != name {
		t, err := TokenizedOf(m)
		return name, adapted{t, name}, err
	}
	return name, m, nil
}

// modelOf returns the model of an adapter, or the name of a model itself.
func (g *Gate) modelOf(name string) string {
	if of, isAdapter := g.Adapters[name]; isAdapter {
		return of
	}
	return name
}

// Status returns the state of a model, or of an adapter's model. A model that is not in Options.Repository is always ready.
func (g *Gate) Status(name string) repository.Status {
	if g.Repository != nil {
		if s, err := g.Repository.Status(g.modelOf(name)); err == nil {
			return s
		}
	}
	return repository.Status{Name: name, State: repository.Ready}
}

// Load loads the model that a request names. FailureOf converts the error to a Failure.
func (g *Gate) Load(ctx context.Context, name string) error {
	return g.change(name, func(r *repository.Repository) error { return r.Load(ctx, name) })
}

// Unload waits until no other request uses the model that a request names, and unloads the model. FailureOf converts the error to a Failure.
func (g *Gate) Unload(ctx context.Context, name string) error {
	return g.change(name, func(r *repository.Repository) error { return r.Unload(ctx, name) })
}

// change loads or unloads the model with a name.
func (g *Gate) change(name string, f func(*repository.Repository) error) error {
	if name == "" {
		return Invalid("model", "there is none")
	}
	if _, err := g.Resolve(name); err != nil {
		return err
	}
	err := repository.ErrName
	if g.Repository != nil {
		err = f(g.Repository)
	}
	if errors.Is(err, repository.ErrName) { // an adapter, or a model that is always loaded
		return Failure{Status: http.StatusBadRequest, Param: "model", Message: fmt.Sprintf("%q cannot be loaded or unloaded", name)}
	}
	return err
}
