package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// The scan reads and writes each element once (D. Merrill, M. Garland: "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", 2016). A block takes a tile, publishes what the tile
// comes to, looks back over the tiles in front of it until it finds one that knows what all before it come
// to, and publishes the same of itself. Tiles are given out in order by a counter, so a block waits
// only for blocks that run.
const (
	scanWidth  = 256            // threads in a block
	scanWarps  = scanWidth / 32 //
	scanChunks = 4              // arrays of four elements that a thread takes
	scanVecs   = scanWidth * scanChunks
	scanTile   = scanVecs * 4 // elements in a tile
)

// What is known of a tile: the upper half of each word of its state.
const (
	unknown   = iota
	aggregate // what its own elements come to
	prefix    // what they and all before them come to
)

// tileState is what the blocks of a scan know of the tiles, all zeros at first. A word has a
// number's half in its lower 32 bits, so that it changes in one step together with what is said of
// it; a wide number has two words, which belong together where they say the same.
type tileState[T number] []uint64

// put publishes what is known of a tile.
func (s tileState[T]) put(tile int, known uint64, v T) {
	b := toBits(v)
	if isWide[T]() {
		gpu.AtomicStore(&s[2*tile], known<<32|b&(1<<32-1))
		gpu.AtomicStore(&s[2*tile+1], known<<32|b>>32)
		return
	}
	gpu.AtomicStore(&s[tile], known<<32|b)
}

// get waits until something is known of a tile and returns what.
func (s tileState[T]) get(tile int) (known uint64, v T) {
	if isWide[T]() {
		for {
			low, high := gpu.AtomicLoad(&s[2*tile]), gpu.AtomicLoad(&s[2*tile+1])
			if low>>32 == high>>32 && low>>32 != unknown {
				return low >> 32, fromBits[T](high<<32 | low&(1<<32-1))
			}
		}
	}
	for {
		if word := gpu.AtomicLoad(&s[tile]); word>>32 != unknown {
			return word >> 32, fromBits[T](word & (1<<32 - 1))
		}
	}
}

// before returns to a warp what all tiles in front of one come to.
func before[T number, O operator](t gpu.Thread, s tileState[T], tile int, nothing T) T {
	r := nothing
	for last := tile - 1; last >= 0; last -= gpu.WarpSize {
		known, v := uint64(prefix), nothing
		if i := last - t.Lane(); i >= 0 {
			known, v = s.get(i)
		}
		nearest := bits.TrailingZeros32(gpu.Ballot(t, known == prefix)) // lane 0 is the nearest tile
		if t.Lane() > nearest {
			v = nothing
		}
		r = join[T, O](warpJoin[T, O](t, v), r)
		if nearest < gpu.WarpSize {
			break
		}
	}
	return r
}

// scanner is a thread's part in the scan of a tile.
type scanner[T number, O operator] struct {
	t          gpu.Thread
	nothing    T
	lane, warp int
	first      int // of the tile's arrays of four
	v          [scanChunks][4]T
	sums       [scanChunks]T // what the warp's elements in front of v[k] come to
	total      T             // what all of the warp come to
}

// at returns where v[k] lies in the tile.
func (s *scanner[T, O]) at(k int) int {
	return s.warp*(scanVecs/scanWarps) + k*gpu.WarpSize + s.lane
}

// load fills v from a tile of which so much is there.
func (s *scanner[T, O]) load(in [][4]T) {
	if s.first+scanVecs <= len(in) {
		part := in[s.first : s.first+scanVecs]
		for k := range scanChunks {
			s.v[k] = part[s.at(k)]
		}
		return
	}
	for k := range scanChunks {
		s.v[k] = [4]T{s.nothing, s.nothing, s.nothing, s.nothing}
		if i := s.first + s.at(k); i < len(in) {
			s.v[k] = in[i]
		}
	}
}

// store is load's counterpart.
func (s *scanner[T, O]) store(out [][4]T) {
	if s.first+scanVecs <= len(out) {
		part := out[s.first : s.first+scanVecs]
		for k := range scanChunks {
			part[s.at(k)] = s.v[k]
		}
		return
	}
	for k := range scanChunks {
		if i := s.first + s.at(k); i < len(out) {
			out[i] = s.v[k]
		}
	}
}

// shift returns to each thread the v of the one before it, and to the first of the warp nothing.
func (s *scanner[T, O]) shift(v T) T {
	v = gpu.ShuffleUp(s.t, v, 1)
	if s.lane == 0 {
		return s.nothing
	}
	return v
}

// sumUp computes sums and total.
func (s *scanner[T, O]) sumUp() {
	s.total = s.nothing
	for k, v := range s.v {
		until := warpScan[T, O](s.t, join[T, O](join[T, O](v[0], v[1]), join[T, O](v[2], v[3])))
		s.sums[k] = join[T, O](s.total, s.shift(until))
		s.total = join[T, O](s.total, gpu.Shuffle(s.t, until, gpu.WarpSize-1))
	}
}

// connect has the first warp replace the totals of the warps by what is in front of each of
// them, and tell the other tiles what this one comes to.
func (s *scanner[T, O]) connect(warps *[scanWarps]T, state tileState[T], tile int) {
	own := s.nothing
	if s.lane < scanWarps {
		own = warps[s.lane]
	}
	until := warpScan[T, O](s.t, own)
	whole := gpu.Shuffle(s.t, until, gpu.WarpSize-1)
	if s.lane == 0 && tile > 0 {
		state.put(tile, aggregate, whole)
	}
	from := before[T, O](s.t, state, tile, s.nothing)
	if s.lane == 0 {
		state.put(tile, prefix, join[T, O](from, whole))
	}
	if prior := s.shift(until); s.lane < scanWarps {
		warps[s.lane] = join[T, O](from, prior)
	}
}

// spread makes of v what the scan leaves, from what is in front of the warp.
func (s *scanner[T, O]) spread(from T, exclusive bool) {
	for k := range s.v {
		r := join[T, O](from, s.sums[k])
		for j, v := range s.v[k] {
			next := join[T, O](r, v)
			if s.v[k][j] = next; exclusive {
				s.v[k][j] = r
			}
			r = next
		}
	}
}

// scanTiles scans in to out, which may be the same; restIn and restOut are the up to three elements
// behind them. ticket gives out the tiles.
//
//gpu:kernel
//gpu:block 256
//gpu:instance scanTiles[int32|int64|uint32|uint64|float32|float64, add|least|greatest]
func scanTiles[T number, O operator](t gpu.Thread, in, out [][4]T, restIn, restOut []T, ticket []uint32, state []uint64, exclusive bool, nothing T) {
	warps := gpu.Shared[[scanWarps]T](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	s := scanner[T, O]{t: t, nothing: nothing, lane: t.ThreadX() % gpu.WarpSize, warp: t.ThreadX() / gpu.WarpSize, first: tile * scanVecs}
	s.load(in)
	s.sumUp()
	if s.lane == 0 {
		warps[s.warp] = s.total
	}
	t.Sync()
	if s.warp == 0 {
		s.connect(warps, tileState[T](state), tile)
	}
	t.Sync()
	from := warps[s.warp]
	s.spread(from, exclusive)
	s.store(out)
	if t.ThreadX() == scanWidth-1 && s.first+scanVecs > len(in) { // behind the last tile
		r := join[T, O](from, s.total)
		for i, v := range restIn {
			next := join[T, O](r, v)
			if restOut[i] = next; exclusive {
				restOut[i] = r
			}
			r = next
		}
	}
}
