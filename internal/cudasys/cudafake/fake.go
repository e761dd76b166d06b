package cudafake

import (
	"maps"
	"runtime"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Device describes a device of a Fake.
type Device struct {
	Name, Bus    string
	Major, Minor int // compute capability
	Memory       int // bytes
	NoPools      bool
}

// H200 is a device for tests that do not depend on the device.
var H200 = Device{Name: "Fake H200", Bus: "0000:41:00.0", Major: 9, Minor: 0, Memory: 1 << 30}

// Fake is a driver. Its methods may be called from any goroutine. Set its fields before the first
// call of the driver.
type Fake struct {
	// Version is the result of DriverGetVersion: 13000 for CUDA 13.0.
	Version int
	// Execute does the work of a launched kernel. If it returns a status other than Success, the
	// context returns that status from then on. Execute must not call the driver.
	Execute func(l *Launch) cudasys.Status
	// NoPeers disables peer access between devices.
	NoPeers bool
	// Latency is the number of queries for which a stream with new work is not ready.
	Latency int

	devices []Device
	driver  func() *cudasys.Driver

	mu          sync.Mutex
	initialized bool
	held        bool
	blocked     int
	total       int
	failAt      failure
	calls       map[string]int
	failures    map[string]failure
	refused     map[string]string // compiler's log for PTX that contains the key
	current     map[int]cudasys.Context
	contexts    map[cudasys.Context]*context
	next        uintptr // the next handle
	memory      memory
	pools       map[cudasys.Pool]*pool
	streams     map[cudasys.Stream]*stream
	events      map[cudasys.Event]*event
	modules     map[cudasys.Module]*module
	functions   map[cudasys.Function]*entry
	graphs      map[cudasys.Graph]*graph
	execs       map[cudasys.GraphExec]*exec
	nodes       map[cudasys.GraphNode]*node
	clock       int // counts the operations that streams have done
}

// context is the primary context of a device.
type context struct {
	handle cudasys.Context
	device cudasys.Device
	refs   int
	taken  int            // bytes of device memory allocated outside pools
	failed cudasys.Status // sticky
	peers  map[cudasys.Context]bool
}

// failure makes the call with the given number, or every call, return a status.
type failure struct {
	every  bool
	call   int
	status cudasys.Status
}

// New returns a driver that sees the given devices.
func New(devices ...Device) *Fake {
	f := &Fake{
		Version: 13000, devices: devices, next: 0x1000,
		calls: map[string]int{}, failures: map[string]failure{}, refused: map[string]string{},
		current: map[int]cudasys.Context{}, contexts: map[cudasys.Context]*context{},
		memory:  memory{next: 0x7f00_0000_0000},
		pools:   map[cudasys.Pool]*pool{},
		streams: map[cudasys.Stream]*stream{}, events: map[cudasys.Event]*event{},
		modules: map[cudasys.Module]*module{}, functions: map[cudasys.Function]*entry{},
		graphs: map[cudasys.Graph]*graph{}, execs: map[cudasys.GraphExec]*exec{}, nodes: map[cudasys.GraphNode]*node{},
	}
	f.driver = sync.OnceValue(f.newDriver)
	return f
}

// Fail makes the n-th call of a function from now on, counted from 1, return s without any other
// effect. An n of 0 means all calls. It replaces an earlier Fail for the same function. The name
// has no version suffix: "cuMemAlloc".
func (f *Fake) Fail(function string, n int, s cudasys.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures[function] = failure{n == 0, f.calls[function] + n, s}
}

// FailCall makes the n-th call of any function from now on, counted from 1, return s.
func (f *Fake) FailCall(n int, s cudasys.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt = failure{false, f.total + n, s}
}

// Refuse makes the driver's compiler refuse PTX that contains text, with the given log.
func (f *Fake) Refuse(text, log string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[text] = log
}

// Hold keeps all streams from doing work until Hold(false).
func (f *Fake) Hold(held bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = held
}

// Calls returns the number of calls of a function.
func (f *Fake) Calls(function string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[function]
}

// AllCalls returns the number of calls of each function that was called.
func (f *Fake) AllCalls() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

// Blocked returns the number of copies that would have blocked their thread until work of the
// device was done: copies to host memory that is not pinned.
func (f *Fake) Blocked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blocked
}

// Live counts the objects that exist.
type Live struct{ Contexts, Streams, Events, Modules, Allocations, Pinned, Pools, Graphs int }

// Live returns the objects that have not been freed. It is the zero Live if nothing leaked. Memory
// whose freeing is enqueued counts as freed.
func (f *Fake) Live() Live {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := Live{
		Streams: len(f.streams), Events: len(f.events), Modules: len(f.modules),
		Pools: len(f.pools), Graphs: len(f.graphs) + len(f.execs),
	}
	for _, c := range f.contexts {
		l.Contexts += c.refs
	}
	for _, b := range f.memory.blocks {
		switch {
		case b.host != nil:
			l.Pinned++
		case !b.freed:
			l.Allocations++
		}
	}
	return l
}

// call counts a call of a function and runs body, unless the call should fail.
func (f *Fake) call(function string, body func() cudasys.Status) cudasys.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[function]++
	f.total++
	if f.failAt.call == f.total {
		return f.failAt.status
	}
	if fail, ok := f.failures[function]; ok && (fail.every || fail.call == f.calls[function]) {
		return fail.status
	}
	if !f.initialized && function != "cuInit" && function != "cuDriverGetVersion" {
		return cudasys.NotInitialized
	}
	return body()
}

// inContext is call for functions that act on the thread's current context.
func (f *Fake) inContext(function string, body func(c *context) cudasys.Status) cudasys.Status {
	return f.call(function, func() cudasys.Status {
		c := f.contexts[f.current[thread()]]
		if c == nil || c.refs == 0 {
			return cudasys.InvalidContext
		}
		if c.failed != cudasys.Success {
			return c.failed
		}
		return body(c)
	})
}

// in calls body with c current on its thread, if c is not 0.
func (f *Fake) in(d *cudasys.Driver, c cudasys.Context, body func() cudasys.Status) cudasys.Status {
	if c == 0 {
		return body()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s := d.CtxSetCurrent(c); s != cudasys.Success {
		return s
	}
	return body()
}

// handle returns a handle that was never used before.
func (f *Fake) handle() uintptr {
	f.next += 16
	return f.next
}
