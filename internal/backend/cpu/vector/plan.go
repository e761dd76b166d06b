package vector

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// plan describes what the lanes of vector code do together.
//
// Where a branch is the same for all lanes that come to it, it is a jump. Where it is not, both
// sides are run, one after the other, each for its lanes; a loop is run until no lane is left in it (after
// Karrenberg and Hack, "Whole-Function Vectorization").
type plan struct {
	e        *Kernel
	g        *layout.Region
	order    []*layout.Node
	places   []int // in order, by rank; -1 for what is not there
	seen     []int // by rank, for always: the number of the search that came there
	searches int
	mask     []*laneSet            // of each block, by rank; nil for all lanes
	splits   map[*layout.Loop]bool // some lanes may leave the loop before others
	shapes   []shape               // by value ID
	sticky   []bool                // by value ID: needed after a loop in which lanes part: a lane that has left keeps its own
	staying  []*ir.Value           // for which stays is true
	user     *layout.Node          // for which shapes are asked for: after such a loop they are others; nil for where the value is
	mixes    map[*layout.Node]bool // goes to where other lanes come, too
	varied   []bool                // by value ID: conditions of branches that differ between lanes
	nodes    []*layout.Node        // by block ID
	dirty    []bool                // by block ID: before which something may have been written
	touched  []bool                // by block ID: before which any lane of the vector may have written
	replays  bool                  // what threads have done in the region they can do again
	agree    bool                  // see vagree.go
	agreeing map[*ir.Value]bool    // comparisons that are the same for all lanes, or the vector is done otherwise
	assumed  *fastPath             // what a fast path assumes, or nil
}

// laneSet is the lanes that run some blocks.
type laneSet struct {
	root    *layout.Node // where they come together
	gathers bool         // several ways lead there
}

type shapeKind uint8

const (
	unknown shapeKind = iota
	uniform           // the same in all lanes
	affine            // each lane has stride more than the one before
	varying
)

// shape describes how a value differs between lanes. Floats are always varying: there is nothing to be
// gained by telling.
type shape struct {
	kind   shapeKind
	stride int64
}

func (p *plan) rankOf(n *layout.Node) int { return p.places[n.Rank] }

// varies reports whether n's branch differs between lanes.
func (p *plan) varies(n *layout.Node) bool {
	t := n.Block.Term()
	return len(n.Succs) == 2 && p.varied[t.Args[0].ID]
}

// legal reports whether all lanes of p's mask may jump from n to s: nobody else has to run
// what lies between.
func (p *plan) legal(n, s *layout.Node) bool {
	m := p.mask[n.Rank]
	if isFault(s) || m == nil {
		return true
	}
	if s == nil {
		return false
	}
	from, to := p.rankOf(n), p.rankOf(s)
	if to <= from {
		return true // checked with the loop
	}
	for _, x := range p.order[from+1 : to+1] {
		if !m.root.Dominates(x) {
			return false
		}
	}
	return true
}

// jumps reports whether all lanes of n go the same way, by a jump.
func (p *plan) jumps(n *layout.Node) bool {
	if p.varies(n) || p.mixes[n] {
		return false
	}
	for _, s := range n.Succs {
		if !p.legal(n, s) {
			return false
		}
		if s != nil && p.partsBetween(n, s) {
			return false
		}
	}
	return true
}

// partsBetween reports whether the edge leaves or repeats a loop in which lanes part.
func (p *plan) partsBetween(n, s *layout.Node) bool {
	for l := n.Loop; l != nil; l = l.Parent {
		if p.splits[l] && (!l.In[s] || s == l.Header) && !isFault(s) {
			return true
		}
	}
	return false
}

// masks sets the lanes of each block. It reports whether it found another branch or loop on which
// lanes diverge, so that it must run again.
func (p *plan) masks() (again bool) {
	clear(p.mask)
	for i, n := range p.order {
		if i > 0 {
			p.mask[n.Rank] = p.maskOf(n)
		}
	}
	for _, n := range p.order {
		for _, s := range n.Succs {
			if s != nil && !isFault(s) && p.jumps(n) && p.mask[s.Rank] != p.mask[n.Rank] {
				p.mixes[n], again = true, true
			}
		}
		for l := n.Loop; l != nil; l = l.Parent {
			if p.splits[l] {
				continue
			}
			for _, s := range n.Succs {
				if isFault(s) || s != nil && l.In[s] && s != l.Header {
					continue
				}
				if !p.jumps(n) || p.mask[n.Rank] != p.mask[l.Header.Rank] {
					p.splits[l], again = true, true
				}
			}
		}
	}
	return again
}

