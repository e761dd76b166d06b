package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Options are the options of a Repository.
type Options struct {
	// KeepAlive is the time after which an unused model is unloaded. 0 means never.
	KeepAlive time.Duration
	// Changed is called, unless it is nil, when the state of a model has changed. It must not call the Repository or its models.
	Changed func(Status)
}

// A Repository contains models. It is safe for concurrent use.
type Repository struct {
	options Options
	turn    chan struct{} // has an element while a model is being loaded

	mu     sync.Mutex
	models map[string]*unit
}

// New returns a Repository without models.
func New(o Options) *Repository {
	return &Repository{options: o, turn: make(chan struct{}, 1), models: map[string]*unit{}}
}

// Add adds a model without loading it. The function load must load the model, and return the model and a function that frees the model's memory. When
// the Repository is closed during a load, it cancels the context of the load. If the Repository has a model with the same name, the error wraps
// ErrTaken.
func Add[T any](r *Repository, name string, load func(ctx context.Context) (T, func() error, error)) (*Model[T], error) {
	m := &Model[T]{unit{name: name, repository: r, changed: make(chan struct{})}}
	m.load = func(ctx context.Context) (any, func() error, error) { return load(ctx) }
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.models[name] != nil {
		return nil, fmt.Errorf("%w: %q", ErrTaken, name)
	}
	r.models[name] = &m.unit
	return m, nil
}

// list returns the models in the order of their names.
func (r *Repository) list() (all []*unit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.models)) {
		all = append(all, r.models[name])
	}
	return all
}

// find returns the model with a name. If there is none, the error wraps ErrName.
func (r *Repository) find(name string) (*unit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.models[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrName, name)
}

// List returns the Status of each model, in the order of the names.
func (r *Repository) List() (list []Status) {
	for _, m := range r.list() {
		list = append(list, m.Status())
	}
	return list
}

// Status returns the Status of a model. If there is no model with this name, the error wraps ErrName.
func (r *Repository) Status(name string) (Status, error) {
	m, err := r.find(name)
	if err != nil {
		return Status{}, err
	}
	return m.Status(), nil
}

// Load loads a model, unless it is loaded. Unlike Model.Use, Load tries again at once after a load that failed. If there is no model with this name,
// the error wraps ErrName. The other errors are those of Model.Use.
func (r *Repository) Load(ctx context.Context, name string) error {
	m, err := r.find(name)
	if err != nil {
		return err
	}
	return m.Load(ctx)
}

// Unload unloads a model when the uses in progress have ended. Later uses wait, and load the model again. If ctx ends while uses are still in
// progress, the model stays loaded. The error is that of ctx or of the function that frees the memory. If there is no model with this name, the
// error wraps ErrName.
func (r *Repository) Unload(ctx context.Context, name string) error {
	m, err := r.find(name)
	if err != nil {
		return err
	}
	return m.Unload(ctx)
}

// Health returns an error if the loads of all models have failed, and otherwise nil.
func (r *Repository) Health() error {
	var all error
	for _, s := range r.List() {
		if s.State != Failed {
			return nil
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", s.Name, s.Err))
	}
	return all
}

// Close refuses further uses, cancels the load in progress, waits until all uses have ended, and unloads all models.
func (r *Repository) Close() error {
	all := r.list()
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, m := range all {
		closing.Go(func() { errs[i] = m.close() }) // at once, so that no model is loaded after another was closed
	}
	closing.Wait()
	return errors.Join(errs...)
}

// makeRoom unloads the model that has been unused for the longest time. It reports false if all models are in use.
func (r *Repository) makeRoom() bool {
	for {
		var oldest *unit
		var since time.Time
		for _, m := range r.list() {
			if end, ok := m.unused(); ok && (oldest == nil || end.Before(since)) {
				oldest, since = m, end
			}
		}
		if oldest == nil || oldest.evict() {
			return oldest != nil
		}
	} // because the model has been used in the meantime
}
