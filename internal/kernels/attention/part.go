package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// decoding is what a kernel takes beside slices. Numbers have no sign, so that the compiler knows that indices are not negative.
type decoding struct {
	Pages, KeyHeads, Heads     uint32
	Group, Tiles               uint32  // heads that share a head of keys, and blocks that share them
	Sequences, MaxPages, Limit uint32  // Limit is the number of tokens that the table has entries for
	Width                      uint32  // of a head: groups of eight elements
	Scale                      float32 // of scores, which are exponents of 2
	Settled                    bool
}

// split is how blocks share the tokens that a query sees.
type split struct {
	length, pages uint32 // 0 if the query is outside the table
	each, parts   uint32 // pages of a block, and blocks
}

// split returns how at most the given number of blocks share the tokens that a query sees.
func (c *decoding) split(at Token, blocks uint32) split {
	if uint32(at.Sequence) >= c.Sequences || uint32(at.Position) >= c.Limit {
		return split{}
	}
	x := split{length: uint32(at.Position) + 1}
	x.pages = (x.length + PageTokens - 1) / PageTokens
	x.each = (x.pages + blocks - 1) / blocks
	x.parts = (x.pages + x.each - 1) / x.each
	return x
}

// part is what a block works on: some of the heads of a query that share a head of keys, and some of the pages of its sequence.
type part struct {
	split
	c                *decoding
	firstHead, heads uint32
	keyHead          uint32
	entry            int    // of the table: that of the sequence's first page
	first, end       uint32 // pages
}

// part returns the part of a block: X is the query, Y the heads, and Z the part of the pages. Surplus blocks have no pages.
func (c *decoding) part(t gpu.Thread, tokens []Token) part {
	at, y, z := tokens[t.BlockX()], uint32(t.BlockY()), uint32(t.BlockZ())
	b := part{c: c, keyHead: y / c.Tiles, split: c.split(at, uint32(t.GridDimZ())), entry: int(at.Sequence) * int(c.MaxPages)}
	head := y % c.Tiles * tileHeads
	b.heads = min(c.Group-head, tileHeads)
	b.firstHead = uint32(t.BlockX())*c.Heads + b.keyHead*c.Group + head
	b.first = min(z*b.each, b.pages)
	b.end = min(b.first+b.each, b.pages)
	return b
}

// warpPages returns the number of the block's pages in which there are tokens for the warp.
func (b *part) warpPages(t gpu.Thread) uint32 {
	most := (b.length + PageTokens - 1 - uint32(t.Warp())*warpTokens) / PageTokens
	return max(min(b.end, most), b.first) - b.first
}

// before reports whether all tokens of the warp in a page precede the query's.
func (b *part) before(t gpu.Thread, page uint32) bool {
	return page*PageTokens+uint32(t.Warp()+1)*warpTokens < b.length
}

// number returns the number of a page, or that of the block's last page if it has no such page.
func (b *part) number(table []int32, page uint32) uint32 {
	return uint32(table[b.entry+int(min(page, b.end-1))])
}

// page returns the index of the head of keys in a page of the cache. For a number that is outside the cache, it is that of another
// page, whose scores mask makes NaN.
func (b *part) page(number uint32) int {
	return int(min(number, b.c.Pages-1))*int(b.c.KeyHeads) + int(b.keyHead)
}

// mask makes the scores of tokens that follow the query -Inf, and those of a page outside the cache NaN.
func (b *part) mask(t gpu.Thread, s *[2][4]float32, page, number uint32) {
	first := page*PageTokens + uint32(t.Warp()*warpTokens+t.Lane()%4*2)
	for r := range 2 {
		for i := range 2 {
			if first+uint32(r*8+i) >= b.length {
				s[r][i] = math32.Inf(-1)
			}
			if number >= b.c.Pages {
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

// state is the state of a softmax: the largest score, and the sum of the weights.
type state struct{ top, sum float32 }