func (p *plan) maskOf(n *layout.Node) *laneSet {
	var preds []*layout.Node
	for _, q := range n.Preds {
		if p.rankOf(q) < p.rankOf(n) && p.rankOf(q) >= 0 {
			preds = append(preds, q)
		}
	}
	if n.Heads() && p.splits[n.Loop] {
		return &laneSet{root: n, gathers: true}
	}
	same := true
	for _, q := range preds {
		same = same && p.jumps(q) && p.mask[q.Rank] == p.mask[preds[0].Rank]
	}
	if same {
		return p.mask[preds[0].Rank]
	}
	d := n.Idom
	for d.Loop != nil && !d.Loop.In[n] {
		d = d.Loop.Header.Idom
	}
	if p.always(d, n) {
		return p.mask[d.Rank]
	}
	return &laneSet{root: n, gathers: len(preds) > 1 || preds[0].Loop != n.Loop}
}

// always reports whether every way from d passes n, in the same round of the loops that n is in. A lane that faults before n is
// come to is no longer there, and none comes to what is after an endless loop while any is in it; but one that comes to what
// is after n, if only to fault there or to stay in a loop, must not have run n.
func (p *plan) always(d, n *layout.Node) bool {
	p.searches++
	p.seen[n.Rank] = p.searches
	var escapes func(m, from *layout.Node) bool
	escapes = func(m, from *layout.Node) bool {
		switch {
		case m == nil:
			return true
		case isFault(m):
			return false
		case p.rankOf(m) > p.rankOf(n), m != n && m.Repeats(from, n):
			return true
		case p.seen[m.Rank] == p.searches:
			return false
		}
		p.seen[m.Rank] = p.searches
		return slices.ContainsFunc(m.Succs, func(s *layout.Node) bool { return escapes(s, m) })
	}
	return !escapes(d, nil)
}

// findSticky finds the values of loops in which lanes part that are used after them.
func (p *plan) findSticky() {
	note := func(v *ir.Value, user *layout.Node) {
		if v.Op == ir.OpParam || p.nodes[v.Block.ID] == nil {
			return
		}
		n := p.nodes[v.Block.ID]
		for l := n.Loop; l != nil; l = l.Parent {
			if p.splits[l] && !l.In[user] {
				p.sticky[v.ID] = true
			}
		}
	}
	for _, n := range p.order {
		for _, v := range n.Block.Values {
			if v.Op == ir.OpPhi {
				continue
			}
			for i, a := range v.Args {
				if !layout.Shown(v, i) {
					note(a, n)
				}
			}
		}
		for _, s := range n.Block.Succs {
			for _, phi := range s.Phis() {
				note(phi.Args[s.PredIndex(n.Block)], n)
			}
		}
		if slices.Contains(n.Succs, nil) {
			p.eachKept(func(v *ir.Value) { note(v, n) })
		}
	}
}

// eachKept calls f for what lanes keep for other regions when they leave this one, phis among it.
func (p *plan) eachKept(f func(v *ir.Value)) {
	for _, n := range p.order {
		for _, v := range n.Block.Values {
			if p.e.Keep[v.ID] != layout.KeepNot && p.e.KeptAtEnd(v) {
				f(v)
			}
		}
	}
}

// findShapes finds the shapes of integers and pointers: of the phis of a loop it assumes the best first.
func (p *plan) findShapes() {
	for changed := true; changed; {
		changed = false
		for _, n := range p.order {
			p.user = n
			for _, v := range n.Block.Values {
				if s := p.shapeOf(v, n); s != p.shapes[v.ID] {
					if p.shapes[v.ID].kind == varying {
						continue
					}
					if p.shapes[v.ID].kind != unknown {
						s = shape{kind: varying}
					}
					p.shapes[v.ID], changed = s, true
				}
			}
		}
	}
}

// shape returns the shape of v as far as it is known.
func (p *plan) shape(v *ir.Value) shape {
	if v.Op == ir.OpParam {
		return fromOutside(v)
	}
	if p.e.Of[v.Block.ID] != p.g || p.e.IsFirstPhi(v) || p.e.Level[v.ID] < layout.PerThread {
		switch {
		case p.e.Level[v.ID] < layout.PerThread, p.e.Keep[v.ID] == layout.KeepBlock:
			return fromOutside(v)
		case p.e.Keep[v.ID] == layout.KeepEach:
			return shape{kind: varying}
		}
		return p.shapeOf(v, nil)
	}
	if p.stays(v) && p.parted(v, p.user) {
		return shape{kind: varying}
	}
	return p.shapes[v.ID]
}

