package prim

import "github.com/gopherwarp/gopherwarp/gpu"

// The scan reads and writes each element once (D. Merrill and M. Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", 2016). A block takes a tile, publishes the tile's
// reduction, and looks back over the previous tiles until it finds one that has published the
// reduction of all elements up to its end. The block then publishes the same for its own tile. A
// counter assigns the tiles in order, so a block waits only for running blocks.
const (
	scanWidth = 512 // threads in a block
	scanWarps = scanWidth / gpu.WarpSize
	scanPacks = 8 // packs of a thread
	scanSpan  = scanWidth * scanPacks
)

// scanner is a thread's part in the scan of a tile.
type scanner[T number, A pack[T], O operator] struct {
	linker[T, O]
	first int // index of the tile's first pack
	v     [scanPacks]A
	total T // reduction of the warp's elements
}

// at returns the index of v[k] in the tile.
func (s *scanner[T, A, O]) at(k int) int {
	return s.warp*(scanSpan/scanWarps) + k*gpu.WarpSize + s.lane
}

// load fills v from a tile, which may be incomplete.
func (s *scanner[T, A, O]) load(in []A) {
	if s.first+scanSpan <= len(in) {
		part := in[s.first : s.first+scanSpan]
		for k := range scanPacks {
			s.v[k] = part[s.at(k)]
		}
		return
	}
	for k := range scanPacks {
		for j := range len(s.v[k]) {
			s.v[k][j] = s.nothing
		}
		if i := s.first + s.at(k); i < len(in) {
			s.v[k] = in[i]
		}
	}
}

// store is the counterpart of load.
func (s *scanner[T, A, O]) store(out []A) {
	if s.first+scanSpan <= len(out) {
		part := out[s.first : s.first+scanSpan]
		for k := range scanPacks {
			part[s.at(k)] = s.v[k]
		}
		return
	}
	for k := range scanPacks {
		if i := s.first + s.at(k); i < len(out) {
			out[i] = s.v[k]
		}
	}
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

// scanTiles scans in to out, which may be the same slice. restIn and restOut are the elements after
// them that are not part of a pack. ticket is the counter that assigns the tiles.
//
//gpu:kernel
//gpu:block 512
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
	s := scanner[T, A, O]{linker: newLinker[T, O](t, nothing), first: tile * scanSpan}
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
	if t.ThreadX() == scanWidth-1 && s.first+scanSpan > len(in) { // after the last tile
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
