package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// level describes how often a value has to be computed.
type level int

const (
	perLaunch level = iota
	perBlock
	perPlane  // for each z
	perRow    // for each y, too
	perThread // from the thread's index alone: in any region that needs it
	inThread  // where it stands in the thread's code
)

// maxAgain is the number of operations up to which a value per thread is computed again in
// another region instead of being kept.
const maxAgain = 10

// keep describes what becomes of a value that is needed in a region it was not computed in.
type keep int

const (
	keepNot   keep = iota
	keepBlock      // in a variable: it is the same for all threads
	keepEach       // in an array, one element a thread
)

// placement describes where every value is computed and kept.
type placement struct {
	*regions
	level        []level                 // by value ID
	keep         []keep                  // by value ID
	oncePerBlock []bool                  // by value ID: a load or check that is done once for the block
	users        [][]*ir.Value           // by value ID: whose operands it is, but for what only messages show
	messages     [][]*ir.Value           // by value ID: those that show it
	root         map[*ir.Value]*ir.Value // of pointers
	loop         []*analysis.Loop        // by block ID: the innermost
	inRow        *analysis.Uniformity
}

func newPlacement(r *regions, f *ir.Func) *placement {
	n := f.NumValues()
	p := &placement{
		regions: r, level: make([]level, n), keep: make([]keep, n), oncePerBlock: make([]bool, n), users: make([][]*ir.Value, n), messages: make([][]*ir.Value, n),
		loop: innermost(r.dom, f.NumBlocks()), root: roots(r.dom), inRow: analysis.NewRowUniformity(r.dom),
	}
	p.count()
	for _, b := range r.dom.Order() {
		lifting := p.of[b.ID].first == b && !p.anyLeaves() && !p.warps // a fault there is one of the block's first thread
		for _, v := range b.Values {
			p.level[v.ID] = p.levelOf(v, &lifting)
		}
	}
	p.keepAll()
	return p
}

// innermost returns the innermost loop of each block by ID.
func innermost(dom *ir.Dom, n int) []*analysis.Loop {
	list := make([]*analysis.Loop, n)
	for _, l := range analysis.Loops(dom) { // inner ones first
		for _, b := range l.Blocks {
			if list[b.ID] == nil {
				list[b.ID] = l
			}
		}
	}
	return list
}

func (p *placement) anyLeaves() bool {
	return slices.ContainsFunc(p.list, func(g *region) bool { return g.leaves })
}

// count finds the uses of values, and those by messages.
func (p *placement) count() {
	for _, b := range p.dom.Order() {
		for _, v := range b.Values {
			for i, a := range v.Args {
				if shown(v, i) {
					p.messages[a.ID] = append(p.messages[a.ID], v)
				} else {
					p.users[a.ID] = append(p.users[a.ID], v)
				}
			}
		}
	}
}

// shown reports whether argument i of v serves a message only.
func shown(v *ir.Value, i int) bool {
	return v.Op == ir.OpCheck && i > 0 || v.Op == ir.OpFault || v.Op == ir.OpPrint
}

// levelOf returns the level of v, given those of its arguments. While lifting, all that the
// region has done so far was done once for the block.
func (p *placement) levelOf(v *ir.Value, lifting *bool) level {
	args := perLaunch
	for _, a := range v.Args {
		args = max(args, p.level[a.ID])
		if a.Type.IsPtr() && a.Op != ir.OpParam && !p.movesPointer(v) {
			args = max(args, p.rootLevel(p.root[a]))
		}
	}
	switch v.Op {
	case ir.OpCtaid:
		return perBlock
	case ir.OpLane:
		return perThread
	case ir.OpTid:
		if p.warps {
			return perThread
		}
		return [...]level{perThread, perRow, perPlane}[v.Imm]
	case ir.OpPhi:
		if p.of[v.Block.ID].first == v.Block && !p.uni.Varying(v) {
			return perBlock
		}
		return inThread
	case ir.OpLoad, ir.OpCheck:
		if *lifting && args <= perBlock && (v.Op == ir.OpCheck || !p.uni.Varying(v)) {
			p.oncePerBlock[v.ID] = true
			return perBlock
		}
		*lifting = *lifting && v.Op == ir.OpLoad
		return inThread
	case ir.OpAlloca: // its address; offsets from it are what has a level
		return perLaunch
	}
	switch {
	case v.Op.Pure():
		return args
	case p.isShared(v):
		return perBlock
	}
	*lifting = *lifting && v.Op.Terminator()
	return inThread
}

