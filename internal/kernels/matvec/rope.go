package matvec

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// HeadSize is the number of elements of a query, a key or a value.
const HeadSize = 128

const half = HeadSize / 2

// PageTokens is the number of tokens of a page of keys or values. A page is [key heads][PageTokens][HeadSize]; the pages
// of a sequence follow each other.
const PageTokens = 64

// heads are the numbers of heads of queries and of keys.
type heads struct{ queries, keys int }

// normQKV multiplies the normalized x by the rows of w: of the queries, the keys and the values, head by head. It rotates
// queries and keys by the angles of the token's position (Su et al., "RoFormer"; element i of the first half of a head
// makes a pair with element i of the second half), stores the queries, and appends keys and values to the cache. Each warp has
// the two rows of a pair.
//
//gpu:kernel
//gpu:twin off
//gpu:target sm_80
//gpu:instance NormQKV = normQKV[shallow]
func normQKV[R reach](t gpu.Thread, w, gain []quad, x []numbers, epsilon float32, position []int32, turns [][2]float32, h heads, q, k, v []dtype.BF16) {
	t.StartNext()
	near := gpu.DynamicShared[quad](t)
	b := begin[R](t, w, layout{groups: (h.queries + 2*h.keys) * half, quads: len(near), each: 1, far: half, skip: half})
	stage(t, near, gain)
	t.AwaitPrevious()
	at := int(position[0])
	normalize(t, near, x, epsilon)
	for b.more() {
		p := placed(at, b.group, turns)
		sums := b.multiply(t, near)
		if t.Lane() == 0 {
			h.store(p, [2]float32{sums[0], sums[1]}, rotated{q, k, v})
		}
	}
}

// rotated is where queries, keys and values are stored.
type rotated struct{ q, k, v []dtype.BF16 }

// place is a pair of elements of a token at a position, with the cosine and the sine of its angle.
type place struct {
	at, head, i int
	turn        [2]float32
}

func placed(at, pair int, turns [][2]float32) place {
	i := pair % half
	return place{at, pair / half, i, turns[at*half+i]}
}

// store rotates a pair, unless it is of a value, and stores it.
func (h heads) store(p place, x [2]float32, to rotated) {
	head, i, at, turn := p.head, p.i, p.at, p.turn
	if head < h.queries+h.keys {
		x = [2]float32{x[0]*turn[0] - x[1]*turn[1], x[1]*turn[0] + x[0]*turn[1]}
	}
	all := to.q
	switch {
	case head < h.queries:
		i += head * HeadSize
	case head < h.queries+h.keys:
		all = to.k
		i += cached(h, head-h.queries, at)
	default:
		all = to.v
		i += cached(h, head-h.queries-h.keys, at)
	}
	all[i] = dtype.BF16From32(x[0])
	all[i+half] = dtype.BF16From32(x[1])
}

// cached returns the index in a cache of the first element of a head at a position.
func cached(h heads, head, at int) int {
	page, slot := at/PageTokens, at%PageTokens
	return ((page*h.keys+head)*PageTokens + slot) * HeadSize
}
