package device

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// graphMemory is the memory of the buffers that a recording makes. It consists of regions, which belong to
// the graph until the graph is closed, because every run of the graph uses them. A buffer that is closed
// while its graph is recorded leaves an extent of its region for later buffers of the recording.
//
// Order: work recorded on a buffer is ordered before the work on a later one with the same memory. So a
// stream may reuse an extent if all work that used it precedes the stream's next work in the graph; other
// branches may not.
//
// The lock of the graph protects a graphMemory.
type graphMemory struct {
	fixed   bool // the recording has ended: there are no more allocations
	regions []lease
	buffers map[*block]lease
	free    []extent
}

// share is what a buffer in a graph's memory knows about it. It is empty in other buffers.
type share struct {
	graph     *Graph
	region    lease
	capacity  int
	recorders []*recorder // that may have recorded work on the buffer
}

// extent is a free part of a region.
type extent struct {
	region  lease
	address uintptr
	size    int
	after   []position // the work that used it
}

// position is a place in what a recorder records, after all work that it recorded before.
type position struct {
	recorder *recorder
	place    []int
}

// passes reports whether p is a later position of the same recorder than o.
func (p position) passes(o position) bool {
	if p.recorder != o.recorder || len(p.place) == 0 {
		return false
	}
	return len(o.place) == 0 || slices.Max(p.place) > slices.Max(o.place) || len(p.place) > len(o.place)
}

// allocate returns the lease of size bytes for work that r records.
func (r *recorder) allocate(size int) (lease, error) {
	g := r.graph
	e, err := g.claim(r, capacityFor(size))
	if err != nil {
		return lease{}, err
	}
	if e.size == 0 {
		if e, err = g.extend(size); err != nil {
			return lease{}, err
		}
	}
	b := &block{
		device: g.device, memory: e.region.memory, address: e.address, size: size, kind: kindBuffer,
		share: share{graph: g, region: e.region, capacity: e.size, recorders: []*recorder{r}},
	}
	b.made.Take()
	l := lease{allocation: &allocation{b}}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.memory.buffers == nil {
		g.memory.buffers = map[*block]lease{}
	}
	g.memory.buffers[b] = l
	return l, nil
}

// claim takes size bytes from the smallest extent that the next work of r may use. It returns no bytes if
// there is none.
func (g *Graph) claim(r *recorder, size int) (extent, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.memory.fixed {
		return extent{}, fmt.Errorf("device: new buffer: %w", ErrCapture)
	}
	best := -1
	for i, e := range g.memory.free {
		if e.size >= size && (best < 0 || e.size < g.memory.free[best].size) && g.precede(e.after, r) {
			best = i
		}
	}
	if best < 0 {
		return extent{}, nil
	}
	e := &g.memory.free[best]
	claimed := extent{region: e.region, address: e.address, size: size}
	if e.address, e.size = e.address+uintptr(size), e.size-size; e.size == 0 {
		g.memory.free = slices.Delete(g.memory.free, best, best+1)
	}
	return claimed, nil
}

// extend adds a region to the graph's memory, for a buffer of size bytes.
func (g *Graph) extend(size int) (extent, error) {
	d := g.device
	b := &block{device: d, size: d.capacity(size), kind: kindGraph}
	b.made.Take()
	b.kept.capacity = b.size
	err := d.roomy(b.size, func() error {
		return d.back(b, func() (err error) {
			if p, ok := d.backend.(driver.Pooler); ok {
				b.memory, err = p.AllocateFor(nil, b.size)
			} else {
				b.memory, err = d.backend.Allocate(b.size)
			}
			return err
		})
	})
	if err != nil {
		return extent{}, err
	}
	region := d.memory.enter(b).lease()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(region.allocation)
	g.memory.regions = append(g.memory.regions, region)
	return extent{region: region, address: b.address, size: b.size}, nil
}

// reclaim makes the memory of a buffer that was closed available to later buffers of the recording. An
// interpreter checks each access against the bounds of its allocation, and reports memory that was not
// written, so buffers on it have regions of their own.
func (g *Graph) reclaim(b *block) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.memory.buffers, b)
	if g.memory.fixed || g.device.recycler == nil {
		return nil
	}
	e := extent{region: b.share.region, address: b.address, size: b.share.capacity}
	for _, r := range b.share.recorders {
		e.after = append(e.after, position{r, r.place()})
	}
	others := slices.DeleteFunc(g.memory.free, e.absorb)
	g.memory.free = append(others, e)
	return nil
}

// absorb adds a free neighbour of the same region to e and reports whether it did.
func (e *extent) absorb(o extent) bool {
	switch {
	case o.region != e.region:
		return false
	case o.address+uintptr(o.size) == e.address:
		e.address = o.address
	case e.address+uintptr(e.size) != o.address:
		return false
	}
	e.size += o.size
	for _, p := range o.after {
		switch i := slices.IndexFunc(e.after, func(q position) bool { return q.recorder == p.recorder }); {
		case i < 0:
			e.after = append(e.after, p)
		case p.passes(e.after[i]):
			e.after[i] = p
		}
	}
	return true
}

// precede reports whether all work at the positions precedes the next work of r. The lock is held.
func (g *Graph) precede(all []position, r *recorder) bool {
	place := r.place()
	for _, p := range all {
		for _, n := range p.place {
			if p.recorder != r && !g.reach(place, n) {
				return false
			}
		}
	}
	return true
}

// reach reports whether a node is among others, or precedes one of them. The lock is held.
func (g *Graph) reach(others []int, node int) bool {
	seen := map[int]bool{}
	for stack := slices.Clone(others); len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == node {
			return true
		}
		if n > node && !seen[n] { // a node has a higher number than those before it
			seen[n] = true
			stack = append(stack, g.nodes[n].after...)
		}
	}
	return false
}

// fix ends the allocations of a recording. Its buffers stay as they are.
func (g *Graph) fix() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.memory.fixed, g.memory.free = true, nil
}

// closeMemory closes the graph's buffers and regions. The lock is held. The regions are freed with the
// graph's pins.
func (g *Graph) closeMemory() {
	for _, l := range slices.AppendSeq(g.memory.regions, maps.Values(g.memory.buffers)) {
		l.shut()
	}
	g.memory = graphMemory{fixed: true}
}

// usedBy records that r may record work on the buffer. The buffer is pinned.
func (b *block) usedBy(r *recorder) {
	if b.share.graph != r.graph {
		return
	}
	r.graph.mu.Lock()
	defer r.graph.mu.Unlock()
	if !slices.Contains(b.share.recorders, r) {
		b.share.recorders = append(b.share.recorders, r)
	}
}

// root returns the allocation that has the memory: the region of a buffer in a graph's memory.
func (l lease) root() *allocation {
	if l.share.graph != nil {
		return l.share.region.allocation
	}
	return l.allocation
}
