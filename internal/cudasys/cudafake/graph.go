package cudafake

import (
	"maps"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// graph is work that is enqueued as a whole. Each node follows the nodes that it depends on.
type graph struct{ nodes []*node }

// node is one operation of a graph. The node of a kernel contains its launch, which may have
// changed in an executable graph.
type node struct {
	launch *Launch
	early  bool // it may start before the launch that it follows is done
	work   func() cudasys.Status
}

// exec is an executable graph.
type exec struct {
	context *context
	nodes   []*node
	changed map[*node]*Launch
}

// add adds captured work.
func (g *graph) add(work func() cudasys.Status) { g.nodes = append(g.nodes, &node{work: work}) }

// onGraph is inContext for functions that take a graph.
func (f *Fake) onGraph(function string, g cudasys.Graph, body func(c *context, g *graph) cudasys.Status) cudasys.Status {
	return f.inContext(function, func(c *context) cudasys.Status {
		if f.graphs[g] == nil {
			return cudasys.InvalidHandle
		}
		return body(c, f.graphs[g])
	})
}

// place adds a node after the nodes that it depends on.
func (f *Fake) place(out *cudasys.GraphNode, g *graph, after []cudasys.GraphNode, n *node) cudasys.Status {
	for _, a := range after {
		if f.nodes[a] == nil || !slices.Contains(g.nodes, f.nodes[a]) {
			return cudasys.InvalidValue
		}
	}
	*out = cudasys.GraphNode(f.handle())
	f.nodes[*out] = n
	g.nodes = append(g.nodes, n)
	return cudasys.Success
}

func (f *Fake) addGraphs(d *cudasys.Driver) {
	d.GraphCreate = func(out *cudasys.Graph, _ uint32) cudasys.Status {
		return f.inContext("cuGraphCreate", func(*context) cudasys.Status {
			*out = cudasys.Graph(f.handle())
			f.graphs[*out] = &graph{}
			return cudasys.Success
		})
	}
	d.GraphDestroy = func(g cudasys.Graph) cudasys.Status {
		return f.onGraph("cuGraphDestroy", g, func(*context, *graph) cudasys.Status {
			delete(f.graphs, g)
			return cudasys.Success
		})
	}
	d.GraphAddKernelNode = func(out *cudasys.GraphNode, g cudasys.Graph, after []cudasys.GraphNode, p *cudasys.KernelNode) cudasys.Status {
		return f.onGraph("cuGraphAddKernelNode", g, func(c *context, g *graph) cudasys.Status {
			l, s := f.nodeLaunch(c, p)
			if s != cudasys.Success {
				return s
			}
			return f.place(out, g, after, &node{launch: l})
		})
	}
	d.GraphKernelNodeSetAttribute = func(n cudasys.GraphNode, a *cudasys.LaunchAttribute) cudasys.Status {
		return f.inContext("cuGraphKernelNodeSetAttribute", func(*context) cudasys.Status {
			if f.nodes[n] == nil || f.nodes[n].launch == nil {
				return cudasys.InvalidValue
			}
			f.nodes[n].launch.Attributes[a.ID] = [3]uint32(a.Value[:3])
			return cudasys.Success
		})
	}
	d.GraphAddMemcpyNode = func(out *cudasys.GraphNode, g cudasys.Graph, after []cudasys.GraphNode, p *cudasys.Copy3D) cudasys.Status {
		return f.onGraph("cuGraphAddMemcpyNode", g, func(c *context, g *graph) cudasys.Status {
			to, from := f.side(c, &p.Dst, p.Width), f.side(c, &p.Src, p.Width)
			if p.Context != c.handle || p.Height != 1 || p.Depth != 1 || to() == nil || from() == nil {
				return cudasys.InvalidValue
			}
			return f.place(out, g, after, &node{work: transfer(to, from)})
		})
	}
	d.GraphAddMemsetNode = func(out *cudasys.GraphNode, g cudasys.Graph, after []cudasys.GraphNode, m *cudasys.Memset) cudasys.Status {
		return f.onGraph("cuGraphAddMemsetNode", g, func(c *context, g *graph) cudasys.Status {
			value := unsafe.Slice((*byte)(unsafe.Pointer(new(m.Value))), m.Size)
			all := slices.Repeat(value, int(m.Width*max(1, m.Height)))
			to := f.on(c, m.Dst, uintptr(len(all)))
			if m.Context != c.handle || to() == nil {
				return cudasys.InvalidValue
			}
			return f.place(out, g, after, &node{work: transfer(to, func() []byte { return all })})
		})
	}
	d.GraphAddChildGraphNode = func(out *cudasys.GraphNode, g cudasys.Graph, after []cudasys.GraphNode, child cudasys.Graph) cudasys.Status {
		return f.onGraph("cuGraphAddChildGraphNode", g, func(c *context, g *graph) cudasys.Status {
			if f.graphs[child] == nil {
				return cudasys.InvalidHandle
			}
			x := &exec{context: c, nodes: slices.Clone(f.graphs[child].nodes)}
			return f.place(out, g, after, &node{work: func() cudasys.Status { return f.execute(x) }})
		})
	}
	if f.Version >= 12030 {
		f.addEdges(d)
	}
	f.addExecs(d)
}

// addEdges adds the function that drivers have since CUDA 12.3.
func (f *Fake) addEdges(d *cudasys.Driver) {
	d.GraphAddDependencies = func(g cudasys.Graph, e *cudasys.GraphEdge) cudasys.Status {
		return f.onGraph("cuGraphAddDependencies", g, func(_ *context, g *graph) cudasys.Status {
			from, to := f.nodes[e.From], f.nodes[e.To]
			early := e.Data == cudasys.GraphEdgeData{FromPort: cudasys.PortProgrammatic, Type: cudasys.EdgeProgrammatic}
			if !slices.Contains(g.nodes, from) || !slices.Contains(g.nodes, to) || early && (from.launch == nil || to.launch == nil) {
				return cudasys.InvalidValue
			}
			to.early = to.early || early
			return cudasys.Success
		})
	}
}

// EarlyNodes returns the number of nodes in all graphs that may start before the one that they follow is
// done.
func (f *Fake) EarlyNodes() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.graphs {
		for _, node := range g.nodes {
			if node.early {
				n++
			}
		}
	}
	return n
}