// stays reports whether v is the same for all lanes in a loop, or grows along them, and is needed after it, where each lane
// has what v was when it left.
func (p *plan) stays(v *ir.Value) bool {
	s := p.shapes[v.ID]
	return p.sticky[v.ID] && (s.kind == uniform || s.kind == affine) && p.e.Level[v.ID] >= layout.PerThread && !p.e.IsFirstPhi(v)
}

// parted reports whether lanes part in a loop that v is in and n is not.
func (p *plan) parted(v *ir.Value, n *layout.Node) bool {
	if n == nil {
		return false
	}
	for l := p.nodes[v.Block.ID].Loop; l != nil; l = l.Parent {
		if p.splits[l] && !l.In[n] {
			return true
		}
	}
	return false
}

func fromOutside(v *ir.Value) shape {
	if v.Type.IsFloat() {
		return shape{kind: varying}
	}
	return shape{kind: uniform}
}

func (p *plan) shapeOf(v *ir.Value, n *layout.Node) shape {
	switch {
	case v.Type.IsFloat() || p.sticky[v.ID] && v.Type.Kind != ir.KindI32 && v.Type.Kind != ir.KindI64:
		return shape{kind: varying}
	case v.Op == ir.OpTid && v.Imm == 0:
		return shape{affine, 1}
	case v.Op == ir.OpConst || v.Op == ir.OpVar || layout.IsSpecial(v):
		return shape{kind: uniform}
	case v.Op == ir.OpPhi:
		return p.shapeOfPhi(v, n)
	case v.Op == ir.OpLoad && v.Type.IsInt():
		if s := p.shape(v.Args[0]); s.kind == uniform || s.kind == unknown {
			return s
		}
		return shape{kind: varying}
	case !v.Op.Pure():
		return shape{kind: varying}
	}
	return p.shapeOfPure(v)
}

// shapeOfPure asks for the shape of each argument once: those of other regions are found anew, all the way back.
func (p *plan) shapeOfPure(v *ir.Value) shape {
	var args [2]shape
	same := len(v.Args) > 0 && hasIntegerOp(v)
	for i, a := range v.Args {
		s := p.shape(a)
		if s.kind == unknown {
			return shape{}
		}
		same = same && s.kind == uniform
		if i < len(args) {
			args[i] = s
		}
	}
	switch {
	case same || p.agrees(v):
		return shape{kind: uniform}
	case v.Type.Kind != ir.KindI64 && !v.Type.IsPtr():
		return shape{kind: varying}
	}
	return combined(v, args)
}

// combined returns the shape of an operation on integers of 64 bits or pointers.
func combined(v *ir.Value, args [2]shape) shape {
	x, y := args[0], args[1]
	if x.kind == varying || y.kind == varying || len(v.Args) > 2 {
		return shape{kind: varying}
	}
	switch v.Op {
	case ir.OpSExt, ir.OpZExt:
		if v.Args[0].Op == ir.OpTid {
			return x
		}
	case ir.OpOffset, ir.OpBitcast:
		return x
	case ir.OpAdd:
		return shape{affine, x.stride + y.stride}
	case ir.OpSub:
		return shape{affine, x.stride - y.stride}
	case ir.OpMul:
		if c := v.Args[1]; c.Op == ir.OpConst {
			return shape{affine, x.stride * layout.Truncated(c)}
		}
	case ir.OpShl:
		if c := v.Args[1]; c.Op == ir.OpConst && c.Imm >= 0 && c.Imm < 32 {
			return shape{affine, x.stride << c.Imm}
		}
	case ir.OpIndex:
		if v.Args[1].Type.Kind == ir.KindI64 || y.kind == uniform || v.Args[1].Op == ir.OpTid {
			return shape{affine, x.stride + y.stride*v.Imm}
		}
	}
	return shape{kind: varying}
}

// shapeOfPhi returns what the arguments of v have in common: lanes that are in a loop go around in
// step. Where lanes meet again that have gone different ways, they have nothing in common.
func (p *plan) shapeOfPhi(v *ir.Value, n *layout.Node) shape {
	if n == nil || !n.Heads() && slices.ContainsFunc(n.Preds, func(q *layout.Node) bool { return !p.jumps(q) }) || n.Heads() && len(v.Args) != 2 {
		return shape{kind: varying}
	}
	var s shape
	defer func() { p.user = n }()
	for i, a := range v.Args {
		p.user = p.nodes[n.Block.Preds[i].ID]
		switch x := p.shape(a); {
		case x.kind == unknown:
		case x.kind == varying || s.kind != unknown && s != x || x.kind == affine && (!n.Heads() || v.Type.Kind == ir.KindI32):
			return shape{kind: varying}
		default:
			s = x
		}
	}
	return s
}
