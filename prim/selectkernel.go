package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	selectItems = 8 // elements per thread
	selectTile  = scanWidth * selectItems
	selectWarp  = gpu.WarpSize * selectItems
)

// element lists the types that kernels move. Each represents all types of its size.
type element interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// picker is a thread's part in selecting elements of a tile in their order. The warp's elements are
// contiguous, and so are those of an iteration.
type picker struct {
	linker[uint64, add]
	first int    // index of the tile's first element
	own   uint32 // bit i: whether the thread's element of iteration i is selected
}

func newPicker(t gpu.Thread, tile int) picker {
	return picker{linker: newLinker[uint64, add](t, 0), first: tile * selectTile}
}

// at returns the index of the thread's element of iteration i.
func (p *picker) at(i int) int { return p.first + p.warp*selectWarp + i*gpu.WarpSize + p.lane }

// pick records whether the element of iteration i is selected.
func (p *picker) pick(i int, picked bool) {
	if picked {
		p.own |= 1 << i
	}
}

// place returns the number of selected elements before the warp's first.
func (p *picker) place(warps *[scanWarps]uint64, state []uint64, tile int) uint64 {
	if n := gpu.WarpReduceAdd(p.t, uint32(bits.OnesCount32(p.own))); p.lane == 0 {
		warps[p.warp] = uint64(n)
	}
	p.t.Sync()
	if p.warp == 0 {
		p.connect(warps, tileState[uint64](state), tile)
	}
	p.t.Sync()
	return warps[p.warp]
}

// rank reports whether the thread's element of iteration i is selected, how many of the warp's
// selected elements of that iteration are before it, and how many there are.
func (p *picker) rank(i int) (picked bool, before, all uint64) {
	picked = p.own>>i&1 != 0
	set, below := gpu.Ballot(p.t, picked), uint32(1)<<p.lane-1
	return picked, uint64(bits.OnesCount32(set & below)), uint64(bits.OnesCount32(set))
}

// selectTiles copies the elements whose flag is set to the start of out, as far as they fit. It
// copies the others to out[rest[0]:] or, if rest is empty, stores the number of set flags in count.
//
//gpu:kernel
//gpu:block 512
//gpu:instance selectFlagged = selectTiles[uint8|uint16|uint32|uint64|[2]uint64]
func selectTiles[E element](t gpu.Thread, in, out []E, flags []bool, rest, count []int, ticket []uint32, state []uint64) {
	warps := gpu.Shared[[scanWarps]uint64](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	p := newPicker(t, tile)
	for i := range selectItems {
		at := p.at(i)
		p.pick(i, at < len(flags) && flags[at])
	}
	var v [selectItems]E
	for i := range v {
		if at := p.at(i); at < len(in) {
			v[i] = in[at]
		}
	}
	others, total := len(rest) > 0, 0
	if others {
		total = rest[0]
	}
	to := p.place(warps, state, tile)
	for i := range v {
		picked, before, all := p.rank(i)
		if at := to + before; picked && at < uint64(len(out)) {
			out[at] = v[i]
		}
		if at := p.at(i); others && !picked && at < len(in) {
			out[total+at-int(to+before)] = v[i]
		}
		to += all
	}
	if t.ThreadX() == scanWidth-1 && p.first+selectTile >= len(in) && len(rest) == 0 {
		count[0] = int(to)
	}
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
