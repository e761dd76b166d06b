package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// retry is the time after a failed load in which the model is not loaded again: requests would otherwise read the files of a model that
// does not work again and again.
const retry = 10 * time.Second

// A Model is a model that may be loaded. It is safe for concurrent use.
type Model[T any] struct {
	name       string
	repository *Repository
	load       func(ctx context.Context) (T, func() error, error)

	mu      sync.Mutex
	state   State
	changed chan struct{} // is closed and replaced when the state changes, and when the last use ends
	value   T             // if the state is Ready, or Unloading and the model is still used
	free    func() error  // frees the memory of value
	err     error         // see Status.Err
	failed  time.Time     // the time of the last load that failed
	used    time.Time     // the end of the last use
	timer   *time.Timer   // unloads the model; may be nil
	cancel  context.CancelFunc
	closed  bool
	using   int // uses in progress, and calls of Peek

	waiting         int // calls of Use
	took            time.Duration
	loads, failures int64
}

// Loaded returns a Model that is loaded and belongs to no Repository. The caller frees the memory of value.
func Loaded[T any](value T) *Model[T] {
	return &Model[T]{repository: New(Options{}), state: Ready, value: value, changed: make(chan struct{})}
}

// Status returns the Model's Status.
func (m *Model[T]) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status()
}

// status returns the Status. The lock is held.
func (m *Model[T]) status() Status {
	return Status{m.name, m.state, m.err, m.took, m.waiting, m.loads, m.failures}
}

// Use returns the loaded model. The caller calls release when the use has ended; until then, the model is not unloaded. Further calls of
// release do nothing. Use loads the model if it is not loaded. If ctx ends before the model is ready, the error wraps ErrLoading and the
// error of ctx. The load goes on. If a load fails, the error is a *LoadError, and so are the errors of all calls in the next seconds. The
// error wraps ErrClosed if the Repository is closed.
func (m *Model[T]) Use(ctx context.Context) (value T, release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		switch wait := retry - time.Since(m.failed); {
		case m.closed:
			return value, nil, ErrClosed
		case m.state == Ready:
			m.using++
			m.stop()
			return m.value, sync.OnceFunc(func() { m.release(time.Now()) }), nil
		case m.state == Failed && wait > 0:
			return value, nil, &LoadError{m.name, wait, m.err}
		case m.state == Unloaded, m.state == Failed:
			m.start()
		}
		m.waiting++
		err := m.wait(ctx)
		if m.waiting--; err != nil {
			m.schedule()
			return value, nil, fmt.Errorf("%w: %q is %v: %w", ErrLoading, m.name, m.state, err)
		}
	}
}

// Peek is like Use, but does not load the model, and does not keep it from being unloaded later. It reports false if the model is not
// ready.
func (m *Model[T]) Peek() (value T, release func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != Ready || m.closed {
		return value, nil, false
	}
	m.using++
	return m.value, sync.OnceFunc(func() { m.release(time.Time{}) }), true
}

// release ends a use, or with the zero time a call of Peek.
func (m *Model[T]) release(end time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !end.IsZero() {
		m.used = end
	}
	if m.using--; m.using == 0 {
		m.wake()
		m.schedule()
	}
}

// wait waits for a change. The lock is held, except while wait waits.
func (m *Model[T]) wait(ctx context.Context) error {
	changed := m.changed
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake wakes the calls of wait. The lock is held.
func (m *Model[T]) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// set changes the state. The lock is held.
func (m *Model[T]) set(s State) {
	m.state = s
	m.wake()
	if f := m.repository.options.Changed; f != nil {
		f(m.status())
	}
}

// stop stops the timer. The lock is held.
func (m *Model[T]) stop() {
	if m.timer != nil {
		m.timer.Stop()
	}
}

// idle reports whether the model is loaded, and nothing needs it. A call of Use that has waited for the load needs it. The lock is held.
func (m *Model[T]) idle() bool {
	return m.state == Ready && m.using == 0 && m.waiting == 0 && !m.closed
}

// schedule starts the timer if the model is idle. The lock is held.
func (m *Model[T]) schedule() {
	m.stop()
	if keep := m.repository.options.KeepAlive; keep > 0 && m.idle() {
		m.timer = time.AfterFunc(keep-time.Since(m.used), m.expire)
	}
}

// expire unloads the model if it has been unused for long enough.
func (m *Model[T]) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.idle() && time.Since(m.used) >= m.repository.options.KeepAlive {
		_ = m.drop() // the Status has the error
	}
}

