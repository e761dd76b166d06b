package prefill

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const strip = 16 // keys that a block reads at a time; PageTokens is a multiple

// strips is the shared memory of a block of direct. Queries and sums are transposed, so that each thread has a column.
type strips struct {
	q, sums [MaxDim][row.Lanes]float32
	rows    vectors // queries or keys
	values  vectors
	weights [strip][row.Lanes]float32 // before the softmax, scores
	factors [row.Lanes]float32
}

const (
	laneBits = 4 // of the number of a lane
	pieces   = MaxDim / row.Lanes
)

// vectors are the rows of a strip. Threads have neighbouring elements.
type vectors [strip][pieces][row.Lanes]float32

// source is what a block of direct reads.
type source[T any] struct {
	Layout
	Part
	q, k  []T
	table []int32
	head  int
}

// direct computes up to 16 results of a head, each in a thread. It is for CPUs, whose vector code runs the threads as lanes: elements of
// queries are in vectors, and those of keys and values, which all threads share, are scalars. Barriers separate code that is the same for
// all threads, which has no vector code, from the rest.
//
//gpu:kernel
//gpu:block 16
func direct[T any, F row.Format[T]](t gpu.Thread, q, k, v, o []T, states []State, spans []Span, table []int32, s Layout) {
	b := gpu.Shared[strips](t)
	w := source[T]{s, s.Part(spans, t.GridDimX()-1-t.BlockX(), row.Lanes, s.rows(len(k))), q, k, table, t.BlockY()}
	queries := w.queries()
	if queries.rows <= 0 {
		return
	}
	me, dim, seen := t.ThreadX(), int(s.Dim), w.seen(t.ThreadX())
	t.Sync()
	load[T, F](me, &b.rows, q, queries)
	t.Sync()
	b.turn(me, dim, s.Scale)
	top, sum := math32.Inf(-1), float32(0)
	for from := 0; from < w.Keys; from += strip {
		keys := w.at(from)
		t.Sync()
		load[T, F](me, &b.rows, k, keys)
		load[T, F](me, &b.values, v, keys)
		t.Sync()
		b.score(me, dim)
		most := top
		for i := range min(strip, w.Keys-from) { // the exponential function 16 times would be much code
			x := b.weights[i&(strip-1)][me]
			if keys.rows == 0 {
				x = math32.NaN()
			}
			if from+i >= seen {
				x = math32.Inf(-1)
			}
			b.weights[i&(strip-1)][me] = x
			most = max(most, x)
		}
		shrink := math32.Exp2(top - most)
		top = most
		sum *= shrink
		for i := range min(strip, w.Keys-from) {
			x := math32.Exp2(b.weights[i&(strip-1)][me] - top)
			b.weights[i&(strip-1)][me] = x
			sum += x
		}
		b.add(me, dim, min(strip, w.Keys-from), shrink)
	}
	b.factors[me] = 1 / sum
	if len(states) > 0 && me < queries.rows {
		states[(w.Row+me)*int(w.Heads)+w.head] = State{top, sum}
	}
	t.Sync()
	finish[T, F](me, b, o, w.results(queries))
}

// lines is rows of dim elements in global memory: the index of the first one, their number, and the distance from one to the next.
type lines struct{ at, rows, step, dim int }

// queries returns the queries of the block.
func (w *source[T]) queries() lines {
	dim := int(w.Dim)
	step := w.queryStride()
	rows := (len(w.q) + step - int(w.Heads)*dim) / step
	return lines{w.Row*step + w.head*dim, min(w.Count, rows-w.Row), step, dim}
}

// results returns the results of those queries.
func (w *source[T]) results(queries lines) lines {
	step := int(w.Heads) * queries.dim
	return lines{w.Row*step + w.head*queries.dim, queries.rows, step, queries.dim}
}

// at returns the keys from a position on that is a multiple of strip. If they are missing, it returns no rows, of any index.
func (w *source[T]) at(position int) lines {
	head := w.head / int(w.Heads/w.KeyHeads)
	page := w.first(&w.Part, w.table, keyAt{position &^ (PageTokens - 1), head, len(w.k)})
	if page < 0 {
		return lines{dim: int(w.Dim)}
	}
	return lines{page + position%PageTokens*w.stride(), w.Keys - position, w.stride(), int(w.Dim)}
}

// load copies strip rows to shared memory. Rows beyond the last one, whose scores are masked, become 0.
func load[T any, F row.Format[T]](me int, to *vectors, x []T, p lines) {
	var f F
	for r := range strip {
		if r >= p.rows { // a loop over the rows would not be vector code
			for j := range p.dim >> laneBits {
				to[r][j&(pieces-1)][me] = 0
			}
			continue
		}
		from := p.at + r*p.step
		line := x[from : from+p.dim]
		for c, j := me, 0; c < len(line); c, j = c+row.Lanes, j+1 {
			to[r][j&(pieces-1)][me] = f.Float32(line[c])
		}
	}
}

// turn transposes the rows, scales them, and clears the sums.
func (b *strips) turn(me, dim int, scale float32) {
	for d := range dim {
		b.q[d&(MaxDim-1)][me] = b.rows[me][d>>laneBits&(pieces-1)][d&(row.Lanes-1)] * scale
		b.sums[d&(MaxDim-1)][me] = 0
	}
}

// score computes the products of a thread's query and a strip of keys.
func (b *strips) score(me, dim int) {
	var x [strip]float32
	for d := range dim {
		y := b.q[d&(MaxDim-1)][me]
		for i := range x {
			x[i] = math32.FMA(y, b.rows[i][d>>laneBits&(pieces-1)][d&(row.Lanes-1)], x[i])
		}
	}
	for i := range x {
		b.weights[i][me] = x[i]
	}
}

// add adds the products of a thread's first n weights and a strip of values to its sums, which shrink before.
func (b *strips) add(me, dim, n int, shrink float32) {
	var x [strip]float32
	for i := range x {
		if i < n {
			x[i] = b.weights[i][me]
		}
	}
	for d := range dim {
		y := b.sums[d&(MaxDim-1)][me] * shrink
		for i := range x {
			y = math32.FMA(x[i], b.values[i][d>>laneBits&(pieces-1)][d&(row.Lanes-1)], y)
		}
		b.sums[d&(MaxDim-1)][me] = y
	}
}

// finish stores the results of a block.
func finish[T any, F row.Format[T]](me int, b *strips, o []T, p lines) {
	var f F
	for r := range row.Lanes {
		if r >= p.rows {
			return
		}
		from := p.at + r*p.step
		for d, line := me, o[from:from+p.dim]; d < len(line); d += row.Lanes {
			line[d] = f.Of(b.sums[d&(MaxDim-1)][r] * b.factors[r])
		}
	}
}
