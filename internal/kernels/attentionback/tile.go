package attentionback

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	tileRows = prefill.PageTokens // tokens of a tile, and rows of a block, of which each warp has 16
	step     = 32                 // columns of a tile that are multiplied at a time, so that all sums fit in registers
	tiledBy  = 128                // threads of a block
)

// pair is two tiles in shared memory: queries and derivatives of results, or keys and values. An R has an unused piece of eight elements at its
// end, so that the eight rows that ldmatrix reads are in different banks.
type pair[R any] [2][tileRows]R

// products is a thread's part of 16 rows and the step columns of a tile from one on: accumulators of eight columns. The thread has columns
// lane%4*2 and the next one of rows lane/4 and lane/4 + 8.
type products struct {
	acc  [step / 8][4]float32
	from int
}

// section is the rows of a block, and their sequence.
type section struct {
	layout
	prefill.Part
	keyHead      int
	headsOfGroup int
}

// part sets the rows to those of the part of a sequence with a number, of up to size rows.
func (w *section) part(spans []prefill.Span, at, size int) {
	l := prefill.Layout{Heads: w.Heads, KeyHeads: w.KeyHeads, Dim: w.Dim}
	w.Part = l.Part(spans, at, size, int(w.Rows))
	if w.From+w.Position != w.Row || w.From+w.Keys > int(w.Rows) {
		w.Count = 0
	}
	w.headsOfGroup = int(w.Heads / w.KeyHeads)
}

// view is the operands of a block, eight elements at a time, and its rows.
type view[T any] struct {
	section
	first  [2][][8]T // queries and derivatives of results
	second [2][][8]T // keys and values
	lines  [][2]float32
}

// queries returns a tile of queries of a head, from a position on.
func (w *view[T]) queries(position, head int) prefill.Piece {
	width := int(w.Dim) / 8
	return prefill.PieceOf(((w.From+position)*int(w.Heads)+head)*width, w.Keys-position, width, int(w.Heads)*width)
}

// keys returns a tile of keys from a position on.
func (w *view[T]) keys(position int) prefill.Piece {
	width := int(w.Dim) / 8
	return prefill.PieceOf(((w.From+position)*int(w.KeyHeads)+w.keyHead)*width, w.Keys-position, width, int(w.KeyHeads)*width)
}

// fetch starts to copy a pair of tiles.
func fetch[T gpu.Half, R [9][8]T | [17][8]T](t gpu.Thread, to *pair[R], from *[2][][8]T, p prefill.Piece) {
	prefill.FetchRows[T](t, &to[0], from[0], p)
	prefill.FetchRows[T](t, &to[1], from[1], p)
}

// multiply returns the products of a warp's rows of x and step rows of y.
func multiply[T gpu.Half, R [9][8]T | [17][8]T](t gpu.Thread, x, y *[tileRows]R, from int) products {
	lane, s := t.Lane(), products{from: from}
	for k := range (len(x[0]) - 1) / 2 {
		a := gpu.LoadMatrix4(t, &x[t.Warp()%4*16+lane%16][k*2+lane/16])
		for n := range step / 16 {
			b := gpu.LoadMatrix4(t, &y[from+n*16+lane/16*8+lane%8][k*2+lane/8%2]) // pairs that MMA needs are in adjacent registers
			s.acc[2*n] = gpu.MMA(t, a, [2]gpu.Tile[T]{b[0], b[1]}, s.acc[2*n])
			s.acc[2*n+1] = gpu.MMA(t, a, [2]gpu.Tile[T]{b[2], b[3]}, s.acc[2*n+1])
		}
	}
	return s
}

// add adds the products of s, rounded, and the rows of y with the numbers of its columns.
func add[T gpu.Half, F row.Format[T], R [9][8]T | [17][8]T, A [8][4]float32 | [16][4]float32](t gpu.Thread, sums *A, s *products, y *[tileRows]R) {
	lane := t.Lane()
	for k := range step / 16 {
		low, high := s.acc[2*k], s.acc[2*k+1]
		a := [4]gpu.Tile[T]{prefill.PairOf[T, F](low[0], low[1]), prefill.PairOf[T, F](low[2], low[3]), prefill.PairOf[T, F](high[0], high[1]), prefill.PairOf[T, F](high[2], high[3])}
		for n := range len(*sums) / 2 {
			b := gpu.LoadTransposed4(t, &y[s.from+k*16+lane%16][n*2+lane/16])
			(*sums)[2*n] = gpu.MMA(t, a, [2]gpu.Tile[T]{b[0], b[1]}, (*sums)[2*n])
			(*sums)[2*n+1] = gpu.MMA(t, a, [2]gpu.Tile[T]{b[2], b[3]}, (*sums)[2*n+1])
		}
	}
}

// hide removes scores outside a range of columns of each of the thread's rows, which begins at the thread's first column.
func (s *products) hide(from, to [2]int32) {
	for n := range s.acc {
		for e := range s.acc[n] {
			if column := int32(n*8 + e%2); column < from[e/2] || column >= to[e/2] {
				s.acc[n][e] = math32.Inf(-1)
			}
		}
	}
}

// place is where a thread stores sums: its first row in the tile, the index and the distance of rows, their number, their size, and the
// factor of the sums.
type place struct {
	row, at, step, count, dim int
	factor                    float32
}

// placeOf returns where the rows of a block go, of a head of an array with a number of heads.
func (w *view[T]) placeOf(t gpu.Thread, head, heads int) place {
	dim := int(w.Dim)
	return place{t.Warp()%4*16 + t.Lane()/4, (w.Row*heads + head) * dim, heads * dim, w.Count, dim, w.Slope}
}

// put stores sums.
func put[T gpu.Half, F row.Format[T], A [8][4]float32 | [16][4]float32](t gpu.Thread, to [][2]T, sums *A, p place) {
	var f F
	for n := range len(*sums) {
		column := n*8 + t.Lane()%4*2
		for h := range 2 {
			r := p.row + h*8
			if i := (p.at + r*p.step + column) / 2; r < p.count && column < p.dim && i < len(to) {
				to[i] = [2]T{f.Of((*sums)[n][2*h] * p.factor), f.Of((*sums)[n][2*h+1] * p.factor)}
			}
		}
	}
}
