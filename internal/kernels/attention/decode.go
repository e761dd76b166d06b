package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	decodeWarps = 4                        // of a block
	warpTokens  = PageTokens / decodeWarps // of a page
	tileHeads   = 8                        // heads of queries that a block takes at most
	maxSteps    = MaxDim / stepDims
	stepDims    = 16 // elements that an instruction multiplies
)

// quad is 16 bytes: eight elements of two bytes.
type quad = [4]uint32

// breadth is the size of a head: steps times 16 elements.
type breadth interface{ steps() int }

type (
	dim64  struct{}
	dim128 struct{}
)

func (dim64) steps() int  { return 4 }
func (dim128) steps() int { return 8 }

// decodeKeys and decodeValues are what a lane has of the 16 tokens of a page that its warp takes. Lane l has the keys of tokens l/4
// and l/4 + 8: of each 32 elements the eight from 8*(l%4) on. It has the values of tokens 2*(l%4), the next one, and those 8 later: of
// each 64 elements the eight from 8*(l/4) on.
type (
	decodeKeys   [2][maxSteps / 2]quad
	decodeValues [4][maxSteps / 4]quad
)

// decode computes the results of up to eight heads that share a head of keys: with each block for a part of a query's tokens. It is
// for elements of two bytes and the tensor cores of compute capability 8.0. A warp takes 16 tokens of each page. Products of queries
// and keys have a head in each row; products with values are transposed, so that they have a head in each column: then the scores are
// where the second product needs the weights.
//
//gpu:kernel
//gpu:block 128
//gpu:resident 3
//gpu:target sm_80
func decode[T gpu.Half, F row.Format[T], D breadth](t gpu.Thread, q, keys, values []quad, table []int32, tokens []Token, c decoding, sums [][8]float32, states []state, o [][8]T) {
	t.StartNext()
	near := gpu.Shared[nearby](t)
	if !c.Settled {
		t.AwaitPrevious()
	}
	b := c.part(t, tokens)
	if b.length == 0 {
		t.AwaitPrevious()
		clearHeads(t, &b, o)
		return
	}
	if b.first >= b.end {
		return
	}
	var d D
	pages := b.warpPages(t)
	var k decodeKeys
	var v decodeValues
	number := b.number(table, b.first)
	next := b.number(table, b.first+1)
	early := c.Settled && b.before(t, b.first) && pages > 0
	if early {
		k, v = keysOf[D](t, keys, &b, b.first, number), valuesOf[D](t, values, &b, b.first, number)
	}
	t.AwaitPrevious()
	if !early && pages > 0 {
		k, v = keysOf[D](t, keys, &b, b.first, number), valuesOf[D](t, values, &b, b.first, number)
	}
	query := queryOf[D](t, q, &b)
	var acc [maxSteps][4]float32
	x := state{top: math32.Inf(-1)}
	for i := range pages {
		page := b.first + i
		s := scoresOfTile[T, D](t, &query, &k)
		if i+1 < pages {
			k = keysOf[D](t, keys, &b, page+1, next)
		}
		after := b.number(table, page+2)
		if (page+1)*PageTokens > b.length || number >= c.Pages {
			b.mask(t, &s, page, number)
		}
		factor := x.weigh(t, &s, c.Scale)
		low, high := gpu.Shuffle(t, factor, t.Lane()%4*8), gpu.Shuffle(t, factor, t.Lane()%4*8+4)
		for j := range d.steps() {
			acc[j] = [4]float32{acc[j][0] * low, acc[j][1] * high, acc[j][2] * low, acc[j][3] * high}
		}
		weights := [2]gpu.Tile[T]{packed[T, F](s[0][0], s[0][1]), packed[T, F](s[1][0], s[1][1])}
		addValuesOfTile[T, D](t, &acc, weights, &v)
		if i+1 < pages {
			v = valuesOf[D](t, values, &b, page+1, next)
		}
		number, next = next, after
	}
	x.sum += gpu.ShuffleXor(t, x.sum, 1)
	x.sum += gpu.ShuffleXor(t, x.sum, 2)
	if t.Lane()%4 == 0 {
		near.states[t.Warp()][t.Lane()/4] = x
	}
	near.keep(t, &acc, d.steps())
	t.Sync()
	deliver[T, F](t, &b, near, sums, states, o)
}

