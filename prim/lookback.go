package prim

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
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

// lookReach is to how many tiles a thread looks back at once.
const lookReach = 1

// linker is a thread's part in connecting a tile with the others. A block has scanWidth threads.
type linker[T number, O operator] struct {
	t          gpu.Thread
	nothing    T
	lane, warp int
}

func newLinker[T number, O operator](t gpu.Thread, nothing T) linker[T, O] {
	return linker[T, O]{t, nothing, t.ThreadX() % gpu.WarpSize, t.ThreadX() / gpu.WarpSize}
}

// shift returns to each thread the v of the one before it, and to the first of the warp nothing.
func (s *linker[T, O]) shift(v T) T {
	v = gpu.ShuffleUp(s.t, v, 1)
	if s.lane == 0 {
		return s.nothing
	}
	return v
}

// connect has the first warp replace the totals of the warps by what is in front of each of
// them, and tell the other tiles what this one comes to.
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
