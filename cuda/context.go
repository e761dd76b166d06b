package cuda

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// backend is a device with its primary context. It implements driver.Backend.
//
// Threads: a context is current on a thread, and goroutines move between threads. So every call of the
// driver goes through call, which locks the goroutine to its thread, makes the context current there and
// calls. The functions that are called most often make the context current in the same C call. Between
// calls, no goroutine depends on its thread.
//
// Ownership: a backend owns its queues, marks and memory. Close frees them in this order, then the
// resources that they share, the modules, and the context. Code that frees a resource earlier also removes
// it from the backend, in the same call of do: either that code or Close finds the resource, never both.
type backend struct {
	driver *cudasys.Driver
	device cudasys.Device
	handle cudasys.Context
	info   driver.Info
	lost   atomic.Pointer[LostError]

	use    sync.RWMutex // held for reading during a call of the driver
	closed atomic.Bool  // written with use held

	kernels kernels
	maps    sync.Pool // of *cudasys.TensorMap
	waiter  *waiter
	stage   *stage
	pool    pool
	setup   *queue // for what graphs need; no work waits on it

	oneFree sync.Mutex // held around cuMemFree, see memory.Free
	freeing tasks      // tasks that free memory when its users are done
	mu      sync.Mutex
	queues  map[*queue]struct{}
	marks   map[*mark]struct{}
	memory  map[*memory]struct{}
	host    map[*hostMemory]struct{}
	graphs  map[*graph]struct{}
	envs    map[*environment]struct{}
	spare   []*environment        // of streams that were closed
	peers   map[*backend]struct{} // to which copies go directly if the devices can
}

// newBackend retains the device's primary context and returns its backend.
func newBackend(d *cudasys.Driver, i cudasys.Device, info driver.Info) (*backend, error) {
	b := &backend{
		driver: d, device: i, info: info,

		queues: map[*queue]struct{}{}, marks: map[*mark]struct{}{}, memory: map[*memory]struct{}{},
		host: map[*hostMemory]struct{}{}, graphs: map[*graph]struct{}{}, envs: map[*environment]struct{}{}, peers: map[*backend]struct{}{},
	}
	b.waiter, b.stage = newWaiter(b), newStage(b, defaultStage())
	b.freeing.none.L = &b.freeing.mu
	if s := d.DevicePrimaryCtxRetain(&b.handle, i); s != cudasys.Success {
		return nil, &Error{Call: "cuDevicePrimaryCtxRetain", Status: s}
	}
	if err := b.newPool(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Info implements driver.Backend.
func (b *backend) Info() driver.Info { return b.info }

// do calls the driver unless the device is closed or lost. The name is that of the driver's
// function.
func (b *backend) do(name string, f func() cudasys.Status) error {
	b.use.RLock()
	defer b.use.RUnlock()
	if b.closed.Load() {
		return fmt.Errorf("cuda: device %d %w", b.info.Index, driver.ErrClosed)
	}
	return b.call(name, f)
}

// doInContext is do for functions that make the context current themselves, which costs less. The
// caller holds the lock of a queue. That keeps the device usable during the call: after Close has
// marked the device as closed, and before it frees anything, it takes the lock of each queue to
// wait for the queue's work.
func (b *backend) doInContext(name string, f func() cudasys.Status) error {
	if b.closed.Load() {
		return fmt.Errorf("cuda: device %d %w", b.info.Index, driver.ErrClosed)
	}
	if lost := b.lost.Load(); lost != nil {
		return lost
	}
	if s := f(); s != cudasys.Success {
		return b.failed(name, s)
	}
	return nil
}

// call is do without the check for a closed device: Close uses it.
func (b *backend) call(name string, f func() cudasys.Status) error {
	if lost := b.lost.Load(); lost != nil {
		return lost
	}
	runtime.LockOSThread()
	s := b.driver.CtxSetCurrent(b.handle)
	if s == cudasys.Success {
		s = f()
	} else {
		name = "cuCtxSetCurrent"
	}
	runtime.UnlockOSThread()
	if s == cudasys.Success {
		return nil
	}
	return b.failed(name, s)
}

// whileOpen is do for a task that frees memory. If the device is closed, it does nothing and
// returns nil, because Close frees the memory.
func (b *backend) whileOpen(name string, f func() cudasys.Status) error {
	b.use.RLock()
	defer b.use.RUnlock()
	if b.closed.Load() {
		return nil
	}
	return b.call(name, f)
}

// failed returns the error of a call, and marks the device as lost if the status is sticky.
func (b *backend) failed(name string, s cudasys.Status) error {
	e := &Error{Call: name, Status: s}
	means, isSticky := sticky[s]
	if !isSticky {
		return e
	}
	b.lost.CompareAndSwap(nil, &LostError{Cause: e, Means: means})
	return b.lost.Load()
}

// Close implements driver.Backend. It waits for the work of all streams.
func (b *backend) Close() error {
	b.use.Lock()
	if b.closed.Load() {
		b.use.Unlock()
		return fmt.Errorf("cuda: device %d %w", b.info.Index, driver.ErrClosed)
	}
	b.closed.Store(true)
	b.use.Unlock()
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, q := range members(b, b.queues) {
		if q != b.pool.reaper && q != b.setup {
			keep(q.free())
		}
	}
	for _, m := range members(b, b.marks) {
		keep(m.free())
	}
	keep(b.freeing.Wait())
	for _, m := range members(b, b.memory) {
		keep(m.free())
	}
	for _, m := range members(b, b.host) {
		keep(m.free())
	}
	for _, q := range []*queue{b.setup, b.pool.reaper} {
		if q != nil {
			keep(q.free())
		}
	}
	for _, g := range members(b, b.graphs) {
		keep(g.free())
	}
	for _, e := range members(b, b.envs) {
		keep(e.free())
	}
	keep(b.stage.settleAll())
	keep(b.waiter.free())
	keep(b.stage.free())
	keep(b.pool.free(b))
	keep(b.kernels.unload(b))
	if s := b.driver.DevicePrimaryCtxRelease(b.device); s != cudasys.Success && b.lost.Load() == nil {
		keep(&Error{Call: "cuDevicePrimaryCtxRelease", Status: s})
	}
	return first
}

// errClosed returns the error of a call on a closed resource.
func errClosed(what string) error { return fmt.Errorf("cuda: %s %w", what, driver.ErrClosed) }

// forget removes a resource from the set that owns it, and reports whether it was there.
func forget[T comparable](b *backend, set map[T]struct{}, v T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := set[v]
	delete(set, v)
	return ok
}

// own adds a resource to the set that owns it.
func own[T comparable](b *backend, set map[T]struct{}, v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	set[v] = struct{}{}
}

// members returns the resources of a set. Close frees them one by one, and each removes itself from
// the set.
func members[T comparable](b *backend, set map[T]struct{}) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(set))
}

// tasks are goroutines that a caller can wait for while others start.
type tasks struct {
	mu   sync.Mutex
	none sync.Cond // of mu
	n    int
	err  error // the first, until Wait returns it
}

// Go runs f on a goroutine.
func (t *tasks) Go(f func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	go func() {
		err := f()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.err == nil {
			t.err = err
		}
		if t.n--; t.n == 0 {
			t.none.Broadcast()
		}
	}()
}

// Wait waits until no task runs, and returns the first error since the last Wait.
func (t *tasks) Wait() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.n > 0 {
		t.none.Wait()
	}
	err := t.err
	t.err = nil
	return err
}
