package prim

import "github.com/gopherwarp/gopherwarp/gpu"

// The scan of many elements has larger tiles, of which fewer are looked back over. They stay in shared memory, as registers
// have no room for them. A thread scans neighbouring elements, and the threads of a warp scan their sums, which takes a fraction
// of the exchanges of a scan of each 32 elements. Some blocks of a multiprocessor load while others look back. The elements
// are copied from and to global memory in the order of threads.
const (
	largePacks = 9 // packs of a thread; it is odd, so that the accesses of threads to neighbouring packs have no bank conflicts
	largeWarp  = gpu.WarpSize * largePacks
	largeSpan  = scanWidth * largePacks

	largeResident = 3 // blocks for which a multiprocessor has room
)

// largeScanner is a thread's part in the scan of a large tile.
type largeScanner[T number, A pack[T], O operator] struct {
	linker[T, O]
	first int           // index of the warp's first pack
	tile  *[largeWarp]A // of the warp
}

// load copies the warp's packs. Missing ones become neutral.
func (s *largeScanner[T, A, O]) load(in []A) {
	if s.first+largeWarp <= len(in) {
		part := in[s.first : s.first+largeWarp]
		for k := range largePacks {
			gpu.CopyAsync(s.t, &s.tile[k*gpu.WarpSize+s.lane], &part[k*gpu.WarpSize+s.lane])
		}
		s.t.CommitCopies()
		s.t.WaitCopies(0)
	} else {
		for k := s.lane; k < largeWarp; k += gpu.WarpSize {
			var x A
			for j := range len(x) {
				x[j] = s.nothing
			}
			if i := s.first + k; i < len(in) {
				x = in[i]
			}
			s.tile[k] = x
		}
	}
	s.t.SyncWarp()
}

// store is the counterpart of load.
func (s *largeScanner[T, A, O]) store(out []A) {
	s.t.SyncWarp()
	if s.first+largeWarp <= len(out) {
		part := out[s.first : s.first+largeWarp]
		for k := range largePacks {
			part[k*gpu.WarpSize+s.lane] = s.tile[k*gpu.WarpSize+s.lane]
		}
		return
	}
	for k := s.lane; k < largeWarp; k += gpu.WarpSize {
		if i := s.first + k; i < len(out) {
			out[i] = s.tile[k]
		}
	}
}

// total returns the reduction of the thread's elements.
func (s *largeScanner[T, A, O]) total() T {
	r := joinPack[T, A, O](s.tile[s.lane*largePacks])
	for k := 1; k < largePacks; k++ {
		r = join[T, O](r, joinPack[T, A, O](s.tile[s.lane*largePacks+k]))
	}
	return r
}

// scan scans the thread's elements, where r is the reduction of all elements before them, and returns that of both.
func (s *largeScanner[T, A, O]) scan(r T, exclusive bool) T {
	if exclusive {
		for k := range largePacks {
			v := s.tile[s.lane*largePacks+k]
			for j := range len(v) {
				r, v[j] = join[T, O](r, v[j]), r
			}
			s.tile[s.lane*largePacks+k] = v
		}
		return r
	}
	for k := range largePacks {
		v := s.tile[s.lane*largePacks+k]
		for j := range len(v) {
			r = join[T, O](r, v[j])
			v[j] = r
		}
		s.tile[s.lane*largePacks+k] = v
	}
	return r
}

// scanLarge is scanTiles with tiles of largeSpan packs.
//
//gpu:kernel
//gpu:block 512
//gpu:resident 3
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:instance largeInt32 = scanLarge[add, int32, [4]int32]
//gpu:instance largeInt64 = scanLarge[add, int64, [2]int64]
//gpu:instance largeUint32 = scanLarge[add, uint32, [4]uint32]
//gpu:instance largeUint64 = scanLarge[add, uint64, [2]uint64]
//gpu:instance largeFloat32 = scanLarge[add, float32, [4]float32]
//gpu:instance largeFloat64 = scanLarge[add, float64, [2]float64]
func scanLarge[O operator, T number, A pack[T]](t gpu.Thread, in, out []A, restIn, restOut []T, ticket []uint32, state []uint64, exclusive bool, nothing T) {
	tiles := gpu.Shared[[scanWarps][largeWarp]A](t)
	warps := gpu.Shared[[scanWarps]T](t)
	which := gpu.Shared[[1]uint32](t)
	if t.ThreadX() == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	t.Sync()
	tile := int(which[0])
	s := largeScanner[T, A, O]{linker: newLinker[T, O](t, nothing)}
	s.first, s.tile = tile*largeSpan+s.warp*largeWarp, &tiles[s.warp]
	s.load(in)
	until := warpScan[T, O](t, s.total())
	if s.lane == gpu.WarpSize-1 {
		warps[s.warp] = until
	}
	t.Sync()
	if s.warp == 0 {
		s.connect(warps, tileState[T](state), tile)
	}
	t.Sync()
	r := s.scan(join[T, O](warps[s.warp], s.shift(until)), exclusive)
	s.store(out)
	if t.ThreadX() == scanWidth-1 && (tile+1)*largeSpan > len(in) { // after the last tile
		for i, v := range restIn {
			next := join[T, O](r, v)
			if restOut[i] = next; exclusive {
				restOut[i] = r
			}
			r = next
		}
	}
}
