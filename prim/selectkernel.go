package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// element lists the types that kernels move. Each represents all types of its size.
type element interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// picks is the elements of a thread in selecting: 64 bytes, or 16 small elements.
type picks[E element] interface{ [16]E | [8]E | [4]E }

// picker is a thread's part in selecting elements of a tile in their order. The warp's elements are contiguous, and so are those of an
// iteration.
type picker[E element, V picks[E]] struct {
	t          gpu.Thread
	lane, warp int
	first      int    // index of the warp's first element
	own        uint32 // bit j: whether element lane*len(V)+j of the warp is selected
}

func newPicker[E element, V picks[E]](t gpu.Thread, tile int) picker[E, V] {
	var v V
	p := picker[E, V]{t: t, lane: t.Lane(), warp: t.Warp()}
	p.first = (tile*scanWidth + p.warp*gpu.WarpSize) * len(v)
	return p
}

// mark reads the flags of the elements in own. tail are those after flags.
func (p *picker[E, V]) mark(flags [][4]bool, tail []bool) {
	var v V
	from := p.first + p.lane*len(v)
	for q := range len(v) / 4 {
		var set [4]bool
		if at := from/4 + q; at < len(flags) {
			set = flags[at]
		} else {
			for j := range set {
				if at := from + 4*q + j - 4*len(flags); at < len(tail) {
					set[j] = tail[at]
				}
			}
		}
		for j := range set {
			if set[j] {
				p.own |= 1 << (4*q + j)
			}
		}
	}
}

// iterations replaces own by the flags of the elements of an iteration: in each lane those of the iteration that lane*len(V)/32 is.
func (p *picker[E, V]) iterations() {
	var v V
	for s := 1; s < gpu.WarpSize/len(v); s *= 2 {
		if other := gpu.ShuffleXor(p.t, p.own, s); p.lane&s == 0 {
			p.own |= other << (len(v) * s)
		} else {
			p.own = p.own<<(len(v)*s) | other
		}
	}
}

