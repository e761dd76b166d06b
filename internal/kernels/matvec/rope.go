package matvec

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// PageTokens is the number of tokens of a page of keys or values. A page is [key heads][PageTokens][elements of a head].
const PageTokens = 64

// heads are the numbers of heads of queries and of keys, the pairs of elements of a head, and the pages in a row of the table.
type heads struct{ queries, keys, half, pages int }

// Place is the place of a token: its sequence, a row of a table of pages, and its position in the sequence.
type Place struct{ Sequence, Position int32 }

// normQKV multiplies the normalized x by the rows of w: of the queries, the keys and the values, head by head. It adds the bias if
// there is one, rotates queries and keys by the angles of the token's position (Su et al., "RoFormer"; element i of the first half of
// a head makes a pair with element i of the second half), stores the queries, and stores keys and values in the token's page of the
// cache. Each warp has the two rows of a pair.
//
//gpu:kernel
//gpu:twin off
//gpu:target sm_80
//gpu:instance NormQKV = normQKV[shallow]
func normQKV[R reach](t gpu.Thread, w, gain []quad, x []numbers, epsilon float32, at []Place, table []int32, angles, bias []float32, h heads, q, k, v []dtype.BF16) {
	t.StartNext()
	near := gpu.DynamicShared[quad](t)
	b := begin[R](t, w, layout{groups: (h.queries + 2*h.keys) * h.half, quads: len(near), each: 1, far: h.half, skip: h.half})
	stage(t, near, gain)
	t.AwaitPrevious()
	to := rotated{q, k, v, h.slot(at[0], table)}
	normalize(t, near, x, epsilon)
	for b.more() {
		p := h.placed(b.group, angles, bias)
		sums := b.multiply(t, near)
		if t.Lane() == 0 {
			h.store(p, [2]float32{sums[0], sums[1]}, to)
		}
	}
}

// rotated is where queries, keys and values are stored.
type rotated struct {
	q, k, v []dtype.BF16
	slot    slot
}

// slot is a token's place in a cache: a page, which is negative if the token has none, and the number of the token in it.
type slot struct{ page, token int }

// slot returns the slot of a token.
func (h heads) slot(at Place, table []int32) slot {
	page := int(at.Position) / PageTokens
	if at.Position < 0 || page >= h.pages || at.Sequence < 0 || int(at.Sequence) >= len(table)/h.pages {
		return slot{page: -1}
	}
	return slot{int(table[int(at.Sequence)*h.pages+page]), int(at.Position) % PageTokens}
}

// place is a pair of elements of a token, with the cosine and the sine of its angle, and the biases of its elements.
type place struct {
	head, i    int
	turn, bias [2]float32
}

// placed returns the place of a pair.
func (h heads) placed(pair int, angles, bias []float32) place {
	head := int(uint32(pair) / uint32(h.half))
	i := pair - head*h.half
	p := place{head: head, i: i, turn: [2]float32{angles[i], angles[h.half+i]}}
	if len(bias) > 0 {
		first := head*2*h.half + i
		p.bias = [2]float32{bias[first], bias[first+h.half]}
	}
	return p
}

// store rotates a pair, unless it is of a value, and stores it. A key or value without a page is not stored.
func (h heads) store(p place, x [2]float32, to rotated) {
	head, i, turn := p.head, p.i, p.turn
	x[0], x[1] = x[0]+p.bias[0], x[1]+p.bias[1]
	if head < h.queries+h.keys {
		x = [2]float32{x[0]*turn[0] - x[1]*turn[1], x[1]*turn[0] + x[0]*turn[1]}
	}
	all := to.q
	if head < h.queries {
		i += head * 2 * h.half
	} else {
		all, head = to.k, head-h.queries
		if head >= h.keys {
			all, head = to.v, head-h.keys
		}
		i += ((to.slot.page*h.keys+head)*PageTokens + to.slot.token) * 2 * h.half
	}
	if i >= 0 && i+h.half < len(all) {
		all[i] = dtype.BF16From32(x[0])
		all[i+h.half] = dtype.BF16From32(x[1])
	}
}
