package device

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Graph is work that is recorded once and enqueued as a whole any number of times. On a GPU, launching a
// graph is much faster than enqueuing each operation. The methods of a Graph may be called from any
// goroutine.
//
// A graph keeps the memory that its work uses. If a buffer is closed before the graph, the buffer's memory
// is freed when the graph is closed, or when Updates have replaced all uses of the buffer.
//
// The function that is recorded may make buffers. The graph owns their memory, and every run uses it again. If the
// function closes such a buffer, later buffers of the recording may use its memory. A buffer that the function does not
// close can be used like any other, for example to read a result after a run. Closing the graph closes the buffer.
type Graph struct {
	device *Device
	run    driver.GraphBackend // nil if the device has no graphs: Launch then replays the nodes

	mu     sync.Mutex // held while the graph is enqueued or changed
	nodes  []*node
	held   []holding
	recent *Stream // for whose work all that is held is joined
	memory graphMemory
	closed bool
}

// holding is memory that a graph keeps, with one pin for all uses.
type holding struct {
	*allocation
	uses int // arguments of launches, and other work, that use the memory
}

// GraphNode describes a launch in a Graph.
type GraphNode struct {
	Number   int // number of the node, for Update
	Kernel   string
	Launched string // the line of the program that recorded the launch: "main.go:42"
}

// Capture records the work that f enqueues on the stream s, and on streams forked from s, and returns the work as a
// graph. No work runs. The stream accepts launches, copies within the device, fills, copies of pinned memory, and
// allocations with Make, MakeDirty and MakePlane. If f makes a call that waits or copies ordinary Go memory, such as
// Synchronize or Upload, Capture returns ErrCapture.
//
// The work of one stream runs in order; the work of different streams runs concurrently except where Fork or
// Join orders it.
func (d *Device) Capture(f func(s *Stream) error) (*Graph, error) {
	r := &recorder{graph: &Graph{device: d}, last: -1}
	s := &Stream{device: d, queue: r, recorder: r, epoch: new(epoch)}
	err := record(s, f)
	r.graph.fix()
	if err == nil {
		err = r.graph.instantiate()
	}
	for _, n := range r.graph.nodes {
		if n.foreign != nil {
			err = join(err, n.foreign.Close())
		}
	}
	if err != nil {
		return nil, join(err, r.graph.discard())
	}
	return r.graph, nil
}

// record calls f with a stream that records, and returns the error of f or of the first call on the
// stream that failed.
func record(s *Stream, f func(s *Stream) error) error {
	err := f(s)
	if stuck := s.stuck(); stuck != nil && (err == nil || errors.Is(err, stuck)) {
		return stuck
	}
	if err == nil {
		return s.check()
	}
	return err
}

// discard frees a graph that was not made.
func (g *Graph) discard() error {
	var err error
	if g.run != nil {
		err = g.run.Close()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return join(err, g.release())
}

// instantiate creates the device's graph, if the device supports graphs.
func (g *Graph) instantiate() error {
	b, ok := g.device.backend.(driver.Grapher)
	if !ok {
		return nil
	}
	g.device.mu.RLock()
	defer g.device.mu.RUnlock()
	if g.device.closed.Load() {
		return fmt.Errorf("device: new graph: device %w", ErrClosed)
	}
	run, err := b.NewGraph()
	if err != nil {
		return err
	}
	for _, n := range g.nodes {
		if err := n.add(run); err != nil {
			return join(err, run.Close())
		}
	}
	if err := run.Instantiate(); err != nil {
		return join(err, run.Close())
	}
	g.run = run
	return nil
}

// Launch enqueues the graph's work on s, which must not be a stream that records a graph.
func (g *Graph) Launch(s *Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.work(Activity{Work: WorkGraph}, func(q driver.Queue) error {
		switch {
		case s.recorder != nil:
			return fmt.Errorf("device: a graph: %w", ErrCapture)
		case g.closed:
			return fmt.Errorf("device: graph %w", ErrClosed)
		case g.device != s.device:
			return fmt.Errorf("device: graph %w", ErrForeign)
		}
		if err := g.join(s); err != nil {
			return err
		}
		if g.run != nil {
			return g.run.Enqueue(q)
		}
		return g.replay(s)
	})
}

// join makes s a user of all memory that the graph holds, unless it is one since the last Launch.
func (g *Graph) join(s *Stream) error {
	if g.recent == s {
		return nil
	}
	for _, a := range g.held {
		if err := a.join(s); err != nil {
			return err
		}
	}
	g.recent = s
	return nil
}

// replay enqueues the nodes one by one, in the order in which they were recorded.
func (g *Graph) replay(s *Stream) error {
	for _, n := range g.nodes {
		if err := n.do(s.queue); err != nil {
			return err
		}
		if n.launch != nil {
			s.launched(n.launch)
		}
	}
	return nil
}

// Nodes returns the graph's launches in the order in which they were recorded.
func (g *Graph) Nodes() []GraphNode {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []GraphNode
	for i, n := range g.nodes {
		if n.launch != nil {
			all = append(all, GraphNode{i, n.kernel().Name, n.launch.Launched()})
		}
	}
	return all
}

// Update changes the arguments and the grid of the launch with the given number (see GraphNode). f must
// launch the same kernel once, on the stream that it receives, with a grid that is not empty, and must not
// allocate memory on that stream. Earlier launches of the graph are not affected. The graph releases the
// memory that only the previous arguments used.
func (g *Graph) Update(number int, f func(s *Stream) error) error {
	r := &recorder{graph: &Graph{device: g.device, memory: graphMemory{fixed: true}}, last: -1}
	s := &Stream{device: g.device, queue: r, recorder: r, epoch: new(epoch)}
	err := record(s, f)
	if err == nil {
		err = g.update(number, r.graph)
	}
	if err != nil {
		return join(err, r.graph.discard())
	}
	return nil
}

// update replaces a node by the only one of u, and keeps the memory of the new node instead of that
// of the old one.
func (g *Graph) update(number int, u *Graph) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return fmt.Errorf("device: graph %w", ErrClosed)
	case number < 0 || number >= len(g.nodes) || g.nodes[number].launch == nil:
		return fmt.Errorf("device: node %d of a graph is not a launch: %w", number, ErrRange)
	case len(u.nodes) != 1 || u.nodes[0].launch == nil || u.nodes[0].kernel() != g.nodes[number].kernel():
		return fmt.Errorf("device: update of node %d, which launches %s: %w", number, g.nodes[number].kernel().Name, ErrMismatch)
	}
	old := g.nodes[number]
	n := &node{launch: u.nodes[0].launch, held: u.nodes[0].held, after: old.after}
	if g.run != nil {
		if err := g.run.Update(number, n.launch.plan); err != nil {
			return err
		}
	}
	g.nodes[number] = n
	for _, a := range n.held {
		g.use(a)
	}
	return join(g.leave(old.held), u.discard())
}

