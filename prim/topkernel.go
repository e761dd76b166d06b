package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// The search finds the last of the greatest keys digit by digit, starting with the highest: of the
// keys whose higher digits match, it counts those with each next digit. Then two passes select the
// keys that are greater than the last one, and as many keys equal to it as are missing.

// The state of the search for the last key: its digits so far, and the number of keys with these
// digits that are to be selected.
const (
	topKey = iota
	topWanted
	topWords
)

// countTop adds to counts the number of keys with each digit at how.Shift, among those whose higher
// digits match the key in state.
//
//gpu:kernel
//gpu:block 256
//gpu:instance countNext = countTop[uint32|uint64]
func countTop[K key](t gpu.Thread, x []K, counts, state []uint64, how sortStep[K]) {
	own := gpu.Shared[[digits]uint32](t)
	me := t.ThreadX()
	own[me] = 0
	t.Sync()
	like := K(state[topKey])
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * digits {
		if k := how.Turn.turn(x[i]); (k^like)>>how.Shift>>digitBits == 0 {
			gpu.AtomicAdd(&own[k>>how.Shift%digits], 1, gpu.BlockScope)
		}
	}
	t.Sync()
	if n := own[me]; n != 0 {
		gpu.AtomicAdd(&counts[me], uint64(n))
	}
}

// chooseTop appends the next digit to the key in state.
//
//gpu:kernel
//gpu:block 256
//gpu:instance chooseNext = chooseTop[uint64]
func chooseTop[C uint64](t gpu.Thread, counts, state []C, shift int) {
	warps := gpu.Shared[[digits / gpu.WarpSize]C](t)
	me := t.ThreadX()
	own := counts[digits-1-me] // the highest digit first
	until := digitScan(t, warps, own)
	wanted := state[topWanted]
	t.Sync()
	if until-own < wanted && wanted <= until {
		state[topKey] |= C(digits-1-me) << shift
		state[topWanted] = wanted - (until - own)
	}
}

const (
	topItems = 16 // keys of a thread
	topTile  = scanWidth * topItems
)

// pickTop copies the keys greater than the key in state, or those equal to it, and their indices to
// out and at, in their order. Equal keys follow the greater ones, as far as they fit.
//
//gpu:kernel
//gpu:block 512
//gpu:instance pickBest = pickTop[uint32|uint64]
func pickTop[K key](t gpu.Thread, x, out []K, at []int, known []uint64, ticket []uint32, state []uint64, order sortOrder[K], equal bool) {
	counts := gpu.Shared[[scanWarps]uint32](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	first := (tile*scanWidth + t.Warp()*gpu.WarpSize) * topItems
	last := K(known[topKey])
	own := uint32(0) // bit i: whether the key of iteration i is copied
	for i := range topItems {
		if from := first + i*gpu.WarpSize + t.Lane(); from < len(x) {
			if k := order.turn(x[from]); k > last && !equal || k == last && equal {
				own |= 1 << i
			}
		}
	}
	before, all := placeWarp(t, counts, bits.OnesCount32(own))
	announce(t, state, tile, all)
	to := int(connect(t, state, tile, all)) + before
	if gpu.Ballot(t, own != 0) == 0 { // most warps, if few keys are selected
		return
	}
	if equal {
		to += len(out) - int(known[topWanted])
	}
	for i := range topItems {
		picked := own>>i&1 != 0
		set := gpu.Ballot(t, picked)
		if place := to + bits.OnesCount32(set&(1<<t.Lane()-1)); picked && place < len(out) {
			from := first + i*gpu.WarpSize + t.Lane()
			out[place], at[place] = x[from], from // reading the key again costs less than keeping all keys in registers
		}
		to += bits.OnesCount32(set)
	}
}
