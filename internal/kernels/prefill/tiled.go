package prefill

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// The kernel of this file is FlashAttention-2 with warp products (Dao, "FlashAttention-2: Faster Attention with Better Parallelism and
// Work Partitioning", 2023). A block has blockRows queries of a head, of which each warp has 32. Its keys and values pass in tiles of
// PageTokens: values arrive while scores are computed, and the next keys while values are added.

const (
	blockRows    = 128 // queries of a block
	blockThreads = 128
)

// stage is the shared memory of a block. An R has an unused piece of eight elements at its end, so that the eight rows that ldmatrix
// reads are in different banks.
type stage[R any] struct {
	q    [blockRows / PageTokens][PageTokens]R
	k, v [PageTokens]R
}

// view is the work of a block, and its operands, eight elements at a time. Pieces are in units of eight elements too.
type view[T any] struct {
	Layout
	Part
	q, k, v       [][8]T
	o             [][2]T
	table         []int32
	head, keyHead int
}

// tiled computes up to blockRows results of a head in a block. R is a row in shared memory, A 16 rows of results in a warp.
//
//gpu:kernel
//gpu:block 128
func tiled[T gpu.Half, F row.Format[T], R [5][8]T | [9][8]T | [13][8]T | [17][8]T, A [4][4]float32 | [8][4]float32 | [12][4]float32 | [16][4]float32](t gpu.Thread, q, k, v [][8]T, o [][2]T, states []State, spans []Span, table []int32, s Layout) {
	b := gpu.Shared[stage[R]](t)
	w := view[T]{Layout: s, Part: s.Part(spans, t.GridDimX()-1-t.BlockX(), blockRows, s.rows(len(k)*8)), q: q, k: k, v: v, o: o, table: table, head: t.BlockY()}
	if w.Count <= 0 {
		return
	}
	w.keyHead = int(uint32(w.head) / uint32(s.Heads/s.KeyHeads))
	keys := w.tile(0)
	for i := range b.q {
		FetchRows[T](t, &b.q[i], w.q, w.queries(i*PageTokens))
	}
	FetchRows[T](t, &b.k, w.k, keys)
	t.CommitCopies()
	var out [2]A
	soft := newOnline()
	for key := 0; key < w.Keys; key += PageTokens {
		t.WaitCopies(0)
		t.Sync()
		FetchRows[T](t, &b.v, w.v, keys)
		t.CommitCopies()
		scores := products[T](t, &b.q, &b.k)
		missing := keys.at < 0
		keys = w.tile(key + PageTokens)
		t.WaitCopies(0)
		t.Sync()
		if key+PageTokens < w.Keys {
			FetchRows[T](t, &b.k, w.k, keys)
			t.CommitCopies()
		}
		if key+PageTokens > w.Clear || missing {
			w.mask(t, &scores, key, missing)
		}
		shrink := soft.next(t, &scores, s.Scale)
		if gpu.Any(t, shrink != [4]float32{1, 1, 1, 1}) {
			scale(&out, &shrink)
		}
		addProducts[T, F](t, &out, &scores, &b.v)
	}
	inverse := soft.inverse(t)
	if len(states) > 0 {
		w.putStates(t, states, &soft)
	}
	scale(&out, &inverse)
	for m := range out {
		for n := range len(out[m]) {
			put[T, F](&w, place{t.Warp()%4*32 + m*16 + t.Lane()/4, n*8 + t.Lane()%4*2}, out[m][n])
		}
	}
}

// Piece is rows in global memory: the index of the first one, their number of columns, their distance, and the index after the last one.
type Piece struct{ at, columns, step, end int }

// PieceOf returns at most PageTokens rows from an index on. If it is negative, there are none.
func PieceOf(at, rows, columns, step int) Piece {
	p := Piece{at: at, columns: columns, step: step}
	if at >= 0 && rows > 0 {
		p.end = at + (min(rows, PageTokens)-1)*step + columns
	}
	return p
}

// queries returns queries of the block from number i on.
func (w *view[T]) queries(i int) Piece {
	width := int(w.Dim) / 8
	step := w.queryStride() / 8
	return PieceOf((w.Row+i)*step+w.head*width, w.Count-i, width, step)
}

// tile returns the keys from a position on.
func (w *view[T]) tile(position int) Piece {
	at := w.first(&w.Part, w.table, keyAt{position, w.keyHead, len(w.k) * 8})
	return PieceOf(at>>3, w.Keys-position, int(w.Dim)/8, w.stride()/8)
}

