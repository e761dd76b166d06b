package layout

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Level describes how often a value has to be computed.
type Level int

// The levels: once for each of these.
const (
	PerLaunch Level = iota
	PerBlock
	PerPlane  // for each z
	PerRow    // for each y, too
	PerThread // from the thread's index alone: in any region that needs it
	InThread  // where it stands in the thread's code
)

// maxAgain is the number of operations up to which a value per thread is computed again in
// another region instead of being kept.
const maxAgain = 10

// keep describes what becomes of a value that is needed in a region it was not computed in.
type keep int

// Where a value is kept.
const (
	KeepNot   keep = iota
	KeepBlock      // in a variable: it is the same for all threads
	KeepEach       // in an array, one element a thread
)

// Placement describes where every value is computed and kept.
type Placement struct {
	*Regions
	Level        []Level                 // by value ID
	Keep         []keep                  // by value ID
	OncePerBlock []bool                  // by value ID: a load or check that is done once for the block
	Users        [][]*ir.Value           // by value ID: whose operands it is, but for what only messages show
	messages     [][]*ir.Value           // by value ID: those that show it
	Root         map[*ir.Value]*ir.Value // of pointers
	Loop         []*analysis.Loop        // by block ID: the innermost
	InRow        *analysis.Uniformity
}

// NewPlacement places the values of f, which r divides.
func NewPlacement(r *Regions, f *ir.Func) *Placement {
	n := f.NumValues()
	p := &Placement{
		Regions: r, Level: make([]Level, n), Keep: make([]keep, n), OncePerBlock: make([]bool, n), Users: make([][]*ir.Value, n), messages: make([][]*ir.Value, n),
		Loop: innermost(r.Dom, f.NumBlocks()), Root: roots(r.Dom), InRow: analysis.NewRowUniformity(r.Dom),
	}
	p.count()
	for _, b := range r.Dom.Order() {
		lifting := p.Of[b.ID].First == b && !p.AnyLeaves() && !p.Warps // a fault there is one of the block's first thread
		for _, v := range b.Values {
			p.Level[v.ID] = p.levelOf(v, &lifting)
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

// AnyLeaves reports whether threads may leave the kernel in any of the regions.
func (p *Placement) AnyLeaves() bool {
	return slices.ContainsFunc(p.List, func(g *Region) bool { return g.Leaves })
}

// count finds the uses of values, and those by messages.
func (p *Placement) count() {
	for _, b := range p.Dom.Order() {
		for _, v := range b.Values {
			for i, a := range v.Args {
				if Shown(v, i) {
					p.messages[a.ID] = append(p.messages[a.ID], v)
				} else {
					p.Users[a.ID] = append(p.Users[a.ID], v)
				}
			}
		}
	}
}

// Shown reports whether argument i of v serves a message only.
func Shown(v *ir.Value, i int) bool {
	return v.Op == ir.OpCheck && i > 0 || v.Op == ir.OpFault || v.Op == ir.OpPrint
}

// levelOf returns the level of v, given those of its arguments. While lifting, all that the
// region has done so far was done once for the block.
func (p *Placement) levelOf(v *ir.Value, lifting *bool) Level {
	args := PerLaunch
	for _, a := range v.Args {
		args = max(args, p.Level[a.ID])
		if a.Type.IsPtr() && a.Op != ir.OpParam && !p.movesPointer(v) {
			args = max(args, p.rootLevel(p.Root[a]))
		}
	}
	switch v.Op {
	case ir.OpCtaid:
		return PerBlock
	case ir.OpLane:
		return PerThread
	case ir.OpTid:
		if p.Warps {
			return PerThread
		}
		return [...]Level{PerThread, PerRow, PerPlane}[v.Imm]
	case ir.OpPhi:
		if p.Of[v.Block.ID].First == v.Block && !p.Uni.Varying(v) {
			return PerBlock
		}
		return InThread
	case ir.OpLoad, ir.OpCheck:
		if *lifting && args <= PerBlock && (v.Op == ir.OpCheck || !p.Uni.Varying(v)) {
			p.OncePerBlock[v.ID] = true
			return PerBlock
		}
		*lifting = *lifting && v.Op == ir.OpLoad
		return InThread
	case ir.OpAlloca: // its address; offsets from it are what has a level
		return PerLaunch
	}
	switch {
	case v.Op.Pure():
		return args
	case p.IsShared(v):
		return PerBlock
	}
	*lifting = *lifting && v.Op.Terminator()
	return InThread
}

// movesPointer reports whether v is a pointer with the root of its argument: then only its
// offset is computed.
func (p *Placement) movesPointer(v *ir.Value) bool { return v.Type.IsPtr() && p.Root[v] != v }

// rootLevel returns where a root can be written as a pointer.
func (p *Placement) rootLevel(root *ir.Value) Level {
	if root.Op == ir.OpAlloca {
		return InThread
	}
	return p.Level[root.ID]
}

// keepAll decides what is kept from region to region.
func (p *Placement) keepAll() {
	used := p.usedInOtherRegions()
	p.keepConditions()
	for _, b := range p.Dom.Order() {
		for _, v := range b.Values {
			if !used[v.ID] && !p.IsFirstPhi(v) {
				continue
			}
			if p.Level[v.ID] == PerThread && p.cost(v, 0) > maxAgain {
				p.Level[v.ID] = InThread
			}
			switch {
			case p.Level[v.ID] != InThread || v.Op == ir.OpAlloca:
			case p.Uni.Varying(v):
				p.Keep[v.ID] = KeepEach
			default:
				p.Keep[v.ID] = KeepBlock
			}
		}
	}
}

// keepConditions makes variables of the conditions by which a warp branches and that its threads compute.
func (p *Placement) keepConditions() {
	for b := range p.Together {
		if c := b.Term().Args[0]; p.Level[c.ID] >= PerThread {
			p.Level[c.ID], p.Keep[c.ID] = InThread, KeepBlock
		}
	}
}

// IsFirstPhi reports whether v is a phi where a region begins.
func (p *Placement) IsFirstPhi(v *ir.Value) bool {
	return v.Op == ir.OpPhi && p.Of[v.Block.ID].First == v.Block
}

// usedInOtherRegions reports by value ID whether a region other than the one that computes a value needs
// it. A value that is computed again in the other region needs its arguments there.
func (p *Placement) usedInOtherRegions() []bool {
	used := make([]bool, len(p.Level))
	type wanted struct {
		v *ir.Value
		g *Region
	}
	seen := map[wanted]bool{} // there are twice as many ways to a value with each between that is used twice
	var need func(v *ir.Value, g *Region)
	need = func(v *ir.Value, g *Region) {
		if v.Block == nil || p.Of[v.Block.ID] == g || seen[wanted{v, g}] {
			return
		}
		used[v.ID], seen[wanted{v, g}] = true, true
		if p.Level[v.ID] < InThread && !p.IsFirstPhi(v) && !p.IsShared(v) {
			for _, a := range v.Args {
				need(a, g)
			}
		}
	}
	for _, b := range p.Dom.Order() {
		for _, v := range b.Values {
			for i, a := range v.Args {
				g := p.Of[b.ID]
				if v.Op == ir.OpPhi {
					g = p.Of[b.Preds[i].ID]
				}
				need(a, g)
				if a.Type.IsPtr() && a.Op != ir.OpParam && !p.movesPointer(v) {
					need(p.Root[a], g) // of which a, kept or computed there, is the offset alone
				}
			}
		}
	}
	return used
}

// cost counts the operations that compute v in a thread.
func (p *Placement) cost(v *ir.Value, n int) int {
	if p.Level[v.ID] != PerThread || n > maxAgain {
		return n
	}
	n++
	for _, a := range v.Args {
		n = p.cost(a, n)
	}
	return n
}

// IsShared reports whether all threads of a block, or of a warp, get the same from v, which they meet for.
func (p *Placement) IsShared(v *ir.Value) bool {
	return Votes(v) || p.Warps && analysis.WarpOp(v.Op) && v.Type.Kind != ir.KindVoid && !p.Uni.Varying(v)
}

// WaysIn returns how many blocks of g lead to the one that phi stands in.
func (p *Placement) WaysIn(phi *ir.Value, g *Region) int {
	n := 0
	for _, b := range phi.Block.Preds {
		if p.Of[b.ID] == g {
			n++
		}
	}
	return n
}