// side returns a view of one side of a copy, on the host or the device.
func (f *Fake) side(c *context, s *cudasys.Side3D, n uintptr) view {
	if s.Type == cudasys.OnDevice {
		return f.on(c, s.Device, n)
	}
	host := unsafe.Slice((*byte)(s.Host), n)
	return func() []byte { return host }
}

func (f *Fake) addExecs(d *cudasys.Driver) {
	d.GraphInstantiateWithFlags = func(out *cudasys.GraphExec, g cudasys.Graph, _ uint64) cudasys.Status {
		return f.onGraph("cuGraphInstantiateWithFlags", g, func(c *context, g *graph) cudasys.Status {
			*out = cudasys.GraphExec(f.handle())
			f.execs[*out] = &exec{c, slices.Clone(g.nodes), map[*node]*Launch{}}
			return cudasys.Success
		})
	}
	d.GraphExecKernelNodeSetParams = func(x cudasys.GraphExec, n cudasys.GraphNode, p *cudasys.KernelNode) cudasys.Status {
		return f.inContext("cuGraphExecKernelNodeSetParams", func(c *context) cudasys.Status {
			l, s := f.nodeLaunch(c, p)
			if s != cudasys.Success {
				return s
			}
			if f.execs[x] == nil || f.nodes[n] == nil || !slices.Contains(f.execs[x].nodes, f.nodes[n]) {
				return cudasys.InvalidValue
			}
			f.execs[x].changed[f.nodes[n]] = l
			return cudasys.Success
		})
	}
	d.GraphUpload = func(x cudasys.GraphExec, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuGraphUpload", s, func(*stream) cudasys.Status { return f.has(x) })
	}
	d.GraphLaunch = func(c cudasys.Context, x cudasys.GraphExec, s cudasys.Stream) cudasys.Status {
		return f.in(d, c, func() cudasys.Status {
			return f.enqueue("cuGraphLaunch", s, func(st *stream) cudasys.Status { return f.launchGraph(st, x) })
		})
	}
	d.GraphExecDestroy = func(x cudasys.GraphExec) cudasys.Status {
		return f.inContext("cuGraphExecDestroy", func(*context) cudasys.Status {
			s := f.has(x)
			delete(f.execs, x)
			return s
		})
	}
	d.StreamBeginCapture = func(s cudasys.Stream, _ uint32) cudasys.Status {
		return f.onStream("cuStreamBeginCapture", s, func(st *stream) cudasys.Status {
			st.capture = &graph{}
			return cudasys.Success
		})
	}
	d.StreamEndCapture = func(s cudasys.Stream, out *cudasys.Graph) cudasys.Status {
		return f.onStream("cuStreamEndCapture", s, func(st *stream) cudasys.Status {
			*out = cudasys.Graph(f.handle())
			f.graphs[*out], st.capture = st.capture, nil
			return cudasys.Success
		})
	}
}

func (f *Fake) has(x cudasys.GraphExec) cudasys.Status {
	if f.execs[x] == nil {
		return cudasys.InvalidHandle
	}
	return cudasys.Success
}

// execute does the work of a graph's nodes.
func (f *Fake) execute(x *exec) cudasys.Status {
	for _, n := range x.nodes {
		launch := n.launch
		if l := x.changed[n]; l != nil {
			launch = l
		}
		work := n.work
		if launch != nil {
			work = func() cudasys.Status { return f.Execute(launch) }
		}
		if launch != nil && f.Execute == nil {
			continue
		}
		if s := work(); s != cudasys.Success {
			return s
		}
	}
	return cudasys.Success
}

// nodeLaunch returns the launch that a node's parameters describe.
func (f *Fake) nodeLaunch(c *context, p *cudasys.KernelNode) (*Launch, cudasys.Status) {
	return f.newLaunch(c, &cudasys.Launch{
		Function: p.Function, Grid: p.Grid, Block: p.Block, Shared: p.Shared, Params: p.Params,
	})
}

// launchGraph enqueues the graph in its present state: later changes affect only later launches.
func (f *Fake) launchGraph(st *stream, x cudasys.GraphExec) cudasys.Status {
	if s := f.has(x); s != cudasys.Success {
		return s
	}
	run := &exec{st.context, f.execs[x].nodes, map[*node]*Launch{}}
	maps.Copy(run.changed, f.execs[x].changed)
	st.add(func() cudasys.Status { return f.execute(run) })
	return cudasys.Success
}
