package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// The radix sort moves each key once per digit of eight bits, starting with the lowest (A. Adinets
// and D. Merrill, "Onesweep", 2022). One kernel counts the digits of all passes. In a pass, a block
// takes a tile, ranks its keys by digit, and looks back over the previous tiles, as a scan does, for
// each digit. It first orders the keys in shared memory, so that its writes are contiguous.
const (
	digitBits = 8
	digits    = 1 << digitBits
	sortWidth = 256 // threads in a block, at least one per digit
	sortWarps = sortWidth / gpu.WarpSize
	sortItems = 26 // keys of a thread
	sortTile  = sortWidth * sortItems
	warpItems = gpu.WarpSize * sortItems
)

// key lists the types by which kernels sort. A sortOrder maps the bits of other types to them.
type key interface{ uint32 | uint64 }

// value lists the types that kernels move with keys. The type none stands for no values.
type value interface{ none | uint32 | uint64 }

type none uint8

// hasValues reports whether V is not none.
func hasValues[V value]() bool {
	x := V(255)
	return x+1 != 0
}

// sortOrder maps the bits of keys to unsigned numbers in the same order, and back. Mapping a key
// flips the bits of Every, those of Negative too if its sign bit is set, and then those of After.
type sortOrder[K key] struct{ Negative, Every, After K }

// signBit returns the position of the highest bit of K.
func signBit[K key]() int {
	if isWide[K]() {
		return 63
	}
	return 31
}

func (o sortOrder[K]) turn(k K) K {
	return k ^ (-(k>>signBit[K]())&o.Negative | o.Every) ^ o.After
}

func (o sortOrder[K]) back(k K) K {
	k ^= o.After
	if o.Every == 0 {
		return k
	}
	return k ^ ((k>>signBit[K]()-1)&o.Negative | o.Every)
}

// countDigits adds the number of keys with each digit to the first of the rows of each pass.
//
//gpu:kernel
//gpu:block 256
//gpu:instance countEach = countDigits[uint32|uint64]
func countDigits[K key](t gpu.Thread, x [][4]K, rest []K, counts []uint64, rows int, order sortOrder[K]) {
	own := gpu.Shared[[8][digits]uint32](t)
	me := t.ThreadX()
	for p := range passes[K]() {
		own[p][me] = 0
	}
	t.Sync()
	count := func(k K) {
		k = order.turn(k)
		for p := range passes[K]() {
			gpu.AtomicAdd(&own[p][k>>(p*digitBits)%digits], 1, gpu.BlockScope)
		}
	}
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * digits {
		for _, k := range x[i] {
			count(k)
		}
	}
	if i := t.GlobalX(); i < len(rest) {
		count(rest[i])
	}
	t.Sync()
	for p := range passes[K]() {
		gpu.AtomicAdd(&counts[p*rows*digits+me], uint64(own[p][me]))
	}
}

// passes returns the number of digits of a K.
func passes[K key]() int {
	if isWide[K]() {
		return 8
	}
	return 4
}

// startDigits replaces the counts in the first row of a pass by the sums of the preceding counts.
// counts has the given number of rows per pass, and block i processes pass i.
//
//gpu:kernel
//gpu:block 256
//gpu:instance startEach = startDigits[uint64]
func startDigits[C uint64](t gpu.Thread, counts []C, rows int) {
	warps := gpu.Shared[[digits / gpu.WarpSize]C](t)
	i := t.BlockX()*rows*digits + t.ThreadX()
	v := counts[i]
	counts[i] = digitScan(t, warps, v) - v
}

// digitScan returns the inclusive scan of v over the block's threads. All threads call it; only the
// results of the first threads, one per digit, are used.
func digitScan[T uint32 | uint64](t gpu.Thread, warps *[digits / gpu.WarpSize]T, v T) T {
	lane, warp := t.ThreadX()%gpu.WarpSize, t.ThreadX()/gpu.WarpSize
	v = warpScan[T, add](t, v)
	if lane == gpu.WarpSize-1 && warp < len(warps) {
		warps[warp] = v
	}
	t.Sync()
	for w, sum := range *warps {
		if w < warp {
			v += sum
		}
	}
	return v
}