// keysOf requests a lane's keys of a page. Of tokens that follow the query's, it requests the query's instead.
func keysOf[D breadth](t gpu.Thread, keys []quad, b *part, page, number uint32) (k decodeKeys) {
	var d D
	width := 2 * d.steps()
	from := keys[b.page(number)*PageTokens*width:][:PageTokens*width]
	lane := uint32(t.Lane())
	for r := range len(k) {
		at := b.slot(page, uint32(t.Warp())*warpTokens+uint32(r)*8+lane/4) * uint32(width)
		for j := range d.steps() / 2 {
			k[r][j] = from[at+uint32(4*j)+lane%4]
		}
	}
	return k
}

// valuesOf requests a lane's values of a page, as keysOf does.
func valuesOf[D breadth](t gpu.Thread, values []quad, b *part, page, number uint32) (v decodeValues) {
	var d D
	width := 2 * d.steps()
	from := values[b.page(number)*PageTokens*width:][:PageTokens*width]
	lane := uint32(t.Lane())
	for r := range len(v) {
		at := b.slot(page, uint32(t.Warp())*warpTokens+uint32(r)/2*8+lane%4*2+uint32(r)%2) * uint32(width)
		for j := range d.steps() / 4 {
			v[r][j] = from[at+uint32(8*j)+lane/4]
		}
	}
	return v
}

// queryOf requests a lane's elements of the queries, as keysOf does those of keys: lane l has head l/4.
func queryOf[D breadth](t gpu.Thread, q []quad, b *part) (x [maxSteps / 2]quad) {
	var d D
	lane := uint32(t.Lane())
	if lane/4 >= b.heads {
		return x
	}
	from := q[int(b.firstHead+lane/4)*2*d.steps():][:2*d.steps()]
	for j := range d.steps() / 2 {
		x[j] = from[uint32(4*j)+lane%4]
	}
	return x
}

// scoresOfTile returns the products of the queries and the keys of 16 tokens: lane l has head l/4, and tokens 2*(l%4), the next one, and
// those 8 later. The other half of the results is unused, since the instruction takes 16 rows of queries.
func scoresOfTile[T gpu.Half, D breadth](t gpu.Thread, q *[maxSteps / 2]quad, k *decodeKeys) (s [2][4]float32) {
	var d D
	for j := range d.steps() {
		i, w := j/2, j%2*2
		a := [4]gpu.Tile[T]{gpu.Tile[T](q[i][w]), 0, gpu.Tile[T](q[i][w+1]), 0}
		for r := range len(s) {
			s[r] = gpu.MMA(t, a, [2]gpu.Tile[T]{gpu.Tile[T](k[r][i][w]), gpu.Tile[T](k[r][i][w+1])}, s[r])
		}
	}
	return s
}

// addValuesOfTile adds the products of the weights and the values of 16 tokens: lane l has of heads 2*(l%4) and the next one the
// elements of which it has the values.
func addValuesOfTile[T gpu.Half, D breadth](t gpu.Thread, acc *[maxSteps][4]float32, weights [2]gpu.Tile[T], v *decodeValues) {
	var d D
	for j := range d.steps() {
		i, w := j/4, j%4
		var a [4]gpu.Tile[T]
		for r := range 2 {
			one, two := v[2*r][i][w], v[2*r+1][i][w]
			a[2*r], a[2*r+1] = gpu.Tile[T](one&0xffff|two<<16), gpu.Tile[T](one>>16|two&^0xffff)
		}
		acc[j] = gpu.MMA(t, a, weights, acc[j])
	}
}

// packed returns two numbers, rounded to elements.
func packed[T gpu.Half, F row.Format[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](uint32(f.Of(low)) | uint32(f.Of(high))<<16)
}
