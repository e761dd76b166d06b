package cuda

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// graph is a graph of the driver, built node by node. It implements driver.GraphBackend. It does not capture
// streams, so there is never a capture during which the driver refuses calls of other goroutines.
//
// The kernels of a graph leave faults and prints in an environment of the graph's own, in which the number
// of a launch is the number of its node.
type graph struct {
	backend *backend

	mu     sync.Mutex
	handle cudasys.Graph
	exec   cudasys.GraphExec
	nodes  []cudasys.GraphNode
	// launches are the numbers of the nodes that launch kernels.
	launches []int
	sites    atomic.Pointer[[]string] // where the launch of each node came from; replaced as a whole
	envs     map[int]*environment     // by node number
	queues   []*queue                 // the queues on which it was enqueued
	closed   bool
}

// NewGraph implements driver.Grapher.
func (b *backend) NewGraph() (driver.GraphBackend, error) {
	g := &graph{backend: b, envs: map[int]*environment{}}
	err := b.do("cuGraphCreate", func() cudasys.Status {
		s := b.driver.GraphCreate(&g.handle, 0)
		if s == cudasys.Success {
			own(b, b.graphs, g)
		}
		return s
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// after returns the handles of nodes by their numbers.
func (g *graph) after(numbers []int) []cudasys.GraphNode {
	after := make([]cudasys.GraphNode, len(numbers))
	for i, n := range numbers {
		after[i] = g.nodes[n]
	}
	return after
}

// add adds the node that make creates.
func (g *graph) add(name, site string, make func(n *cudasys.GraphNode) cudasys.Status) error {
	var n cudasys.GraphNode
	if err := g.backend.do(name, func() cudasys.Status { return make(&n) }); err != nil {
		return about(err, fmt.Sprintf("node %d", len(g.nodes)))
	}
	g.nodes = append(g.nodes, n)
	g.setSite(len(g.nodes)-1, site)
	return nil
}

// setSite records where the launch of a node came from. A fault may be decoded at the same time.
func (g *graph) setSite(number int, site string) {
	var sites []string
	if old := g.sites.Load(); old != nil {
		sites = slices.Clone(*old)
	}
	sites = append(sites, make([]string, max(0, number+1-len(sites)))...)
	sites[number] = site
	g.sites.Store(&sites)
}

// AddLaunch implements driver.GraphBackend. The driver copies the parameter block.
func (g *graph) AddLaunch(p *driver.Plan, after []int) error {
	k, err := g.kernelNode(p, len(g.nodes))
	if err != nil {
		return err
	}
	overlaps := p.Overlaps() && g.mayOverlap(after)
	first := after
	if overlaps {
		first = nil // the edge is added below
	}
	err = g.add("cuGraphAddKernelNode", p.Launched(), func(n *cudasys.GraphNode) cudasys.Status {
		return g.backend.driver.GraphAddKernelNode(n, g.handle, g.after(first), k)
	})
	if err == nil {
		g.launches = append(g.launches, len(g.nodes)-1)
	}
	if err == nil && overlaps {
		err = g.overlap(after[0])
	}
	if err != nil {
		return err
	}
	all := new([4]cudasys.LaunchAttribute)
	for i := range attributes(all[:], p.Options(), false) { // in a graph, overlap is a property of edges
		err := g.backend.do("cuGraphKernelNodeSetAttribute", func() cudasys.Status {
			return g.backend.driver.GraphKernelNodeSetAttribute(g.nodes[len(g.nodes)-1], &all[i])
		})
		if err != nil {
			return about(err, p.Kernel().Name)
		}
	}
	return nil
}

// mayOverlap reports whether a launch after these nodes can start before they are done: if there is one,
// a launch, and the driver has edges for that. Otherwise all edges wait, which is right for every kernel.
func (g *graph) mayOverlap(after []int) bool {
	return len(after) == 1 && slices.Contains(g.launches, after[0]) && g.backend.driver.GraphAddDependencies != nil
}

// overlap makes the last node, a launch, start as soon as the blocks of another launch allow it.
func (g *graph) overlap(after int) error {
	e := &cudasys.GraphEdge{
		From: g.nodes[after], To: g.nodes[len(g.nodes)-1],
		Data: cudasys.GraphEdgeData{FromPort: cudasys.PortProgrammatic, Type: cudasys.EdgeProgrammatic},
	}
	err := g.backend.do("cuGraphAddDependencies", func() cudasys.Status {
		return g.backend.driver.GraphAddDependencies(g.handle, e)
	})
	return about(err, fmt.Sprintf("node %d", len(g.nodes)-1))
}

// kernelNode returns the driver's parameters of a node.
func (g *graph) kernelNode(p *driver.Plan, number int) (*cudasys.KernelNode, error) {
	b := g.backend
	l, err := b.load(p.Kernel(), p.Variant())
	if err == nil {
		err = l.allow(b, p)
	}
	var env uintptr
	if err == nil && p.Kernel().Environment() {
		env, err = g.environment(p.Kernel(), number)
	}
	if err != nil {
		return nil, err
	}
	p.SetHidden(l.variant, uint64(env), uint32(number), l.number)
	k := &cudasys.KernelNode{Function: cudasys.Function(l.function.Load()), Shared: uint32(p.Shared(l.variant))}
	l.sizes(p, &k.Grid, &k.Block)
	k.Params[0] = p.Params()
	return k, nil
}

// shared is the number under which envs holds the environment of all nodes that need none of their
// own.
const shared = -1

// environment returns the address of an environment for a node that launches k. A kernel whose
// blocks wait for each other counts arrivals in its environment, so each of its nodes has its own:
// two of them may run at the same time.
func (g *graph) environment(k *driver.Kernel, number int) (uintptr, error) {
	if !k.Cooperative {
		number = shared
	}
	if e := g.envs[number]; e != nil {
		return e.memory, nil
	}
	q := g.backend.setup
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := newEnvironment(q)
	if err != nil {
		return 0, err
	}
	e.launched = func(node uint32) string {
		if sites := g.sites.Load(); sites != nil && int(node) < len(*sites) {
			return (*sites)[node]
		}
		return ""
	}
	g.envs[number] = e
	return e.memory, nil
}

// AddCopy implements driver.GraphBackend.
func (g *graph) AddCopy(dst, src uintptr, n int, after []int) error {
	return g.addCopy(&cudasys.Copy3D{
		Src: cudasys.Side3D{Type: cudasys.OnDevice, Device: src}, Dst: cudasys.Side3D{Type: cudasys.OnDevice, Device: dst},
		Width: uintptr(n),
	}, after)
}

// AddHostCopy implements driver.GraphBackend.
func (g *graph) AddHostCopy(address uintptr, host []byte, upload bool, after []int) error {
	c := &cudasys.Copy3D{
		Src:   cudasys.Side3D{Type: cudasys.OnDevice, Device: address},
		Dst:   cudasys.Side3D{Type: cudasys.OnHost, Host: unsafe.Pointer(unsafe.SliceData(host))},
		Width: uintptr(len(host)),
	}
	if upload {
		c.Src, c.Dst = c.Dst, c.Src
	}
	return g.addCopy(c, after)
}

func (g *graph) addCopy(c *cudasys.Copy3D, after []int) error {
	c.Height, c.Depth, c.Context = 1, 1, g.backend.handle
	c.Src.Pitch, c.Dst.Pitch = c.Width, c.Width
	c.Src.Height, c.Dst.Height = 1, 1
	return g.add("cuGraphAddMemcpyNode", "", func(n *cudasys.GraphNode) cudasys.Status {
		return g.backend.driver.GraphAddMemcpyNode(n, g.handle, g.after(after), c)
	})
}

// AddFill implements driver.GraphBackend.
func (g *graph) AddFill(dst uintptr, value []byte, n int, after []int) error {
	var v [4]byte
	copy(v[:], value)
	m := &cudasys.Memset{
		Dst: dst, Value: little.Uint32(v[:]), Size: uint32(len(value)),
		Width: uintptr(n / len(value)), Height: 1, Pitch: uintptr(n), Context: g.backend.handle,
	}
	return g.add("cuGraphAddMemsetNode", "", func(n *cudasys.GraphNode) cudasys.Status {
		return g.backend.driver.GraphAddMemsetNode(n, g.handle, g.after(after), m)
	})
}

// Instantiate implements driver.GraphBackend. It also uploads the graph to the device, so that its
// first run is as fast as the later ones.
func (g *graph) Instantiate() error {
	b, q := g.backend, g.backend.setup
	err := b.do("cuGraphInstantiateWithFlags", func() cudasys.Status {
		return b.driver.GraphInstantiateWithFlags(&g.exec, g.handle, 0)
	})
	if err != nil {
		return about(err, fmt.Sprintf("%d nodes", len(g.nodes)))
	}
	return q.locked("cuGraphUpload", func() cudasys.Status { return b.driver.GraphUpload(g.exec, q.stream) })
}

// Update implements driver.GraphBackend.
func (g *graph) Update(number int, p *driver.Plan) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	k, err := g.kernelNode(p, number)
	if err != nil {
		return err
	}
	err = g.backend.do("cuGraphExecKernelNodeSetParams", func() cudasys.Status {
		return g.backend.driver.GraphExecKernelNodeSetParams(g.exec, g.nodes[number], k)
	})
	if err != nil {
		return about(err, fmt.Sprintf("node %d", number))
	}
	g.setSite(number, p.Launched())
	return nil
}

// Enqueue implements driver.GraphBackend.
func (g *graph) Enqueue(to driver.Queue) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := to.(*queue)
	if g.closed {
		return errClosed("graph")
	}
	if !slices.Contains(g.queues, q) {
		if err := q.follow(g.backend.setup); err != nil {
			return err
		}
		g.queues = append(slices.DeleteFunc(g.queues, (*queue).gone), q)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range g.envs {
		if !slices.Contains(q.graphs, e) {
			e.hold()
			q.graphs = append(q.graphs, e)
		}
	}
	err := q.doInContext("cuGraphLaunch", func() cudasys.Status {
		return g.backend.driver.GraphLaunch(g.backend.handle, g.exec, q.stream)
	})
	return about(err, fmt.Sprintf("%d nodes", len(g.nodes)))
}

// Close implements driver.GraphBackend. It destroys the graph after the graph's work is done.
func (g *graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	points, err := endPoints(alive(g.queues))
	if err != nil {
		return err
	}
	g.backend.freeing.Go(func() error {
		return errors.Join(await(points), g.destroy(g.backend.whileOpen))
	})
	return nil
}

// alive returns the queues that are not closed.
func alive(queues []*queue) (open []driver.Queue) {
	for _, q := range queues {
		if !q.gone() {
			open = append(open, q)
		}
	}
	return open
}

// gone reports whether the queue is closed. The work of a closed queue is done.
func (q *queue) gone() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// free is Close for a device that is being closed.
func (g *graph) free() error { return g.destroy(g.backend.call) }

// destroy frees the graph, whose work is done. It frees the executable graph before the graph that
// owns it, so that if the device is closed between the two calls, Close finds what is left.
func (g *graph) destroy(do doer) error {
	d, mine := g.backend.driver, false
	err := do("cuGraphExecDestroy", func() cudasys.Status {
		g.mu.Lock()
		exec := g.exec
		g.exec = 0
		g.mu.Unlock()
		if exec == 0 {
			return cudasys.Success
		}
		return d.GraphExecDestroy(exec)
	})
	err = errors.Join(err, do("cuGraphDestroy", func() cudasys.Status {
		if mine = forget(g.backend, g.backend.graphs, g); !mine {
			return cudasys.Success
		}
		return d.GraphDestroy(g.handle)
	}))
	if mine {
		for _, e := range g.envs {
			e.orphan()
		}
	}
	return err
}
