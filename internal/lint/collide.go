package lint

import (
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Limits of the search for a race.
const (
	maxUnknown    = 2  // unknown numbers whose combinations are tried
	maxSamples    = 17 // values of each
	maxRange      = 1 << 16
	maxIterations = 16 // of a loop
)

// An assignment gives values to the numbers that all threads have in common: first for the earlier
// access, second for the later one.
type assignment struct{ first, second map[*ir.Value]int64 }

// collide reports whether two different threads provably access the same location, one of them in p
// and then the other in a. If same is set, both accesses are in the same iteration of the loops
// around them; otherwise, they are in consecutive iterations. If the counters of a loop are known
// from its start, some iteration (or pair of iterations) must have a collision; for numbers of
// which only the range is known, all sampled values must.
func (k *kernel) collide(p, a *access, same bool) bool {
	var counted, ranged []*ir.Value
	l := k.around(p, a)
	for v := range k.unknowns(p, a, same) {
		_, first := p.addr.common[v]
		_, second := a.addr.common[v]
		switch {
		case l == nil || !l.Contains(v.Block):
			ranged = append(ranged, v)
		case k.counted(v, l):
			counted = append(counted, v)
		case first && second && !same: // differs between the two accesses
			return false
		default:
			ranged = append(ranged, v)
		}
	}
	samples, ok := k.samples(ranged, analysis.Point{Block: a.v.Block, Index: 0})
	if !ok {
		return false
	}
	assignments := []assignment{{map[*ir.Value]int64{}, map[*ir.Value]int64{}}}
	if len(counted) > 0 {
		assignments = k.iterations(l, counted, same)
	}
	return slices.ContainsFunc(assignments, func(w assignment) bool { return k.collideInAll(w, samples, p, a) })
}

// collideInAll reports whether p and a collide in w with each of the samples in which both of them are executed, and that
// there are some.
func (k *kernel) collideInAll(w assignment, samples []map[*ir.Value]int64, p, a *access) bool {
	met := false
	for _, s := range samples {
		maps.Copy(w.first, s)
		maps.Copy(w.second, s)
		if !k.executed(p, w.first) || !k.executed(a, w.second) {
			continue
		}
		if !k.collideIn(w, p, a) {
			return false
		}
		met = true
	}
	return met
}

// executed reports whether the conditions that all threads have in common lead to an access, as far as they are known.
func (k *kernel) executed(a *access, w map[*ir.Value]int64) bool {
	for _, c := range a.common {
		if holds, ok := k.holds(c, w); ok && !slices.Contains(holds, true) {
			return false
		}
	}
	return true
}

// unknowns returns the numbers that determine whether p and a collide.
func (k *kernel) unknowns(p, a *access, same bool) map[*ir.Value]bool {
	found := map[*ir.Value]bool{}
	turning := func(v *ir.Value) bool { return !same && k.turns(v, p, a) }
	for v, c := range p.addr.common {
		if c != a.addr.common[v] || turning(v) {
			found[v] = true
		}
	}
	for v, c := range a.addr.common {
		if c != p.addr.common[v] || turning(v) {
			found[v] = true
		}
	}
	for _, g := range slices.Concat(p.guards, a.guards) {
		if x, y, ok := k.sides(g); ok && k.small(x, y, a) {
			for v := range x.common {
				found[v] = true
			}
			for v := range y.common {
				found[v] = true
			}
		}
	}
	return found
}

// small reports whether the numbers of a comparison have ranges small enough to be tried.
func (k *kernel) small(x, y number, a *access) bool {
	for _, n := range []number{x, y} {
		for v := range n.common {
			if _, ok := k.span(v, analysis.Point{Block: a.v.Block, Index: 0}); !ok {
				return false
			}
		}
	}
	return true
}

// sides returns the operands of the comparison of a guard.
func (k *kernel) sides(g guard) (x, y number, ok bool) {
	if !ordered(g.cond.Op) {
		return x, y, false
	}
	x, y = k.eval.of(g.cond.Args[0]), k.eval.of(g.cond.Args[1])
	return x, y, x.known && y.known
}

// around returns the innermost loop around both accesses, or nil.
func (k *kernel) around(p, a *access) *analysis.Loop {
	i := slices.IndexFunc(k.loops, func(l *analysis.Loop) bool { return l.Contains(p.v.Block) && l.Contains(a.v.Block) })
	if i < 0 {
		return nil
	}
	return k.loops[i]
}

// span returns the range of v at a place and reports whether it is small.
func (k *kernel) span(v *ir.Value, at analysis.Point) (analysis.Range, bool) {
	if !v.Type.IsInt() || k.uniform.Varying(v) {
		return analysis.Range{}, false
	}
	r := k.ranges.At(v, at)
	return r, r.Hi-r.Lo >= 0 && r.Hi-r.Lo <= maxRange
}

// samples returns combinations of values for vs, taken from their ranges at a place.
func (k *kernel) samples(vs []*ir.Value, at analysis.Point) ([]map[*ir.Value]int64, bool) {
	list := []map[*ir.Value]int64{{}}
	if len(vs) > maxUnknown {
		return nil, false
	}
	for _, v := range vs {
		r, ok := k.span(v, at)
		if !ok {
			return nil, false
		}
		var next []map[*ir.Value]int64
		for _, s := range list {
			for n := r.Lo; n <= r.Hi; n += max(1, (r.Hi-r.Lo)/(maxSamples-1)) {
				s := maps.Clone(s)
				s[v] = n
				next = append(next, s)
			}
		}
		list = next
	}
	return list, true
}

// collideIn reports whether p and a collide if the numbers have the values of w.
func (k *kernel) collideIn(w assignment, p, a *access) bool {
	first, ok1 := k.mask(p.guards, a.guards, w.first)
	second, ok2 := k.mask(a.guards, p.guards, w.second)
	if !ok1 || !ok2 {
		return false
	}
	var d int64
	for v, c := range a.addr.common {
		d += c * w.second[v]
	}
	for v, c := range p.addr.common {
		d -= c * w.first[v]
	}
	return overlap(accessSet{p.addr.threads, first}, accessSet{a.addr.threads, second}, d)
}

// mask returns the set of threads that pass the guards g. A guard that cannot be evaluated is
// ignored if the other access has it too; otherwise mask returns false.
func (k *kernel) mask(g, other guards, w map[*ir.Value]int64) ([]bool, bool) {
	in := slices.Repeat([]bool{true}, k.eval.count())
	for _, c := range g {
		holds, ok := k.holds(c, w)
		switch {
		case ok:
			for i := range in {
				in[i] = in[i] && holds[i]
			}
		case !slices.Contains(other, c):
			return nil, false
		}
	}
	return in, true
}

// holds returns the set of threads that pass a guard, and false if it cannot be evaluated.
func (k *kernel) holds(g guard, w map[*ir.Value]int64) ([]bool, bool) {
	x, y, ok := k.sides(g)
	sum := func(n number) (s int64) {
		for v, c := range n.common {
			value, known := w[v]
			ok = ok && known
			s += c * value
		}
		return s
	}
	dx, dy := sum(x), sum(y)
	if !ok {
		return nil, false
	}
	passed := make([]bool, k.eval.count())
	for i := range passed {
		r, fine := arithmetic[g.cond.Op](x.threads[i]+dx, y.threads[i]+dy)
		if !fine {
			return nil, false
		}
		passed[i] = (r != 0) == g.holds
	}
	return passed, true
}
