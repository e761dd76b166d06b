package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
)

// poolTokens is the number of different keys, and of values: those of a sequence are neighbours among them, from origin on.
const poolTokens = 12289

// bench is a case: sequences of equal length.
type bench struct {
	size
	batch, tokens int
	s             *device.Stream
	buffers       []io.Closer
	layer         []attention.Cache[dtype.BF16]
	host          []dtype.BF16 // pool
	queries       []dtype.BF16 // q
	pool          *device.Buffer[dtype.BF16]
	q, o          *device.Buffer[dtype.BF16]
	last          *device.Buffer[attention.Token]
	scratch       *device.Buffer[float32]
	angles        *device.Buffer[float32]
}

// origin returns the number of the first key of a sequence in a layer; its values begin with the following number.
func (b *bench) origin(layer, sequence int) int {
	return (layer*131 + sequence*17) % (poolTokens - b.most)
}

// prepare makes the caches and what is stored in them.
func (b *bench) prepare() error {
	b.most = min(b.most, poolTokens-2)
	random := rand.New(rand.NewPCG(uint64(b.batch), uint64(b.tokens)))
	numbers := func(n int) []dtype.BF16 {
		list := make([]dtype.BF16, n)
		for i := range list {
			list[i] = dtype.BF16From64(random.NormFloat64())
		}
		return list
	}
	width := b.keyHeads * b.dim
	b.host, b.queries = numbers(poolTokens*width), numbers(b.batch*b.heads*b.dim)
	maxPages := (b.tokens + attention.PageTokens - 1) / attention.PageTokens
	shape := attention.CacheShape{Pages: b.batch * maxPages, KeyHeads: b.keyHeads, Dim: b.dim, MaxPages: maxPages}
	pages, tokens, last := make([]int32, shape.Pages), make([]attention.Token, 0, b.batch*b.tokens), make([]attention.Token, b.batch)
	for i, page := range random.Perm(shape.Pages) {
		pages[i] = int32(page)
	}
	for i := range last {
		last[i] = attention.Token{Sequence: int32(i), Position: int32(b.tokens - 1)}
		for at := range b.tokens {
			tokens = append(tokens, attention.Token{Sequence: int32(i), Position: int32(at)})
		}
	}
	var err error
	b.pool, b.q, b.o = upload(b, b.host, &err), upload(b, b.queries, &err), upload(b, make([]dtype.BF16, len(b.queries)), &err)
	b.last, b.scratch = upload(b, last, &err), upload(b, make([]float32, shape.Workspace(b.batch, b.heads)), &err)
	b.angles = upload(b, make([]float32, b.batch*b.dim), &err)
	table, places := upload(b, pages, &err), upload(b, tokens, &err)
	for range b.layers {
		var x [2]*device.Buffer[dtype.BF16]
		for i := range x {
			x[i] = kept[dtype.BF16](b, &err)(device.Make[dtype.BF16](b.s, shape.Elements()))
		}
		if err != nil {
			return err
		}
		b.layer = append(b.layer, attention.Cache[dtype.BF16]{CacheShape: shape, Keys: x[0].All(), Values: x[1].All(), Table: table.All()})
	}
	return b.fill(places.All())
}

// fill stores the tokens of all sequences in all layers.
func (b *bench) fill(tokens device.Slice[attention.Token]) error {
	width := b.keyHeads * b.dim
	for l, c := range b.layer {
		for i := range b.batch {
			from := b.origin(l, i)
			x := attention.New[dtype.BF16]{
				K: b.pool.Slice(from*width, (from+b.tokens)*width), V: b.pool.Slice((from+1)*width, (from+1+b.tokens)*width),
				Tokens: tokens.Slice(i*b.tokens, (i+1)*b.tokens),
			}
			if err := c.Store(b.s, x); err != nil {
				return err
			}
		}
	}
	return b.s.Synchronize(context.Background())
}

// kept returns a function that notes a buffer, to be closed, and an error.
func kept[T any](b *bench, err *error) func(*device.Buffer[T], error) *device.Buffer[T] {
	return func(x *device.Buffer[T], failed error) *device.Buffer[T] {
		if *err = errors.Join(*err, failed); failed == nil {
			b.buffers = append(b.buffers, x)
		}
		return x
	}
}

// upload returns a copy of host on the device.
func upload[T any](b *bench, host []T, err *error) *device.Buffer[T] {
	if *err != nil {
		return nil
	}
	return kept[T](b, err)(device.Upload(b.s, host))
}

// close frees the memory.
func (b *bench) close() (err error) {
	for _, x := range b.buffers {
		err = errors.Join(err, x.Close())
	}
	return err
}

// check compares some heads of some queries of the last layer with float64.
func (b *bench) check() error {
	got := make([]dtype.BF16, len(b.queries))
	if err := errors.Join(device.Download(b.s, got, b.o.All()), b.s.Synchronize(context.Background())); err != nil {
		return err
	}
	for sequence := 0; sequence < b.batch; sequence += max(1, b.batch-1) {
		for head := 0; head < b.heads; head += max(1, b.heads/3) {
			first := (sequence*b.heads + head) * b.dim
			want, size := b.result(sequence, head, b.queries[first:first+b.dim])
			for i, w := range want {
				if g, allowed := got[first+i].Float64(), (math.Abs(w)+size[i])/256+1e-5; !(math.Abs(g-w) <= allowed) {
					return fmt.Errorf("sequence %d, head %d, element %d is %v, want %v within %v", sequence, head, i, g, w, allowed)
				}
			}
		}
	}
	return nil
}

// result returns a result of the last layer in float64, and the sums of the magnitudes of its terms.
func (b *bench) result(sequence, head int, q []dtype.BF16) (o, size []float64) {
	o, size = make([]float64, b.dim), make([]float64, b.dim)
	var sum float64
	for at := range b.tokens {
		first := ((b.origin(b.layers-1, sequence)+at)*b.keyHeads + head/(b.heads/b.keyHeads)) * b.dim
		k, v := b.host[first:], b.host[first+b.keyHeads*b.dim:]
		var score float64
		for i, x := range q {
			score += x.Float64() * k[i].Float64()
		}
		w := math.Exp(score / math.Sqrt(float64(b.dim)))
		sum += w
		for i := range o {
			o[i] += w * v[i].Float64()
			size[i] += w * math.Abs(v[i].Float64())
		}
	}
	for i := range o {
		o[i] /= sum
		size[i] /= sum
	}
	return o, size
}
