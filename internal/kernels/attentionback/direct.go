package attentionback

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	laneBits = 4
	lanes    = 1 << laneBits
	strip    = lanes                  // queries or keys of a product
	vectors  = prefill.MaxDim / lanes // vectors of a row
)

// rows are rows of queries or keys. Threads have neighbouring elements.
type rows [strip][vectors][lanes]float32

// strips is the shared memory of a block of sequences.
type strips struct {
	columns [2][prefill.MaxDim][lanes]float32 // of keys and values: each thread has a key
	rows    [4]rows                           // queries, derivatives of results, and keys
	sums    [4]rows                           // derivatives of keys, values and queries
	// pairs are products of queries and keys, and of derivatives of results and values, and then derivatives of scores, and weights, where
	// the keys of a query are next to each other, and derivatives of scores where the queries of a key are.
	pairs [4][strip][lanes]float32
	lines [strip][2]float32 // of the queries
}

// sequences computes the derivatives of a head of a sequence in a block. It is for CPUs, whose vector code runs the threads as lanes. For each strip
// of keys, it goes through the strips of queries that see them: derivatives of keys and values are complete after the last one, and
// those of queries, which are zero before, grow in memory. Derivatives of keys and values are for each head of the queries.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func sequences(t gpu.Thread, q, k, v, do []float32, lines [][2]float32, spans []prefill.Span, dq, dk, dv []float32, l layout) {
	b := gpu.Shared[strips](t)
	w := l.work(spans[t.BlockX()], t.BlockY())
	me := t.ThreadX()
	for key := 0; key < w.count; key += strip {
		keys, sums := w.keys(key), w.queries(key)
		t.Sync()
		b.rows[1].load(me, v, keys)
		b.rows[2].load(me, k, keys)
		t.Sync()
		b.turn(me, w.dim)
		for query := w.first(key); query < w.count; query += strip {
			from := w.queries(query)
			line := w.line(query)
			t.Sync()
			b.rows[0].load(me, q, from)
			b.rows[1].load(me, do, from)
			b.sums[2].load(me, dq, from)
			t.Sync()
			b.lines[me] = [2]float32{}
			if me < from.rows {
				b.lines[me] = lines[line+me*int(l.Heads)]
			}
			t.Sync()
			b.multiply(me, w.dim)
			t.Sync()
			b.weigh(me, &w, query, key)
			t.Sync()
			b.add(me, w.dim)
			t.Sync()
			b.sums[2].store(me, dq, from)
		}
		t.Sync()
		b.sums[0].store(me, dk, sums)
		b.sums[1].store(me, dv, sums)
	}
}

// work is the part of a block: a head of the sequence of count tokens from a row on.
type work struct {
	layout
	row, count, head, dim int
}

// work returns the part of a block. The count is 0 if there is none.
func (l layout) work(s prefill.Span, head int) work {
	w := work{l, int(s.Row), int(s.Count), head, int(l.Dim)}
	if s.Row < 0 || s.First != 0 || s.Keys != s.Row || int(s.Row)+int(s.Count) > int(l.Rows) {
		w.count = 0
	}
	return w
}

// first returns the first query that sees keys from one on.
func (w *work) first(key int) int {
	if w.Causal {
		return key
	}
	return 0
}

// piece is rows in global memory: the index of the first element, the number of rows, and the distance from one to the next.
type piece struct{ at, rows, step, dim int }

// queries returns a strip of queries, from a token on.
func (w *work) queries(token int) piece {
	step := int(w.Heads) * w.dim
	return piece{(w.row+token)*step + w.head*w.dim, min(w.count-token, strip), step, w.dim}
}

// keys returns a strip of keys, from a token on.
func (w *work) keys(token int) piece {
	step := int(w.KeyHeads) * w.dim
	return piece{(w.row+token)*step + w.head/int(w.Heads/w.KeyHeads)*w.dim, min(w.count-token, strip), step, w.dim}
}

// line returns the index of the line of a token.
func (w *work) line(token int) int { return (w.row+token)*int(w.Heads) + w.head }

// load copies the rows of a piece. Rows beyond are 0: they add nothing to sums.
func (r *rows) load(me int, x []float32, from piece) {
	for i := range strip {
		if i >= from.rows { // a loop over the rows would not be vector code
			for j := range from.dim >> laneBits {
				r[i][j&(vectors-1)][me] = 0
			}
			continue
		}
		at := from.at + i*from.step
		line := x[at : at+from.dim]
		for c, j := me, 0; c < len(line); c, j = c+lanes, j+1 {
			r[i][j&(vectors-1)][me] = line[c]
		}
	}
}

// store copies rows to a piece.
func (r *rows) store(me int, x []float32, to piece) {
	for i := range strip {
		if i >= to.rows {
			return
		}
		at := to.at + i*to.step
		line := x[at : at+to.dim]
		for c, j := me, 0; c < len(line); c, j = c+lanes, j+1 {
			line[c] = r[i][j&(vectors-1)][me]
		}
	}
}

// turn transposes a strip of keys and values, and clears its sums.
func (b *strips) turn(me, dim int) {
	for p := range min(2, dim) { // not a constant, which would double the code
		for d := range dim {
			b.columns[p&1][d&(prefill.MaxDim-1)][me] = b.rows[(2-p)&3][me][d>>laneBits&(vectors-1)][d&(lanes-1)]
			b.sums[p&3][d&(lanes-1)][d>>laneBits&(vectors-1)][me] = 0
		}
	}
}

// multiply multiplies both pairs: queries by keys, and derivatives of results by values.
func (b *strips) multiply(me, dim int) {
	for p := range min(2, dim) {
		var x [strip]float32
		for d := range dim {
			y := b.columns[p&1][d&(prefill.MaxDim-1)][me]
			for i := range x {
				x[i] = math32.FMA(y, b.rows[p&3][i][d>>laneBits&(vectors-1)][d&(lanes-1)], x[i])
			}
		}
		for i := range x {
			b.pairs[p&1][i][me] = x[i]
		}
	}
}

// weigh turns the products into derivatives of scores, and weights.
func (b *strips) weigh(me int, w *work, query, key int) {
	for i := range min(strip, w.dim) { // not a constant: the exponential function 16 times would be much code
		line := &b.lines[i&(strip-1)]
		score, weight := &b.pairs[0][i&(strip-1)][me], &b.pairs[1][i&(strip-1)][me]
		x := math32.Exp2(*score*w.Scale - line[0])
		if seen := key + me; seen >= w.count || w.Causal && seen > query+i {
			x = 0
		}
		slope := x * (*weight - line[1]) * w.Slope
		*score, *weight, b.pairs[2][me][i&(lanes-1)] = slope, x, slope
	}
}

// add adds the products of derivatives of scores and queries, of weights and derivatives of results, and of derivatives of scores and keys.
func (b *strips) add(me, dim int) {
	for p := range min(3, dim) {
		for j := range dim >> laneBits {
			var x [strip]float32
			for i := range x {
				x[i] = b.sums[p&3][i][j&(vectors-1)][me]
			}
			for k := range min(strip, dim) {
				y := b.rows[p&3][k&(strip-1)][j&(vectors-1)][me]
				for i := range x {
					x[i] = math32.FMA(y, b.pairs[p&3][k&(strip-1)][i], x[i])
				}
			}
			for i := range x {
				b.sums[p&3][i][j&(vectors-1)][me] = x[i]
			}
		}
	}
}
