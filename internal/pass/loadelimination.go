package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// loadElimination replaces a load by the value that was stored or loaded at its address before,
// where nothing on any path in between may have changed it. Other threads change it at barriers and
// atomics only: without them, Go's memory model lets a thread read once.
//
//	store %0, %1                      store %0, %1
//	%3 = load f32 %0                  %4 = load f32 %2
//	%4 = load f32 %2              ->  %6 = fadd f32 %1, %4
//	%5 = load f32 %2                  %7 = fadd f32 %6, %4
//	%6 = fadd f32 %3, %4
//	%7 = fadd f32 %6, %5
func loadElimination(f *ir.Func, _ *Options) {
	l := &loadEliminator{dom: ir.Dominators(f), index: map[*ir.Value]int{}, known: map[*ir.Value][]*ir.Value{}}
	for _, b := range l.dom.Order() {
		for i, v := range b.Values {
			l.index[v] = i
		}
	}
	var repl ir.Replacements
	for _, b := range l.dom.Order() {
		for _, v := range b.Values {
			if v.Op != ir.OpLoad && v.Op != ir.OpStore {
				continue
			}
			p := v.Args[0]
			if v.Op == ir.OpLoad {
				if x := l.find(v); x != nil {
					repl.Add(v, x)
					continue
				}
			}
			l.known[p] = append(l.known[p], v)
		}
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, repl.Has)
	}
	f.Replace(&repl)
}

// A loadEliminator holds the accesses of one function.
type loadEliminator struct {
	dom   *ir.Dom
	index map[*ir.Value]int         // in the block
	known map[*ir.Value][]*ir.Value // accesses by address
}

// find returns the value that load v must return, or nil. The last access that dominates v is the
// closest one.
func (l *loadEliminator) find(v *ir.Value) *ir.Value {
	for _, k := range slices.Backward(l.known[v.Args[0]]) {
		x := k
		if k.Op == ir.OpStore {
			x = k.Args[1]
		}
		if !x.Type.Equal(v.Type) || !l.before(k, v) {
			continue
		}
		if l.unchanged(k, v) {
			return x
		}
		return nil
	}
	return nil
}

// before reports whether k is on every path to v.
func (l *loadEliminator) before(k, v *ir.Value) bool {
	if k.Block == v.Block {
		return l.index[k] < l.index[v]
	}
	return l.dom.Dominates(k.Block, v.Block)
}

// unchanged reports whether nothing between k and v may write to the address of v. The blocks in
// between are those from which v can be reached without passing k.
func (l *loadEliminator) unchanged(k, v *ir.Value) bool {
	if k.Block == v.Block {
		return !l.written(v, k.Block.Values[l.index[k]+1:l.index[v]])
	}
	if l.written(v, k.Block.Values[l.index[k]+1:]) || l.written(v, v.Block.Values[:l.index[v]]) {
		return false
	}
	seen := make([]bool, v.Block.Func.NumBlocks())
	seen[k.Block.ID] = true
	work := slices.Clone(v.Block.Preds)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b.ID] || l.dom.Rank(b) < 0 {
			continue
		}
		seen[b.ID] = true
		if l.written(v, b.Values) {
			return false
		}
		work = append(work, b.Preds...)
	}
	return true
}

// written reports whether one of the values may change what v loads.
func (l *loadEliminator) written(v *ir.Value, values []*ir.Value) bool {
	return slices.ContainsFunc(values, func(w *ir.Value) bool { return mayChange(w, v) })
}

// mayChange reports whether w, or another thread that w synchronises with, may write what v loads.
func mayChange(w, v *ir.Value) bool {
	if !w.Op.Writes() {
		return false
	}
	if w.Op == ir.OpStore {
		return analysis.MayOverlap(w, v)
	}
	return v.Args[0].Type.Space != ir.Constant
}
