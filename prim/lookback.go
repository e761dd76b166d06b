package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// The state of a tile, in the upper half of each word of a tileState.
const (
	unknown   = iota
	aggregate // the number is the reduction of the tile's elements
	prefix    // the number is the reduction of the tile's elements and all before them
)

// tileState has a word for each tile through which the blocks of a scan communicate, initially
// zero. A word has the state and 32 bits of a number, so both change atomically. A number of 64
// bits has two words, which are consistent if their states are equal.
type tileState[T number] []uint64

// put publishes the state and the number of a tile.
func (s tileState[T]) put(tile int, known uint64, v T) {
	b := toBits(v)
	if isWide[T]() {
		gpu.AtomicStore(&s[2*tile], known<<32|b&(1<<32-1))
		gpu.AtomicStore(&s[2*tile+1], known<<32|b>>32)
		return
	}
	gpu.AtomicStore(&s[tile], known<<32|b)
}

// word is a value read from a tileState. Numbers of 32 bits use only low.
type word[T number] struct{ low, high uint64 }

// look reads the state and the number of a tile.
func (s tileState[T]) look(tile int) (w word[T]) {
	if isWide[T]() {
		return word[T]{gpu.AtomicLoad(&s[2*tile]), gpu.AtomicLoad(&s[2*tile+1])}
	}
	return word[T]{low: gpu.AtomicLoad(&s[tile])}
}

// ready reports whether the tile has published a number.
func (w word[T]) ready() bool {
	return w.low>>32 != unknown && (!isWide[T]() || w.low>>32 == w.high>>32)
}

func (w word[T]) value() T { return fromBits[T](w.high<<32 | w.low&(1<<32-1)) }

// before returns the reduction of all tiles before the given one. All threads of a warp call it.
func before[T number, O operator](t gpu.Thread, s tileState[T], tile int, nothing T) T {
	r := nothing
	for last := tile - 1; last >= 0; last -= gpu.WarpSize * lookReach {
		var words [lookReach]word[T]
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
			nearest := bits.TrailingZeros32(gpu.Ballot(t, known == prefix)) // lane 0 has the closest tile
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

// lookReach is the number of tiles that a thread reads at once when it looks back.
const lookReach = 1

// linker combines a tile with the tiles before it, for one of the scanWidth threads of a block.
type linker[T number, O operator] struct {
	t          gpu.Thread
	nothing    T
	lane, warp int
}

func newLinker[T number, O operator](t gpu.Thread, nothing T) linker[T, O] {
	return linker[T, O]{t, nothing, t.ThreadX() % gpu.WarpSize, t.ThreadX() / gpu.WarpSize}
}

// shift returns v of the previous thread of the warp, or nothing to the first thread.
func (s *linker[T, O]) shift(v T) T {
	v = gpu.ShuffleUp(s.t, v, 1)
	if s.lane == 0 {
		return s.nothing
	}
	return v
}

// connect, called by the first warp, publishes the tile's total, and replaces the totals of the
// warps by the reductions of all elements before each warp.
func (s *linker[T, O]) connect(warps *[scanWarps]T, state tileState[T], tile int) {
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
