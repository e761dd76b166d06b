package layout

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Arrays finds which of the values that are kept for every thread can share an array. A region reads what it
// needs at its top and writes what it makes at its ends, so it is enough to know what
// lives from region to region. The result has, by value ID, the value whose array it is.
func (p *Placement) Arrays() []*ir.Value {
	k := &arrayAllocator{Placement: p, array: make([]*ir.Value, len(p.Level)), clash: map[[2]*ir.Value]bool{}}
	for _, b := range p.Dom.Order() {
		for _, v := range b.Values {
			if p.Keep[v.ID] == KeepEach {
				k.array[v.ID] = v
			}
		}
	}
	k.solve()
	for _, g := range p.List {
		k.clashes(g)
	}
	for _, g := range p.List {
		for _, c := range k.copies(g) {
			k.merge(c.phi, c.from)
		}
	}
	return k.array
}

// An arrayAllocator assigns arrays to the values that are kept for every thread.
type arrayAllocator struct {
	*Placement
	array   []*ir.Value
	In, out map[*Region]values // what lives in arrays where a region begins and ends
	clash   map[[2]*ir.Value]bool
}

// values is a set.
type values map[*ir.Value]bool

// phiCopy is what a phi becomes at the end of a region.
type phiCopy struct{ phi, from *ir.Value }

// copies returns the copies at the ends of g into arrays.
func (k *arrayAllocator) copies(g *Region) []phiCopy {
	var list []phiCopy
	for _, s := range g.To {
		for _, phi := range s.Phis() {
			if k.Keep[phi.ID] != KeepEach {
				continue
			}
			for i, b := range s.Preds {
				if k.Of[b.ID] == g {
					list = append(list, phiCopy{phi, phi.Args[i]})
				}
			}
		}
	}
	return list
}

// reads returns the kept values that g reads.
func (k *arrayAllocator) reads(g *Region) values {
	found, seen := values{}, values{}
	var need func(v *ir.Value)
	need = func(v *ir.Value) {
		switch {
		case v.Block == nil || k.Of[v.Block.ID] == g && !k.IsFirstPhi(v):
		case k.Keep[v.ID] == KeepEach:
			found[v] = true
		case k.Level[v.ID] < InThread && !seen[v] && !k.IsFirstPhi(v) && !k.IsShared(v):
			seen[v] = true
			for _, a := range v.Args {
				need(a)
			}
		}
	}
	for _, b := range g.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpPhi {
				continue
			}
			for _, a := range v.Args {
				need(a)
			}
		}
		for _, s := range b.Succs {
			for _, phi := range s.Phis() {
				need(phi.Args[s.PredIndex(b)])
			}
		}
	}
	return found
}

// writes returns the kept values that g writes, the phis after it among them.
func (k *arrayAllocator) writes(g *Region) values {
	found := values{}
	for _, b := range g.Blocks {
		for _, v := range b.Values {
			if k.Keep[v.ID] == KeepEach && !k.IsFirstPhi(v) {
				found[v] = true
			}
		}
	}
	for _, c := range k.copies(g) {
		found[c.phi] = true
	}
	return found
}

func (k *arrayAllocator) solve() {
	k.In, k.out = map[*Region]values{}, map[*Region]values{}
	for _, g := range k.List {
		k.In[g], k.out[g] = k.reads(g), values{}
	}
	for changed := true; changed; {
		changed = false
		for _, g := range slices.Backward(k.List) {
			writes := k.writes(g)
			for _, s := range g.To {
				for v := range k.In[k.Of[s.ID]] {
					k.out[g][v] = true
					if !writes[v] && !k.In[g][v] {
						k.In[g][v], changed = true, true
					}
				}
			}
		}
	}
}

// clashes notes what cannot share an array because g writes one while the other lives.
func (k *arrayAllocator) clashes(g *Region) {
	same := map[[2]*ir.Value]bool{}
	for _, c := range k.copies(g) {
		same[[2]*ir.Value{c.phi, c.from}], same[[2]*ir.Value{c.from, c.phi}] = true, true
	}
	writes := k.writes(g)
	for v := range writes {
		for _, set := range []values{writes, k.out[g]} {
			for w := range set {
				if v != w && !same[[2]*ir.Value{v, w}] {
					k.clash[[2]*ir.Value{v, w}], k.clash[[2]*ir.Value{w, v}] = true, true
				}
			}
		}
	}
}

// merge lets a phi share the array of what it becomes, if none of those in it clash.
func (k *arrayAllocator) merge(phi, from *ir.Value) {
	if k.Keep[from.ID] != KeepEach || !phi.Type.Equal(from.Type) {
		return
	}
	a, b := k.array[phi.ID], k.array[from.ID]
	if a == b {
		return
	}
	for v := range k.sharing(a) {
		for w := range k.sharing(b) {
			if k.clash[[2]*ir.Value{v, w}] {
				return
			}
		}
	}
	for v := range k.sharing(b) {
		k.array[v.ID] = a
	}
}

// sharing returns the values that are in the array of a.
func (k *arrayAllocator) sharing(a *ir.Value) values {
	found := values{}
	for _, b := range k.Dom.Order() {
		for _, v := range b.Values {
			if k.array[v.ID] == a {
				found[v] = true
			}
		}
	}
	return found
}
