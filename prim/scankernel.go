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
	scanChunks = 4              // packs that a thread takes
	scanReach  = 1              // tiles that a thread looks back to at once
	scanVecs   = scanWidth * scanChunks
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

// word is what is known of a tile: for a number that is not wide, only low counts.
type word[T number] struct{ low, high uint64 }

// look returns what is known of a tile now.
func (s tileState[T]) look(tile int) (w word[T]) {
	if isWide[T]() {
		return word[T]{gpu.AtomicLoad(&s[2*tile]), gpu.AtomicLoad(&s[2*tile+1])}
	}
	return word[T]{low: gpu.AtomicLoad(&s[tile])}
}

// ready reports whether something is known.
func (w word[T]) ready() bool {
	return w.low>>32 != unknown && (!isWide[T]() || w.low>>32 == w.high>>32)
}

func (w word[T]) value() T { return fromBits[T](w.high<<32 | w.low&(1<<32-1)) }

// before returns to a warp what all tiles in front of one come to.
func before[T number, O operator](t gpu.Thread, s tileState[T], tile int, nothing T) T {
	r := nothing
	for last := tile - 1; last >= 0; last -= gpu.WarpSize * scanReach {
		var words [scanReach]word[T]
		for k := range words {
			words[k].low = prefix << 32
			if i := last - k*gpu.WarpSize - t.ThreadX()%gpu.WarpSize; i >= 0 {
				words[k] = s.look(i)
			}
		}
		for k, w := range words {
			known, v := uint64(prefix), nothing
			if i := last - k*gpu.WarpSize - t.ThreadX()%gpu.WarpSize; i >= 0 {
				for !w.ready() {
					w = s.look(i)
				}
				known, v = w.low>>32, w.value()
			}
			nearest := bits.TrailingZeros32(gpu.Ballot(t, known == prefix)) // lane 0 is the nearest tile
			if t.ThreadX()%gpu.WarpSize > nearest {
				v = nothing
			}
			r = join[T, O](warpJoin[T, O](t, v), r)
			if nearest < gpu.WarpSize {
				return r
			}
		}
	}
	return r
}

// scanner is a thread's part in the scan of a tile.
type scanner[T number, A pack[T], O operator] struct {
	t          gpu.Thread
	nothing    T
	lane, warp int
	first      int // of the tile's packs
	v          [scanChunks]A
	total      T // what the warp's elements come to
}

// at returns where v[k] lies in the tile.
func (s *scanner[T, A, O]) at(k int) int {
	return s.warp*(scanVecs/scanWarps) + k*gpu.WarpSize + s.lane
}

// load fills v from a tile of which so much is there.
func (s *scanner[T, A, O]) load(in []A) {
	if s.first+scanVecs <= len(in) {
		part := in[s.first : s.first+scanVecs]
		for k := range scanChunks {
			s.v[k] = part[s.at(k)]
		}
		return
	}
	for k := range scanChunks {
		for j := range len(s.v[k]) {
			s.v[k][j] = s.nothing
		}
		if i := s.first + s.at(k); i < len(in) {
			s.v[k] = in[i]
		}
	}
}

// store is load's counterpart.
func (s *scanner[T, A, O]) store(out []A) {
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
func (s *scanner[T, A, O]) shift(v T) T {
	v = gpu.ShuffleUp(s.t, v, 1)
	if s.lane == 0 {
		return s.nothing
	}
	return v
}

// scanWarp replaces v by its scan over the warp's elements, and computes total.
func (s *scanner[T, A, O]) scanWarp(exclusive bool) {
	s.total = s.nothing
	for k := range s.v {
		until := warpScan[T, O](s.t, joinPack[T, A, O](s.v[k]))
		r := join[T, O](s.total, s.shift(until))
		for j := range len(s.v[k]) {
			next := join[T, O](r, s.v[k][j])
			if s.v[k][j] = next; exclusive {
				s.v[k][j] = r
			}
			r = next
		}
		s.total = join[T, O](s.total, gpu.Shuffle(s.t, until, gpu.WarpSize-1))
	}
}

// connect has the first warp replace the totals of the warps by what is in front of each of
// them, and tell the other tiles what this one comes to.
func (s *scanner[T, A, O]) connect(warps *[scanWarps]T, state tileState[T], tile int) {
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

// scanTiles scans in to out, which may be the same; restIn and restOut are the
// elements behind them that make no pack. ticket gives out the tiles.
//
//gpu:kernel
//gpu:block 256
//gpu:instance scanInt32 = scanTiles[add|least|greatest, int32, [4]int32]
//gpu:instance scanInt64 = scanTiles[add|least|greatest, int64, [2]int64]
//gpu:instance scanUint32 = scanTiles[add|least|greatest, uint32, [4]uint32]
//gpu:instance scanUint64 = scanTiles[add|least|greatest, uint64, [2]uint64]
//gpu:instance scanFloat32 = scanTiles[add|least|greatest, float32, [4]float32]
//gpu:instance scanFloat64 = scanTiles[add|least|greatest, float64, [2]float64]
func scanTiles[O operator, T number, A pack[T]](t gpu.Thread, in, out []A, restIn, restOut []T, ticket []uint32, state []uint64, exclusive bool, nothing T) {
	warps := gpu.Shared[[scanWarps]T](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	s := scanner[T, A, O]{t: t, nothing: nothing, lane: t.ThreadX() % gpu.WarpSize, warp: t.ThreadX() / gpu.WarpSize, first: tile * scanVecs}
	s.load(in)
	s.scanWarp(exclusive)
	if s.lane == 0 {
		warps[s.warp] = s.total
	}
	t.Sync()
	if s.warp == 0 {
		s.connect(warps, tileState[T](state), tile)
	}
	t.Sync()
	from := warps[s.warp]
	for k := range s.v {
		for j := range len(s.v[k]) {
			s.v[k][j] = join[T, O](from, s.v[k][j])
		}
	}
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