// FetchRows starts to copy rows to shared memory. Rows beyond the last one become zero, and so do columns.
func FetchRows[T gpu.Half, R [5][8]T | [9][8]T | [13][8]T | [17][8]T](t gpu.Thread, to *[PageTokens]R, x [][8]T, p Piece) {
	var line R
	team := 4 // threads for a row
	if len(line)%8 == 1 {
		team = 8
	}
	x = x[:min(p.end, len(x))]
	r, c := t.ThreadX()/team, t.ThreadX()%team
	from := p.at + r*p.step + c
	for j := 0; j < len(line)-1; j += team {
		y := x
		if c+j >= p.columns {
			y = x[:0]
		}
		for i := 0; i < PageTokens; i += blockThreads / team {
			gpu.FetchAsync(t, &to[i+r][j+c], y, from+i*p.step+j)
		}
	}
}

// products returns the products of a warp's queries and a tile of keys.
func products[T gpu.Half, R [5][8]T | [9][8]T | [13][8]T | [17][8]T](t gpu.Thread, q *[blockRows / PageTokens][PageTokens]R, k *[PageTokens]R) (s warpScores) {
	lane, warp := t.Lane(), t.Warp()%4
	for step := range (len(k[0]) - 1) / 2 {
		var x [2][4]gpu.Tile[T]
		for m := range 2 {
			x[m] = gpu.LoadMatrix4(t, &q[warp/2][warp%2*32+m*16+lane%16][step*2+lane/16])
		}
		for n := range PageTokens / 16 {
			y := gpu.LoadMatrix4(t, &k[n*16+lane/16*8+lane%8][step*2+lane/8%2]) // pairs that MMA needs are in adjacent registers
			for m := range 2 {
				s[m][2*n] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[0], y[1]}, s[m][2*n])
				s[m][2*n+1] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[2], y[3]}, s[m][2*n+1])
			}
		}
	}
	return s
}

// addProducts adds the products of weights and a tile of values.
func addProducts[T gpu.Half, F row.Format[T], R [5][8]T | [9][8]T | [13][8]T | [17][8]T, A [4][4]float32 | [8][4]float32 | [12][4]float32 | [16][4]float32](t gpu.Thread, out *[2]A, s *warpScores, v *[PageTokens]R) {
	lane := t.Lane()
	for step := range PageTokens / 16 {
		var x [2][4]gpu.Tile[T]
		for m := range 2 {
			low, high := s[m][2*step], s[m][2*step+1]
			x[m] = [4]gpu.Tile[T]{PairOf[T, F](low[0], low[1]), PairOf[T, F](low[2], low[3]), PairOf[T, F](high[0], high[1]), PairOf[T, F](high[2], high[3])}
		}
		for n := range len(out[0]) / 2 {
			y := gpu.LoadTransposed4(t, &v[step*16+lane%16][n*2+lane/16])
			for m := range 2 {
				out[m][2*n] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[0], y[1]}, out[m][2*n])
				out[m][2*n+1] = gpu.MMA(t, x[m], [2]gpu.Tile[T]{y[2], y[3]}, out[m][2*n+1])
			}
		}
	}
}

// PairOf rounds two neighbouring elements of a tile.
func PairOf[T gpu.Half, F row.Format[T]](low, high float32) gpu.Tile[T] {
	var f F
	return gpu.Tile[T](f.Of(low)) | gpu.Tile[T](f.Of(high))<<16
}

// scale multiplies each line of the results by its factor.
func scale[A [4][4]float32 | [8][4]float32 | [12][4]float32 | [16][4]float32](out *[2]A, by *[4]float32) {
	for m := range 2 {
		for n := range len(out[m]) {
			for e := range 4 {
				out[m][n][e] *= by[m*2+e/2]
			}
		}
	}
}

// place is the place of an accumulator's first element in the results of a block.
type place struct{ row, column int }

// put stores an accumulator.
func put[T gpu.Half, F row.Format[T]](w *view[T], p place, x [4]float32) {
	var f F
	for h := range 2 {
		r := p.row + h*8
		to := (((w.Row+r)*int(w.Heads)+w.head)*int(w.Dim) + p.column) / 2
		if r < w.Count && p.column < int(w.Dim) && to < len(w.o) {
			w.o[to] = [2]T{f.Of(x[2*h]), f.Of(x[2*h+1])}
		}
	}
}
