package attention

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Turn are the operands of StoreRotated: a row of queries, one of keys and one of values for each token. Rows begin Stride elements
// apart, as they do in the result of one product for all three. StoreRotated overwrites Rotated, which may be Q if Stride is 0.
type Turn[T Element] struct {
	Heads   int             // of queries
	Q       device.Slice[T] // [tokens][Heads][Dim]
	K, V    device.Slice[T] // [tokens][KeyHeads][Dim]
	Stride  int             // elements from a row to the next, a multiple of 16; 0 if rows follow each other
	Rotated device.Slice[T] // [tokens][Heads][Dim], the rotated queries
	Angles  device.Slice[float32]
	Rotary  int // elements of a head that are rotated, a multiple of 16; 0 for all
	Tokens  device.Slice[Token]
}

// StoreRotated stores keys and values as Store does, after it has rotated queries and keys by the angles that rope.Angles has stored
// for each token and Rotary/2 frequencies (Su et al., "RoFormer"; elements i and i + Rotary/2 of a head are a pair). It rotates the
// queries of all tokens, also of those that Store ignores.
func (c Cache[T]) StoreRotated(s *device.Stream, x Turn[T]) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := fits(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	return c.storeRotated(s, c.formFor(s), x)
}

// fits returns ErrShape with an explanation if operands do not fit a cache.
func fits[T Element](c CacheShape, x Turn[T]) error {
	tokens, r := x.Tokens.Len(), turningOf(c, x)
	has := func(n, heads, stride int) bool { return tokens == 0 || n >= (tokens-1)*stride+heads*c.Dim }
	switch {
	case x.Heads < 1, x.Stride < 0, x.Stride%row.Lanes != 0, x.Rotary < 0, x.Rotary > c.Dim, x.Rotary%row.Lanes != 0,
		x.Stride != 0 && x.Stride < max(x.Heads, c.KeyHeads)*c.Dim,
		!has(x.Q.Len(), x.Heads, int(r.QStride)), !has(x.K.Len(), c.KeyHeads, int(r.Stride)), !has(x.V.Len(), c.KeyHeads, int(r.Stride)),
		x.Rotated.Len() != tokens*x.Heads*c.Dim, x.Angles.Len() != tokens*2*int(r.Half):
		return fmt.Errorf("attention: %d, %d and %d elements of Q, K and V, %d rotated ones, and %d angles for %d tokens of %d heads, stride %d, %d rotated of %+v: %w",
			x.Q.Len(), x.K.Len(), x.V.Len(), x.Rotated.Len(), x.Angles.Len(), tokens, x.Heads, x.Stride, x.Rotary, c, ErrShape)
	}
	return nil
}

// turning is what a kernel that rotates takes beside slices. Numbers have no sign, so that the compiler knows that indices are not
// negative.
type turning struct {
	QStride, Stride uint32 // of queries, and of keys and values
	Heads, Half     uint32 // Half is the number of pairs of a head
}

// turningOf returns the numbers of operands.
func turningOf[T Element](c CacheShape, x Turn[T]) turning {
	r := turning{QStride: uint32(x.Stride), Stride: uint32(x.Stride), Heads: uint32(x.Heads), Half: uint32(x.Rotary / 2)}
	if x.Stride == 0 {
		r.QStride, r.Stride = uint32(x.Heads*c.Dim), uint32(c.KeyHeads*c.Dim)
	}
	if x.Rotary == 0 {
		r.Half = uint32(c.Dim / 2)
	}
	return r
}

// turnLanes is the form of StoreRotated for CPUs: with each block for a head of queries, keys or values of a token.
//
//gpu:kernel
//gpu:block 16
func turnLanes[T any, F row.Format[T]](t gpu.Thread, q, k, v, rotated, keys, values []T, angles []float32, table []int32, tokens []Token, s CacheShape, r turning) {
	var f F
	token, head, half, heads := t.BlockX(), t.BlockY(), int(r.Half), int(r.Heads)
	cosine := token * 2 * half
	sine := cosine + half
	cosines, sines := angles[cosine:cosine+half], angles[sine:sine+half]
	if head < heads {
		from, to := token*int(r.QStride)+head*s.Dim, (token*heads+head)*s.Dim
		x, y := q[from:from+s.Dim], rotated[to:to+s.Dim]
		for i := t.ThreadX(); i < half; i += row.Lanes {
			a, b := f.Float32(x[i]), f.Float32(x[i+half])
			y[i], y[i+half] = f.Of(a*cosines[i]-b*sines[i]), f.Of(b*cosines[i]+a*sines[i])
		}
		for i := 2*half + t.ThreadX(); i < s.Dim; i += row.Lanes {
			y[i] = x[i]
		}
		return
	}
	head -= heads
	value := head >= s.KeyHeads
	if value {
		head -= s.KeyHeads
	}
	page, slot, ok := s.slot(table, tokens[token], head)
	if !ok {
		return
	}
	from := token*int(r.Stride) + head*s.Dim
	if value {
		x, y := v[from:from+s.Dim], values[page+slot*s.Dim:page+(slot+1)*s.Dim]
		for i := t.ThreadX(); i < s.Dim; i += row.Lanes {
			y[i] = x[i]
		}
		return
	}
	x, y := k[from:from+s.Dim], keys[page:page+s.Dim*PageTokens]
	for i := t.ThreadX(); i < half; i += row.Lanes {
		a, b := f.Float32(x[i]), f.Float32(x[i+half])
		y[i*PageTokens+slot] = f.Of(a*cosines[i] - b*sines[i])
		y[(i+half)*PageTokens+slot] = f.Of(b*cosines[i] + a*sines[i])
	}
	for i := 2*half + t.ThreadX(); i < s.Dim; i += row.Lanes {
		y[i*PageTokens+slot] = x[i]
	}
}

