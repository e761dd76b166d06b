package analysis

import (
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Tiles describes how long asynchronous products read the registers of their left operands.
type Tiles struct {
	// Awaited has, by OpWGMMAWait, the tiles that products may read until then, in the order of
	// their IDs. They must keep their registers until the wait.
	Awaited map[*ir.Value][]*ir.Value

	// Reused is a tile that is computed again while a product of an earlier iteration may still
	// read it, or nil.
	Reused *ir.Value
}

// mostGroups is the largest number of groups of products that a wait may leave incomplete.
const mostGroups = 7

// flight maps the tiles that products may be reading to the least number of groups, up to
// mostGroups+1, that have been closed since the start of such a product.
type flight map[*ir.Value]int

// NewTiles analyses f.
func NewTiles(f *ir.Func) *Tiles {
	t := &Tiles{Awaited: map[*ir.Value][]*ir.Value{}}
	entry := make([]flight, f.NumBlocks()) // by block ID
	for changed := usesTiles(f); changed; {
		changed = false
		for _, b := range f.Blocks {
			out := t.block(b, maps.Clone(entry[b.ID]))
			for _, s := range b.Succs {
				changed = merge(&entry[s.ID], out) || changed
			}
		}
	}
	return t
}

func usesTiles(f *ir.Func) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpWGMMATiles })
	})
}

// block returns what is in flight at the end of b if state is at its start.
func (t *Tiles) block(b *ir.Block, state flight) flight {
	if state == nil {
		state = flight{}
	}
	for _, v := range b.Values {
		if _, ok := state[v]; ok && t.Reused == nil {
			t.Reused = v
		}
		switch v.Op {
		case ir.OpWGMMATiles:
			for _, a := range v.Args[1:5] {
				if a.Op != ir.OpConst {
					state[a] = 0
				}
			}
		case ir.OpWGMMACommit:
			for a, closed := range state {
				state[a] = min(closed+1, mostGroups+1)
			}
		case ir.OpWGMMAWait:
			t.await(v, state)
		}
	}
	return state
}

// await removes the tiles of the products that v waits for from state.
func (t *Tiles) await(v *ir.Value, state flight) {
	for a, closed := range state {
		if closed > int(v.Imm) {
			delete(state, a)
			if !slices.Contains(t.Awaited[v], a) {
				t.Awaited[v] = append(t.Awaited[v], a)
			}
		}
	}
	slices.SortFunc(t.Awaited[v], func(x, y *ir.Value) int { return x.ID - y.ID })
}

// merge adds to *to what may be in flight according to from, and reports whether that changed *to.
func merge(to *flight, from flight) bool {
	changed := false
	for a, closed := range from {
		if before, ok := (*to)[a]; !ok || closed < before {
			if *to == nil {
				*to = flight{}
			}
			(*to)[a], changed = closed, true
		}
	}
	return changed
}