// The state of a digit in a tile: the upper two bits are a state as in tileState, and the other
// bits are the number of keys with the digit in the tile, or in all tiles up to it.
const (
	stateShift = 30
	stateCount = 1<<stateShift - 1
	// sortPortion is the maximum number of keys per launch: a digit's count fits below stateShift.
	sortPortion = 1 << 29
)

// sortReach is the number of tiles that a thread reads at once when it looks back.
const sortReach = 4

// keysBefore returns the number of keys with a digit in all tiles before the given one. state
// starts at the digit's word of the first tile.
func keysBefore(state []uint32, tile int) uint32 {
	sum := uint32(0)
	for last := tile - 1; last >= 0; last -= sortReach {
		var words [sortReach]uint32
		for k := range words {
			words[k] = prefix << stateShift
			if last >= k {
				words[k] = gpu.AtomicLoad(&state[(last-k)*digits])
			}
		}
		for k, word := range words {
			for word == 0 {
				word = gpu.AtomicLoad(&state[(last-k)*digits])
			}
			sum += word & stateCount
			if word>>stateShift == prefix {
				return sum
			}
		}
	}
	return sum
}

// peers returns the set of the warp's threads with the same digit.
func peers(t gpu.Thread, digit uint32) uint32 {
	set := ^uint32(0)
	for b := range digitBits {
		without := uint32(0)
		if digit&(1<<b) == 0 {
			without = ^uint32(0)
		}
		set &= gpu.Ballot(t, digit&(1<<b) != 0) ^ without
	}
	return set
}

// sorter is a thread's part in moving the keys of a tile.
type sorter[K key, V value] struct {
	t          gpu.Thread
	me         int
	lane, warp int
	first      int // index of the tile's first key
	n          int // number of the tile's keys, less than sortTile in the last tile
	shift      int
	keys       [sortItems]K
	// places[i] is the rank of keys[i] among the warp's keys with its digit, and later in the tile.
	// Its upper half is the digit, which thus needs no register of its own.
	places [sortItems]uint32
}

func (s *sorter[K, V]) digit(k K) uint32 { return uint32(k>>s.shift) % digits }

// at returns the index of keys[i] in the tile. The keys of a warp are contiguous.
func (s *sorter[K, V]) at(i int) int { return s.warp*warpItems + i*gpu.WarpSize + s.lane }

// load fills keys. Missing keys become the greatest key.
func (s *sorter[K, V]) load(in []K, order sortOrder[K]) {
	if s.n == sortTile {
		part := in[s.first : s.first+sortTile]
		for i := range s.keys {
			s.keys[i] = order.turn(part[s.at(i)])
		}
		return
	}
	part := in[s.first : s.first+s.n]
	for i := range s.keys {
		s.keys[i] = ^K(0)
		if at := s.at(i); at < len(part) {
			s.keys[i] = order.turn(part[at])
		}
	}
}

// rank fills places, and counts the warp's keys by digit.
func (s *sorter[K, V]) rank(counts *[digits]uint32) {
	below := uint32(1)<<s.lane - 1
	for i, k := range s.keys {
		d := s.digit(k)
		same := peers(s.t, d)
		before := uint32(bits.OnesCount32(same & below))
		known := counts[d]
		s.t.SyncWarp()
		if before == 0 {
			counts[d] = known + uint32(bits.OnesCount32(same))
		}
		s.t.SyncWarp()
		s.places[i] = d<<16 | (known + before)
	}
}

// stageValues stores the values in shared memory in the order of their keys.
func (s *sorter[K, V]) stageValues(staged *[sortTile]V, from []V) {
	if s.n == sortTile {
		part := from[s.first : s.first+sortTile]
		for i, place := range s.places {
			staged[place] = part[s.at(i)]
		}
		return
	}
	part := from[s.first : s.first+s.n]
	for i, place := range s.places {
		if at := s.at(i); at < len(part) {
			staged[place] = part[at]
		}
	}
}

// sortGroup is the number of keys that a thread writes at once.
const sortGroup = 8

// store writes the tile's sorted keys to the positions where their digits begin.
func (s *sorter[K, V]) store(out []K, staged *[sortTile]K, bases *[digits]uint64, order sortOrder[K]) {
	for i := s.me; i < s.n; i += sortGroup * sortWidth {
		if i+(sortGroup-1)*sortWidth >= s.n {
			for ; i < s.n; i += sortWidth {
				k := staged[i]
				out[bases[s.digit(k)]+uint64(i)] = order.back(k)
			}
			return
		}
		var keys [sortGroup]K
		for j := range keys {
			keys[j] = staged[i+j*sortWidth]
		}
		for j, k := range keys {
			out[bases[s.digit(k)]+uint64(i+j*sortWidth)] = order.back(k)
		}
	}
}

