package repository

import "context"

// A Model is a model that a Repository loads when the model is used, or a model that is always loaded (see Loaded). It is safe for concurrent use.
// Its methods Status, Load and Unload are like those of the Repository.
type Model[T any] struct{ unit }

// Loaded returns a Model that is loaded and belongs to no Repository. The caller frees the memory of value.
func Loaded[T any](value T) *Model[T] {
	return &Model[T]{unit{repository: New(Options{}), state: Ready, value: value, changed: make(chan struct{})}}
}

// Use returns the loaded model, and loads it if necessary. The caller calls release when the use has ended; until then, the model is not unloaded. If
// ctx ends before the model is ready, the load continues, and the error wraps ErrLoading and the error of ctx. If a load fails, this call and all
// calls in the next seconds return a *LoadError. If the Repository is closed, the error wraps ErrClosed.
func (m *Model[T]) Use(ctx context.Context) (value T, release func(), err error) {
	v, release, err := m.use(ctx)
	if err != nil {
		return value, nil, err
	}
	return v.(T), release, nil
}

// Peek is like Use, but does not load the model, and does not count as a use for Options.KeepAlive. Until release is called, the model is
// not unloaded. Peek reports false if the model is not ready.
func (m *Model[T]) Peek() (value T, release func(), ok bool) {
	v, release, ok := m.peek()
	if !ok {
		return value, nil, false
	}
	return v.(T), release, true
}
