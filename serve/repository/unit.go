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

// unit is a Model of any type.
type unit struct {
	name       string
	repository *Repository
	load       func(ctx context.Context) (any, func() error, error)

	mu      sync.Mutex
	state   State
	changed chan struct{} // is closed and replaced when the state changes, and when the last use ends
	value   any           // if the state is Ready, or Unloading and the model is still used
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

// Status returns the model's Status.
func (m *unit) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status()
}

// status returns the Status. The lock is held.
func (m *unit) status() Status {
	return Status{m.name, m.state, m.err, m.took, m.waiting, m.loads, m.failures}
}

// use is Model.Use.
func (m *unit) use(ctx context.Context) (value any, release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		switch wait := retry - time.Since(m.failed); {
		case m.closed:
			return nil, nil, ErrClosed
		case m.state == Ready:
			m.using++
			m.stop()
			return m.value, sync.OnceFunc(func() { m.release(time.Now()) }), nil
		case m.state == Failed && wait > 0:
			return nil, nil, &LoadError{m.name, wait, m.err}
		case m.state == Unloaded, m.state == Failed:
			m.start()
		}
		m.waiting++
		err := m.wait(ctx)
		if m.waiting--; err != nil {
			m.schedule()
			return nil, nil, fmt.Errorf("%w: %q is %v: %w", ErrLoading, m.name, m.state, err)
		}
	}
}

// peek is Model.Peek.
func (m *unit) peek() (value any, release func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != Ready || m.closed {
		return nil, nil, false
	}
	m.using++
	return m.value, sync.OnceFunc(func() { m.release(time.Time{}) }), true
}

// release ends a use, or with the zero time a call of Peek.
func (m *unit) release(end time.Time) {
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
func (m *unit) wait(ctx context.Context) error {
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
func (m *unit) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// set changes the state. The lock is held.
func (m *unit) set(s State) {
	m.state = s
	m.wake()
	if f := m.repository.options.Changed; f != nil {
		f(m.status())
	}
}

// stop stops the timer. The lock is held.
func (m *unit) stop() {
	if m.timer != nil {
		m.timer.Stop()
	}
}

// idle reports whether the model is loaded, and nothing needs it. A call of Use that has waited for the load needs it. The lock is held.
func (m *unit) idle() bool {
	return m.state == Ready && m.using == 0 && m.waiting == 0 && !m.closed
}

// schedule starts the timer if the model is idle. The lock is held.
func (m *unit) schedule() {
	m.stop()
	if keep := m.repository.options.KeepAlive; keep > 0 && m.idle() {
		m.timer = time.AfterFunc(keep-time.Since(m.used), m.expire)
	}
}

// expire unloads the model if it has been unused for long enough.
func (m *unit) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.idle() && time.Since(m.used) >= m.repository.options.KeepAlive {
		_ = m.drop() // the Status has the error
	}
}

// start begins to load the model. The lock is held.
func (m *unit) start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel, m.err = cancel, nil
	m.set(Loading)
	go m.run(ctx)
}

// run loads the model.
func (m *unit) run(ctx context.Context) {
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
func (m *unit) fetch(ctx context.Context) (value any, free func() error, took time.Duration, err error) {
	select {
	case m.repository.turn <- struct{}{}:
		defer func() { <-m.repository.turn }()
	case <-ctx.Done():
		return nil, nil, 0, ctx.Err()
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
func (m *unit) drop() error {
	if m.state != Unloading {
		m.set(Unloading)
	}
	m.stop()
	free := m.free
	m.value, m.free = nil, nil // so that the garbage collector can free what the model has in Go's heap
	m.mu.Unlock()
	err := free()
	m.mu.Lock()
	m.err = err
	m.set(Unloaded)
	return err
}

// unused returns the end of the last use of a model that is idle.
func (m *unit) unused() (since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.idle()
}

// evict unloads the model if it is idle, and reports whether it has done so.
func (m *unit) evict() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.idle() {
		return false
	}
	_ = m.drop() // the Status has the error
	return true
}

// Load is Repository.Load.
func (m *unit) Load(ctx context.Context) error {
	m.mu.Lock()
	m.failed = time.Time{}
	m.mu.Unlock()
	_, release, err := m.use(ctx)
	if err == nil {
		release()
	}
	return err
}

// Unload is Repository.Unload.
func (m *unit) Unload(ctx context.Context) error {
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
func (m *unit) unload(ctx context.Context) error {
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
func (m *unit) close() error {
	m.mu.Lock()
	if m.closed = true; m.cancel != nil {
		m.cancel()
	}
	m.stop()
	m.wake()
	m.mu.Unlock()
	return m.Unload(context.Background())
}