// storeValues writes the tile's values to the positions to which store writes their keys.
func (s *sorter[K, V]) storeValues(out []V, values *[sortTile]V, staged *[sortTile]K, bases *[digits]uint64) {
	for i := s.me; i < s.n; i += sortGroup * sortWidth {
		if i+(sortGroup-1)*sortWidth >= s.n {
			for ; i < s.n; i += sortWidth {
				out[bases[s.digit(staged[i])]+uint64(i)] = values[i]
			}
			return
		}
		var places [sortGroup]uint64
		for j := range places {
			at := i + j*sortWidth
			places[j] = bases[s.digit(staged[at])] + uint64(at)
		}
		for j, place := range places {
			out[place] = values[i+j*sortWidth]
		}
	}
}

// moveKeys moves the keys of in and the values of fromValues by the digit at how.Shift. starts[d]
// is the position at which the keys with digit d begin; next receives the same for the next
// portion.
//
//gpu:kernel
//gpu:block 256
//gpu:instance sortPass = moveKeys[uint32|uint64, none|uint32|uint64]
func moveKeys[K key, V value](t gpu.Thread, in, out []K, fromValues, toValues []V, starts, next []uint64, ticket, state []uint32, how sortStep[K]) {
	counts := gpu.Shared[[sortWarps][digits]uint32](t)
	staged := gpu.Shared[[sortTile]K](t)
	stagedValues := gpu.Shared[[sortTile]V](t)
	bases := gpu.Shared[[digits]uint64](t)
	warps := gpu.Shared[[digits / gpu.WarpSize]uint32](t)
	which := gpu.Shared[[1]uint32](t)
	me := t.ThreadX()
	if me == 0 {
		which[0] = gpu.AtomicAdd(&ticket[0], 1)
	}
	for i := me; i < sortWarps*digits; i += sortWidth {
		counts[i/digits][i%digits] = 0
	}
	t.Sync()
	tile := int(which[0])
	s := sorter[K, V]{t: t, me: me, lane: me % gpu.WarpSize, warp: me / gpu.WarpSize, first: tile * sortTile, shift: how.Shift}
	s.n = min(sortTile, len(in)-s.first)
	s.load(in, how.Turn)
	s.rank(&counts[s.warp])
	t.Sync()

	// Each thread handles a digit: it computes the number of the tile's keys with the digit in all
	// warps before each warp, and the position in the tile where they begin.
	var total, here uint32
	var before [sortWarps]uint32
	if me < digits {
		for w := range before {
			before[w] = total
			total += counts[w][me]
		}
		here = total
		if me == digits-1 {
			here -= uint32(sortTile - s.n)
		}
		gpu.AtomicStore(&state[tile*digits+me], aggregate<<stateShift|here)
	}
	begin := digitScan(t, warps, total) - total
	if me < digits {
		for w := range before {
			counts[w][me] = begin + before[w]
		}
	}
	t.Sync()
	for i, k := range s.keys {
		place := s.places[i]
		s.places[i] = min(place&0xffff+counts[s.warp][place>>16%digits], sortTile-1) // never larger
		staged[s.places[i]] = k
	}
	if hasValues[V]() {
		s.stageValues(stagedValues, fromValues)
	}
	if me < digits {
		sum := keysBefore(state[me:], tile)
		gpu.AtomicStore(&state[tile*digits+me], prefix<<stateShift|(sum+here))
		bases[me] = starts[me] + uint64(sum) - uint64(begin)
		if s.first+sortTile >= len(in) {
			next[me] = starts[me] + uint64(sum) + uint64(here)
		}
	}
	t.Sync()
	s.store(out, staged, bases, how.Back)
	if hasValues[V]() {
		s.storeValues(toValues, stagedValues, staged, bases)
	}
}

// sortStep describes a pass.
type sortStep[K key] struct {
	Shift      int // the digit's lowest bit
	Turn, Back sortOrder[K]
}