// start begins to load the model. The lock is held.
func (m *Model[T]) start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel, m.err = cancel, nil
	m.set(Loading)
	go m.run(ctx)
}

// run loads the model.
func (m *Model[T]) run(ctx context.Context) {
	value, free, took, err := m.fetch(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel()
	if err != nil && m.closed {
		m.set(Unloaded)
		return
	}
	if err != nil {
		m.err, m.failed = err, time.Now()
		m.failures++
		m.set(Failed)
		return
	}
	m.value, m.free, m.took, m.used = value, free, took, time.Now()
	m.loads++
	m.set(Ready)
	m.schedule()
}

// fetch loads the model in its turn. While the device has too little memory for it, fetch unloads another model and tries again.
func (m *Model[T]) fetch(ctx context.Context) (value T, free func() error, took time.Duration, err error) {
	select {
	case m.repository.turn <- struct{}{}:
		defer func() { <-m.repository.turn }()
	case <-ctx.Done():
		return value, nil, 0, ctx.Err()
	}
	for {
		began := time.Now()
		value, free, err = m.load(ctx)
		if !errors.Is(err, device.ErrMemory) || ctx.Err() != nil || !m.repository.makeRoom() {
			return value, free, time.Since(began), err
		}
	}
}

// drop frees the memory of the model, which is not used. The lock is held, except while drop frees the memory.
func (m *Model[T]) drop() error {
	if m.state != Unloading {
		m.set(Unloading)
	}
	m.stop()
	var none T
	free := m.free
	m.value, m.free = none, nil // so that the garbage collector can free what the model has in Go's heap
	m.mu.Unlock()
	err := free()
	m.mu.Lock()
	m.err = err
	m.set(Unloaded)
	return err
}

// unused returns the end of the last use of a model that is idle.
func (m *Model[T]) unused() (since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.idle()
}

// evict unloads the model if it is idle, and reports whether it has done so.
func (m *Model[T]) evict() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.idle() {
		return false
	}
	_ = m.drop() // the Status has the error
	return true
}

// Load is Repository.Load.
func (m *Model[T]) Load(ctx context.Context) error {
	m.mu.Lock()
	m.failed = time.Time{}
	m.mu.Unlock()
	_, release, err := m.Use(ctx)
	if err == nil {
		release()
	}
	return err
}

// Unload is Repository.Unload.
func (m *Model[T]) Unload(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.state == Loading || m.state == Unloading {
		if err := m.wait(ctx); err != nil {
			return err
		}
	}
	if m.state == Ready && m.free != nil {
		return m.unload(ctx)
	}
	if m.state == Failed && !m.closed {
		m.err = nil
		m.set(Unloaded)
	}
	return nil
}

// unload waits until the model is not used, and unloads it. The lock is held, except while unload waits.
func (m *Model[T]) unload(ctx context.Context) error {
	m.set(Unloading)
	for m.using > 0 {
		if err := m.wait(ctx); err != nil {
			m.set(Ready)
			m.schedule() // if the last use has ended at the same time
			return err
		}
	}
	return m.drop()
}

// close ends the model: see Repository.Close.
func (m *Model[T]) close() error {
	m.mu.Lock()
	if m.closed = true; m.cancel != nil {
		m.cancel()
	}
	m.stop()
	m.wake()
	m.mu.Unlock()
	return m.Unload(context.Background())
}
