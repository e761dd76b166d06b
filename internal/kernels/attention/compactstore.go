package attention

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// line is a head of a query, a key or a value of a token: its elements, of which the first 2*half are rotated by angles.
type line[T any, F row.Format[T]] struct {
	x      []T
	half   int
	angles []float32
}

// at returns an element, rotated.
func (l *line[T, F]) at(i int) float32 {
	var f F
	x := f.Float32(l.x[i])
	switch {
	case i < l.half:
		return x*l.angles[i] - f.Float32(l.x[i+l.half])*l.angles[l.half+i]
	case i < 2*l.half:
		return x*l.angles[i-l.half] + f.Float32(l.x[i-l.half])*l.angles[i]
	}
	return x
}

// most returns the largest magnitude of every step-th element from the first one on, or NaN if one is NaN.
func (l *line[T, F]) most(first, step int) (most float32) {
	for i := first; i < len(l.x); i += step {
		most = max(most, math32.Abs(l.at(i)))
	}
	return most
}

// kinds of lines.
const (
	queryLine = iota
	keyLine
	valueLine
)

// compacting is a line of a block of heads: which one it is, and the index of the first element of its page and its token's place there.
type compacting struct {
	kind, head int
	page, slot int
	ok         bool
}

// lines are the lines of tokens: queries, keys and values.
type lines[T any, F row.Format[T]] struct {
	q, k, v []T
	angles  []float32
	table   []int32
	tokens  []Token
	CacheShape
	turning
}

// find returns what line number i of a token is.
func (x *lines[T, F]) find(token, i int) (c compacting) {
	if c.head = i; i < int(x.Heads) {
		return c
	}
	c.kind, c.head = keyLine, i-int(x.Heads)
	if c.head >= x.KeyHeads {
		c.kind, c.head = valueLine, c.head-x.KeyHeads
	}
	c.page, c.slot, c.ok = x.slot(x.table, x.tokens[token], c.head)
	c.ok = c.ok && c.head < x.KeyHeads
	return c
}

// scaleOf returns the scale of a line with a largest element.
func (c *compacting) scaleOf(most float32) dtype.F16 {
	limit := float32(mostKeyScale)
	if c.kind == valueLine {
		limit = mostValueScale
	}
	if !(most <= math.MaxFloat32) {
		return dtype.F16(0x7e00) // NaN
	}
	return dtype.F16From32(min(max(most*(1.0/largestElement), leastScale), limit))
}

// element returns a number as an element, rounded to nearest even, as dtype.F8E4M3From32 does with more instructions. A NaN becomes any
// element.
func element(x float32) dtype.F8E4M3 {
	const least, drop = 127 - 6, 20 // the exponent of the smallest normal element, and the bits that an element lacks
	bits, a := math.Float32bits(x), min(math32.Abs(x), largestElement)
	unit := math.Float32frombits(max(math.Float32bits(a)&0x7f800000, least<<23) + drop<<23)
	a = a + unit - unit // the sum has no bits below those of an element
	return dtype.F8E4M3(uint32(dtype.F16From32(a*(1.0/compactExponent)))>>7 | bits>>24&0x80)
}

// line returns a line of a token.
func (x *lines[T, F]) line(token int, c *compacting) line[T, F] {
	from, half, y := token*int(x.Stride)+c.head*x.Dim, int(x.Half), x.k
	switch c.kind {
	case queryLine:
		from, y = token*int(x.QStride)+c.head*x.Dim, x.q
	case valueLine:
		y, half = x.v, 0
	}
	l := line[T, F]{x: y[from:][:x.Dim], half: half}
	if half > 0 {
		l.angles = x.angles[token*2*half:][:2*half]
	}
	return l
}