// selectTiles copies the elements whose flag is set to the start of out, as far as they fit. It
// copies the others to out[rest[0]:] or, if rest is empty, stores the number of set flags in count. tail are the flags after those in
// flags. A block brings its tile into order in shared memory while it waits for the number of elements before them.
//
//gpu:kernel
//gpu:block 512
//gpu:instance selectBytes = selectTiles[uint8, [16]uint8]
//gpu:instance selectHalves = selectTiles[uint16, [16]uint16]
//gpu:instance selectWords = selectTiles[uint32, [16]uint32]
//gpu:instance selectDoubles = selectTiles[uint64, [8]uint64]
//gpu:instance selectQuads = selectTiles[[2]uint64, [4][2]uint64]
func selectTiles[E element, V picks[E]](t gpu.Thread, in, out []E, flags [][4]bool, tail []bool, rest, count []int, ticket []uint32, state []uint64) {
	ordered := gpu.Shared[[scanWidth]V](t)
	counts := gpu.Shared[[scanWarps]uint32](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	p := newPicker[E, V](t, tile)
	p.mark(flags, tail)
	var v V
	for i := range len(v) {
		if at := p.first + i*gpu.WarpSize + p.lane; at < len(in) {
			v[i] = in[at]
		}
	}
	to, all := placeWarp(t, counts, bits.OnesCount32(p.own))
	announce(t, state, tile, all)
	p.iterations()
	others := all + p.warp*gpu.WarpSize*len(v) - to // where the warp's other elements begin
	for i := range len(v) {
		set := gpu.Shuffle(t, p.own, i*(gpu.WarpSize/len(v)))
		before := bits.OnesCount32(set & (1<<p.lane - 1))
		if set>>p.lane&1 != 0 {
			ordered[(to+before)/len(v)][(to+before)%len(v)] = v[i]
		} else if len(rest) > 0 {
			at := others + p.lane - before
			ordered[at/len(v)][at%len(v)] = v[i]
		}
		to += bits.OnesCount32(set)
		others += gpu.WarpSize - bits.OnesCount32(set)
	}
	selected, first := connect(t, state, tile, all), tile*scanWidth*len(v)
	for i := t.ThreadX(); i < all; i += scanWidth {
		if at := selected + uint64(i); at < uint64(len(out)) {
			out[at] = ordered[i/len(v)][i%len(v)]
		}
	}
	if len(rest) > 0 {
		from := rest[0] + first - int(selected) - all
		for i := all + t.ThreadX(); i < min(scanWidth*len(v), len(in)-first); i += scanWidth {
			out[from+i] = ordered[i/len(v)][i%len(v)]
		}
	} else if t.ThreadX() == 0 && first+scanWidth*len(v) >= len(in) {
		count[0] = int(selected) + all
	}
}

// placeWarp returns how many elements the tile's warps before this one have selected, and how many all have. Each thread has own of them.
func placeWarp(t gpu.Thread, counts *[scanWarps]uint32, own int) (before, all int) {
	if n := gpu.WarpReduceAdd(t, uint32(own)); t.Lane() == 0 {
		counts[t.Warp()] = n
	}
	t.Sync()
	until := warpScan[uint32, add](t, counts[t.Lane()%scanWarps]) // of which lanes after the last warp are not used
	all = int(gpu.Shuffle(t, until, scanWarps-1))
	if before = int(gpu.Shuffle(t, until, max(t.Warp(), 1)-1)); t.Warp() == 0 {
		before = 0
	}
	return before, all
}

// countBits are the bits of a word of a tile's state that have a number of elements. The bits above them have its kind.
const countBits = 62

// announce publishes how many elements a tile has selected.
func announce(t gpu.Thread, state []uint64, tile, all int) {
	if t.ThreadX() == 0 && tile > 0 {
		gpu.AtomicStore(&state[tile], aggregate<<countBits|uint64(all))
	}
}

// connect returns how many elements the tiles before the given one have selected, and publishes how many they have with it.
func connect(t gpu.Thread, state []uint64, tile, all int) uint64 {
	start := gpu.Shared[[1]uint64](t)
	if t.Warp() == 0 {
		if n := countBefore(t, state, tile); t.Lane() == 0 {
			gpu.AtomicStore(&state[tile], prefix<<countBits|(n+uint64(all)))
			start[0] = n
		}
	}
	t.Sync()
	return start[0]
}

// countBefore returns the number of selected elements in all tiles before the given one. All threads of a warp call it.
func countBefore(t gpu.Thread, state []uint64, tile int) (n uint64) {
	for last := tile - 1; last >= 0; last -= gpu.WarpSize {
		w := uint64(prefix << countBits)
		if at := last - t.Lane(); at >= 0 {
			for w = gpu.AtomicLoad(&state[at]); w>>countBits == unknown; {
				w = gpu.AtomicLoad(&state[at])
			}
		}
		nearest := bits.TrailingZeros32(gpu.Ballot(t, w>>countBits == prefix)) // lane 0 has the closest tile
		if w &= 1<<countBits - 1; t.Lane() > nearest {
			w = 0
		}
		if n += gpu.WarpReduceAdd(t, w); nearest < gpu.WarpSize {
			break
		}
	}
	return n
}

// countFlags adds the number of set flags to count. Threads advance in strides of the grid.
//
//gpu:kernel
//gpu:block 256
//gpu:instance flagsSet = countFlags[bool]
func countFlags[F bool](t gpu.Thread, flags [][16]F, tail []F, count []int) {
	n := 0
	for i := t.GlobalX(); i < len(flags); i += t.GridDimX() * reduceWidth {
		for _, set := range flags[i] {
			if bool(set) {
				n++
			}
		}
	}
	if i := t.GlobalX(); i < len(tail) && bool(tail[i]) {
		n++
	}
	if n = gpu.WarpReduceAdd(t, n); t.Lane() == 0 {
		gpu.AtomicAdd(&count[0], n)
	}
}