// turnRows is the form of StoreRotated for GPUs: with each thread for 32 bytes of a head, and for the angles of 16. Slices are views
// of 16 bytes, and of the angles of as many elements.
//
//gpu:kernel
//gpu:block 64
func turnRows[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, q, k, v, rotated, keys, values []row.Words, angles []A, table []int32, tokens []Token, s CacheShape, r turning) {
	t.StartNext()
	var unit A
	var format F
	n := uint32(len(unit))
	width, half := uint32(s.Dim)/n, r.Half/n
	i := uint32(t.BlockY()*storeThreads + t.ThreadX())
	head, low := i/(width/2), i%(width/2)
	kind := uint32(0) // a query, a key or a value
	if head >= r.Heads {
		head -= r.Heads
		kind = 1 + head/uint32(s.KeyHeads)
		head %= uint32(s.KeyHeads)
	}
	if kind > 2 {
		return
	}
	turned := kind < 2 && low < half
	high := low + half
	if !turned {
		low, high = 2*low, 2*low+1
	}
	token := t.BlockX()
	t.AwaitPrevious()
	to, ok := (token*int(r.Heads)+int(head))*int(width), true
	x, stride := q, r.QStride
	if kind > 0 {
		page, slot, stored := s.slot(table, tokens[token], int(head))
		to, ok, stride = page/int(n)+slot*int(width), stored, r.Stride
		if x = k; kind == 2 {
			x = v
		}
	}
	if !ok {
		return
	}
	from := token*int(stride/n) + int(head*width)
	a, b := x[from+int(low)], x[from+int(high)]
	if turned {
		at := token * 2 * int(half)
		cosines, sines := angles[at+int(low)], angles[at+int(high)]
		c, d := format.Unpack(a), format.Unpack(b)
		for j := range len(c) {
			c[j], d[j] = c[j]*cosines[j]-d[j]*sines[j], d[j]*cosines[j]+c[j]*sines[j]
		}
		a, b = format.Pack(c), format.Pack(d)
	}
	y := rotated
	switch kind {
	case 1:
		y = keys
	case 2:
		y = values
	}
	y[to+int(low)], y[to+int(high)] = a, b
}

//gpu:instance turnLanes32 = turnLanes[float32, row.F32]
//gpu:instance turnLanesBF16 = turnLanes[dtype.BF16, row.BF16]
//gpu:instance turnRows32 = turnRows[[4]float32, row.F32]
//gpu:instance turnRowsBF16 = turnRows[[8]float32, row.BF16]

// storeRotated stores in a form.
func (c Cache[T]) storeRotated(s *device.Stream, f form, x Turn[T]) error {
	r := turningOf(c.CacheShape, x)
	threads := (x.Heads + 2*c.KeyHeads) * c.Dim / row.Elements[T]() / 2
	grid := device.Blocks{X: x.Tokens.Len(), Y: (threads + storeThreads - 1) / storeThreads}
	if f == lanes {
		grid.Y = x.Heads + 2*c.KeyHeads
	}
	switch c := any(c).(type) {
	case Cache[float32]:
		x := any(x).(Turn[float32])
		if f == lanes {
			return turnLanes32(s, grid, x.Q, x.K, x.V, x.Rotated, c.Keys, c.Values, x.Angles, c.Table, x.Tokens, c.CacheShape, r)
		}
		return turnRows32(s, grid, words(x.Q), words(x.K), words(x.V), words(x.Rotated), words(c.Keys), words(c.Values), four(x.Angles), c.Table, x.Tokens, c.CacheShape, r)
	case Cache[dtype.BF16]:
		x := any(x).(Turn[dtype.BF16])
		if f == lanes {
			return turnLanesBF16(s, grid, x.Q, x.K, x.V, x.Rotated, c.Keys, c.Values, x.Angles, c.Table, x.Tokens, c.CacheShape, r)
		}
		return turnRowsBF16(s, grid, words(x.Q), words(x.K), words(x.V), words(x.Rotated), words(c.Keys), words(c.Values), eight(x.Angles), c.Table, x.Tokens, c.CacheShape, r)
	}
	panic("BUG: attention: no such element type")
}
