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
	stepDims    = 16   // elements that an instruction multiplies
	ringEights  = 1536 // groups of eight elements that a warp has in shared memory
	ringBytes   = decodeWarps * ringEights * 16
)

// breadth is the size of a head: steps times 16 elements. A warp's ring has as many stages as fit.
type breadth interface {
	steps() int
	stages() int
}

type (
	dim64  struct{}
	dim128 struct{}
)

func (dim64) steps() int   { return 4 }
func (dim64) stages() int  { return 6 }
func (dim128) steps() int  { return 8 }
func (dim128) stages() int { return 3 }

// decode computes the results of up to eight heads that share a head of keys: with each block for a part of a query's tokens. It is
// for elements of two bytes and the tensor cores of compute capability 8.0. A warp takes 16 tokens of each page, which it copies to its
// own ring of stages in shared memory, several pages ahead. Products of queries and keys have a head in each row; products with values
// are transposed, so that they have a head in each column: then the scores are where the second product needs the weights.
//
//gpu:kernel
//gpu:target sm_80
func decode[T gpu.Half, F row.Format[T], D breadth](t gpu.Thread, q []uint32, keys, values [][8]T, table []int32, tokens []Token, c decoding, sums [][8]float32, states []state, o [][8]T) {
	t.StartNext()
	if !c.Settled {
		t.AwaitPrevious()
	}
	b := c.part(t, tokens)
	if b.first >= b.end {
		t.AwaitPrevious()
		clearHeads(t, &b, o)
		return
	}
	var d D
	memory := (*[decodeWarps * ringEights][8]T)(gpu.DynamicShared[[8]T](t))
	r := ring[T, D]{keys, values, &b}
	pages := b.warpPages(t)
	for i := range uint32(d.stages()) {
		if i < pages {
			if !b.before(t, b.first+i) {
				t.AwaitPrevious()
			}
			r.fetch(t, memory, i, b.number(table, b.first+i))
		}
		t.CommitCopies()
	}
	t.AwaitPrevious()
	query := queryOf[T, D](t, q, &b)
	next := b.number(table, b.first+uint32(d.stages()))
	var w weighted[T, D]
	x := state{top: math32.Inf(-1)}
	for i := range pages {
		number := b.number(table, b.first+i)
		r.await(t)
		stage := r.stage(t, i)
		s := r.scores(t, memory, stage, &query)
		if page := b.first + i; (page+1)*PageTokens > b.length || number >= c.Pages {
			b.mask(t, &s, page, number)
		}
		w.shrink(t, x.weigh(t, &s, c.Scale))
		w.add(t, memory, stage, [2]gpu.Tile[T]{packed[T, F](s[0][0], s[0][1]), packed[T, F](s[1][0], s[1][1])})
		t.SyncWarp()
		if ahead := i + uint32(d.stages()); ahead < pages {
			r.fetch(t, memory, ahead, next)
			next = b.number(table, b.first+ahead+1)
		}
		t.CommitCopies()
	}
	x.sum += gpu.ShuffleXor(t, x.sum, 1)
	x.sum += gpu.ShuffleXor(t, x.sum, 2)
	t.Sync() // the rings are no longer needed
	near := &gpu.DynamicShared[nearby](t)[0]
	if t.Lane()%4 == 0 {
		near.states[t.Warp()][t.Lane()/4] = x
	}
	near.keep(t, &w.sums, d.steps())
	t.Sync()
	results[T, F]{sums, states, o}.deliver(t, &b, near)
}

// queryOf returns a lane's elements of the queries, by step: lane l has of head l/4 the elements from 2*(l%4) on, and those 8 later.
func queryOf[T gpu.Half, D breadth](t gpu.Thread, q []uint32, b *part) (x [maxSteps][2]gpu.Tile[T]) {
	var d D
	lane := uint32(t.Lane())
	if lane/4 >= b.heads {
		return x
	}
	from := q[int(b.firstHead+lane/4)*8*d.steps():][:8*d.steps()]
	for j := range uint32(d.steps()) {
		x[j] = [2]gpu.Tile[T]{gpu.Tile[T](from[8*j+lane%4]), gpu.Tile[T](from[8*j+4+lane%4])}
	}
	return x
}

// packed returns two numbers, rounded to elements.
func packed[T gpu.Half, F row.Format[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](uint32(f.Of(low)) | uint32(f.Of(high))<<16)
}