// compactLanes stores rotated keys and values on a CPU, and rotates queries: a line of a token with each thread. It has no barriers, so that
// it is a plain loop there.
//
//gpu:kernel
//gpu:block 16
func compactLanes[T any, F row.Format[T]](t gpu.Thread, q, k, v, rotated []T, keys, values []dtype.F8E4M3, scales []dtype.F16, angles []float32, table []int32, tokens []Token, s CacheShape, r turning) {
	var f F
	all := lines[T, F]{q, k, v, angles, table, tokens, s, r}
	c := all.find(t.BlockX(), t.BlockY()*row.Lanes+t.ThreadX())
	if c.kind != queryLine && !c.ok {
		return
	}
	l := all.line(t.BlockX(), &c)
	if c.kind == queryLine {
		to := rotated[(t.BlockX()*int(r.Heads)+c.head)*s.Dim:][:s.Dim]
		for i := range to {
			to[i] = f.Of(l.at(i))
		}
		return
	}
	scale := c.scaleOf(l.most(0, 1))
	inverse := math32.FastRcp(scale.Float32())
	scales[2*c.page/s.Dim+(c.kind-keyLine)*PageTokens+c.slot] = scale
	to, step := values[c.page+c.slot*s.Dim:], 1
	if c.kind == keyLine {
		to, step = keys[c.page+c.slot:], PageTokens
	}
	for i := range s.Dim {
		to[i*step] = element(l.at(i) * inverse)
	}
}

const compactLines = storeThreads / row.Lanes // of a block of compactRows

// compactRows is compactLanes for GPUs: with 16 threads for a line.
//
//gpu:kernel
//gpu:twin off
//gpu:target sm_80
//gpu:block 64
func compactRows[T any, F row.Format[T]](t gpu.Thread, q, k, v, rotated []T, keys, values []dtype.F8E4M3, scales []dtype.F16, angles []float32, table []int32, tokens []Token, s CacheShape, r turning) {
	t.StartNext()
	var f F
	lane := t.ThreadX() % row.Lanes
	t.AwaitPrevious()
	all := lines[T, F]{q, k, v, angles, table, tokens, s, r}
	c := all.find(t.BlockX(), t.BlockY()*compactLines+t.ThreadX()/row.Lanes)
	var l line[T, F]
	if c.kind == queryLine || c.ok {
		l = all.line(t.BlockX(), &c)
	}
	most := l.most(lane, row.Lanes)
	for i := row.Lanes / 2; i > 0; i /= 2 {
		most = max(most, gpu.ShuffleXor(t, most, i))
	}
	if c.kind == queryLine {
		to := rotated[(t.BlockX()*int(r.Heads)+c.head)*s.Dim:][:s.Dim]
		for i := lane; i < len(to); i += row.Lanes {
			to[i] = f.Of(l.at(i))
		}
		return
	}
	if !c.ok {
		return
	}
	scale := c.scaleOf(most)
	inverse := math32.FastRcp(scale.Float32())
	if lane == 0 {
		scales[2*c.page/s.Dim+(c.kind-keyLine)*PageTokens+c.slot] = scale
	}
	to := values
	if c.kind == keyLine {
		to = keys
	}
	to = to[c.page+c.slot*s.Dim:][:s.Dim]
	for i := lane; i < len(to); i += row.Lanes {
		to[i] = element(l.at(i) * inverse)
	}
}

//gpu:instance compactLanes32 = compactLanes[float32, row.F32]
//gpu:instance compactRowsBF16 = compactRows[dtype.BF16, row.BF16]

// storeTurned stores in the form for the stream's device.
func (c Compact[T]) storeTurned(s *device.Stream, x Turn[T], r turning) error {
	lines := int(r.Heads) + 2*c.KeyHeads
	switch x := any(x).(type) {
	case Turn[float32]:
		grid := device.Blocks{X: x.Tokens.Len(), Y: (lines + row.Lanes - 1) / row.Lanes}
		return compactLanes32(s, grid, x.Q, x.K, x.V, x.Rotated, c.Keys, c.Values, c.Scales, x.Angles, c.Table, x.Tokens, c.CacheShape, r)
	case Turn[dtype.BF16]:
		grid := device.Blocks{X: x.Tokens.Len(), Y: (lines + compactLines - 1) / compactLines}
		return compactRowsBF16(s, grid, x.Q, x.K, x.V, x.Rotated, c.Keys, c.Values, c.Scales, x.Angles, c.Table, x.Tokens, c.CacheShape, r)
	}
	panic("BUG: attention: no such element type")
}