// keep records one more use of memory that the caller has pinned.
func (g *Graph) keep(a *allocation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(a)
}

// use is keep with the lock held.
func (g *Graph) use(a *allocation) {
	if i := g.holding(a); i >= 0 {
		g.held[i].uses++
		return
	}
	a.state.Add(1)
	g.held = append(g.held, holding{a, 1})
	g.recent = nil
}

// leave ends one use each of all, and releases the memory that has no other. The lock is held.
func (g *Graph) leave(all []*allocation) (err error) {
	for _, a := range all {
		i := g.holding(a)
		if g.held[i].uses--; g.held[i].uses == 0 {
			g.held = slices.Delete(g.held, i, i+1)
			err = join(err, a.unpin())
		}
	}
	return err
}

// holding returns the index of memory in held, or -1.
func (g *Graph) holding(a *allocation) int {
	return slices.IndexFunc(g.held, func(h holding) bool { return h.allocation == a })
}

// Close frees the graph when the work enqueued so far is done, and closes the buffers that were made while it
// was recorded. It does not wait.
func (g *Graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("device: graph %w", ErrClosed)
	}
	g.closed = true
	var err error
	if g.run != nil {
		err = g.run.Close()
	}
	return join(err, g.release())
}

// release closes the graph's own memory, and unpins all that the graph kept. The lock is held.
func (g *Graph) release() error {
	g.closeMemory()
	var err error
	for _, a := range g.held {
		err = join(err, a.unpin())
	}
	g.held = nil
	return err
}

// Fork returns a new stream whose work runs after the work enqueued so far on s. In a Capture, Fork
// returns another stream of the Capture.
func (s *Stream) Fork() (*Stream, error) {
	if r := s.recorder; r != nil {
		if err := s.check(); err != nil {
			return nil, err
		}
		r.graph.mu.Lock()
		fork := &recorder{graph: r.graph, last: -1, also: r.place()}
		r.graph.mu.Unlock()
		return &Stream{device: s.device, queue: fork, recorder: fork, epoch: new(epoch)}, nil
	}
	t, err := s.device.NewStreamWith(StreamOptions{Output: s.output})
	if err != nil {
		return nil, err
	}
	if err := t.Join(s); err != nil {
		return nil, join(err, t.Close())
	}
	return t, nil
}

// Join makes the later work of s wait for the work enqueued so far on t, a stream of the same device. A fault
// of that work becomes a fault of s too. Either both streams belong to the same Capture,
// or neither belongs to a Capture.
func (s *Stream) Join(t *Stream) error {
	r, other := s.recorder, t.recorder
	if r == nil && other == nil {
		e, err := t.Record()
		if err != nil {
			return s.keep(err)
		}
		return join(s.WaitFor(e), e.Close())
	}
	return s.enqueue(func(driver.Queue) error {
		if r == nil || other == nil || r.graph != other.graph {
			return fmt.Errorf("device: join of a stream that is not recorded with this one: %w", ErrCapture)
		}
		stuck := t.check()
		r.graph.mu.Lock()
		defer r.graph.mu.Unlock()
		for _, n := range other.place() {
			if !slices.Contains(r.also, n) && n != r.last {
				r.also = append(r.also, n)
			}
		}
		return stuck
	})
}
