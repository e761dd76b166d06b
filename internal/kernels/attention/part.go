package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// decoding is what a kernel takes beside slices.
type decoding struct {
	CacheShape
	Heads   int
	Scale   float32 // of scores, which are exponents of 2
	Settled bool
}

// state is the state of a softmax: the largest score, and the sum of the weights.
type state struct{ top, sum float32 }

// part is what a block works on: some of the heads of a query that share a head of keys, and some of the pages of its sequence.
type part struct {
	split
	c                decoding
	firstHead, heads int
	keyHead          int
	first, end       int // pages
}

// tiles returns the number of blocks that share the heads of a head of keys.
func (c decoding) tiles() int { return (c.Heads/c.KeyHeads + tileHeads - 1) / tileHeads }

// part returns the part of a block: X is the query, Y the heads, and Z the part of the pages. Surplus blocks have no pages.
func (c decoding) part(t gpu.Thread, tokens []Token, entries int) part {
	group, tiles := c.Heads/c.KeyHeads, c.tiles()
	head := t.BlockY() % tiles * tileHeads
	b := part{c: c, keyHead: t.BlockY() / tiles, heads: min(group-head, tileHeads)}
	b.firstHead = t.BlockX()*c.Heads + b.keyHead*group + head
	b.split = c.split(tokens[t.BlockX()], entries, t.GridDimZ())
	b.first = min(t.BlockZ()*b.each, b.pages)
	b.end = min(b.first+b.each, b.pages)
	return b
}

// split is how blocks share the tokens that a query sees.
type split struct {
	entry         int // of the table: the sequence's first
	length, pages int // 0 if the query is outside the table
	each, parts   int // pages of a block, and blocks
}

// split returns how at most the given number of blocks share the tokens that a query sees.
func (c decoding) split(at Token, entries, blocks int) split {
	if at.Sequence < 0 || int(at.Sequence) >= entries/c.MaxPages || at.Position < 0 || int(at.Position) >= c.MaxPages*PageTokens {
		return split{}
	}
	x := split{entry: int(at.Sequence) * c.MaxPages, length: int(at.Position) + 1}
	x.pages = (x.length + PageTokens - 1) / PageTokens
	x.each = (x.pages + blocks - 1) / blocks
	x.parts = (x.pages + x.each - 1) / x.each
	return x
}

// warpPages returns the number of pages in which there are tokens for the warp.
func (b part) warpPages(t gpu.Thread) int {
	most := (b.length - t.Warp()*warpTokens + PageTokens - 1) / PageTokens
	return min(b.end, most) - b.first
}

// before reports whether all tokens of the warp in a page precede the query's.
func (b part) before(t gpu.Thread, page int) bool {
	return page*PageTokens+(t.Warp()+1)*warpTokens < b.length
}

// number returns the number of a page, or that of the last page if there is no such page.
func (b part) number(table []int32, page int) int {
	return int(table[b.entry+min(page, b.end-1)])
}

// page returns the index of the head of keys in a page of the cache. For a number that is outside the cache it is that of another
// page, whose scores mask makes NaN.
func (b part) page(number int) int {
	return min(max(number, 0), b.c.Pages-1)*b.c.KeyHeads + b.keyHead
}

// slot returns a token's place in a page, or that of the query's own token if it precedes.
func (b part) slot(page int, slot uint32) uint32 {
	return min(slot, uint32(b.length-1-page*PageTokens), PageTokens-1)
}

// mask makes the scores of tokens that follow the query -Inf, and those of a page outside the cache NaN.
func (b part) mask(t gpu.Thread, s *[2][4]float32, page, number int) {
	first := page*PageTokens + t.Warp()*warpTokens + t.Lane()%4*2
	for r := range 2 {
		for i := range 2 {
			if first+r*8+i >= b.length {
				s[r][i] = math32.Inf(-1)
			}
			if number < 0 || number >= b.c.Pages {
				s[r][i] = math32.NaN()
			}
		}
	}
}

// weigh replaces a lane's scores of a head by weights. It returns the factor of what has been added before.
func (x *state) weigh(t gpu.Thread, s *[2][4]float32, scale float32) (factor float32) {
	top := max(s[0][0], s[0][1], s[1][0], s[1][1])
	top = max(top, gpu.ShuffleXor(t, top, 1))
	top = max(top, gpu.ShuffleXor(t, top, 2), x.top)
	factor = math32.FastExp2((x.top - top) * scale)
	x.top, x.sum = top, x.sum*factor
	for r := range 2 {
		for i := range 2 {
			w := math32.FastExp2(s[r][i]*scale - top*scale)
			s[r][i] = w
			x.sum += w
		}
	}
	return factor
}