// movesPointer reports whether v is a pointer with the root of its argument: then only its
// offset is computed.
func (p *placement) movesPointer(v *ir.Value) bool { return v.Type.IsPtr() && p.root[v] != v }

// rootLevel returns where a root can be written as a pointer.
func (p *placement) rootLevel(root *ir.Value) level {
	if root.Op == ir.OpAlloca {
		return inThread
	}
	return p.level[root.ID]
}

// keepAll decides what is kept from region to region.
func (p *placement) keepAll() {
	used := p.usedInOtherRegions()
	p.keepConditions()
	for _, b := range p.dom.Order() {
		for _, v := range b.Values {
			if !used[v.ID] && !p.isFirstPhi(v) {
				continue
			}
			if p.level[v.ID] == perThread && p.cost(v, 0) > maxAgain {
				p.level[v.ID] = inThread
			}
			switch {
			case p.level[v.ID] != inThread || v.Op == ir.OpAlloca:
			case p.uni.Varying(v):
				p.keep[v.ID] = keepEach
			default:
				p.keep[v.ID] = keepBlock
			}
		}
	}
}

// keepConditions makes variables of the conditions by which a warp branches and that its threads compute.
func (p *placement) keepConditions() {
	for b := range p.together {
		if c := b.Term().Args[0]; p.level[c.ID] >= perThread {
			p.level[c.ID], p.keep[c.ID] = inThread, keepBlock
		}
	}
}

// isFirstPhi reports whether v is a phi where a region begins.
func (p *placement) isFirstPhi(v *ir.Value) bool {
	return v.Op == ir.OpPhi && p.of[v.Block.ID].first == v.Block
}

// usedInOtherRegions reports by value ID whether a region other than the one that computes a value needs
// it. A value that is computed again in the other region needs its arguments there.
func (p *placement) usedInOtherRegions() []bool {
	used := make([]bool, len(p.level))
	type wanted struct {
		v *ir.Value
		g *region
	}
	seen := map[wanted]bool{} // there are twice as many ways to a value with each between that is used twice
	var need func(v *ir.Value, g *region)
	need = func(v *ir.Value, g *region) {
		if v.Block == nil || p.of[v.Block.ID] == g || seen[wanted{v, g}] {
			return
		}
		used[v.ID], seen[wanted{v, g}] = true, true
		if p.level[v.ID] < inThread && !p.isFirstPhi(v) && !p.isShared(v) {
			for _, a := range v.Args {
				need(a, g)
			}
		}
	}
	for _, b := range p.dom.Order() {
		for _, v := range b.Values {
			for i, a := range v.Args {
				g := p.of[b.ID]
				if v.Op == ir.OpPhi {
					g = p.of[b.Preds[i].ID]
				}
				need(a, g)
				if a.Type.IsPtr() && a.Op != ir.OpParam && !p.movesPointer(v) {
					need(p.root[a], g) // of which a, kept or computed there, is the offset alone
				}
			}
		}
	}
	return used
}

// cost counts the operations that compute v in a thread.
func (p *placement) cost(v *ir.Value, n int) int {
	if p.level[v.ID] != perThread || n > maxAgain {
		return n
	}
	n++
	for _, a := range v.Args {
		n = p.cost(a, n)
	}
	return n
}

// isShared reports whether all threads of a block, or of a warp, get the same from v, which they meet for.
func (p *placement) isShared(v *ir.Value) bool {
	return votes(v) || p.warps && analysis.WarpOp(v.Op) && v.Type.Kind != ir.KindVoid && !p.uni.Varying(v)
}

// waysIn returns how many blocks of g lead to the one that phi stands in.
func (p *placement) waysIn(phi *ir.Value, g *region) int {
	n := 0
	for _, b := range phi.Block.Preds {
		if p.of[b.ID] == g {
			n++
		}
	}
	return n
}
