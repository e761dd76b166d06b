package attentionback

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// nearKeys is the shared memory of a block of tiledKeys. What is there twice is by parity of the tile.
type nearKeys[R any] struct {
	own     pair[R]    // keys and values
	queries [2]pair[R] // queries and derivatives of results
	lines   [2][tileRows][2]float32
}

// tiledKeys computes the derivatives of a tile of keys and values of a head in each block. Tiles of the queries of all heads that share them pass.
// Rows of products are keys here, so that weights, which are sums in registers, become left operands without a transposition.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 128
func tiledKeys[T gpu.Half, F row.Format[T], R [9][8]T | [17][8]T, A [8][4]float32 | [16][4]float32](t gpu.Thread, q, k, v, do [][8]T, lines [][2]float32, spans []prefill.Span, dk, dv [][2]T, l layout) {
	b := gpu.Shared[nearKeys[R]](t)
	w := view[T]{section: section{layout: l, keyHead: t.BlockY()}, first: [2][][8]T{q, do}, second: [2][][8]T{k, v}, lines: lines}
	w.part(spans, t.BlockX(), tileRows)
	if w.Count <= 0 {
		return
	}
	tour := w.tour()
	fetch[T](t, &b.own, &w.second, w.keys(w.Position))
	fetchQueries(t, b, &w, &tour)
	t.CommitCopies()
	var keys, values A
	for i := range tour.count {
		t.WaitCopies(0)
		t.Sync()
		query := tour.query
		tour.next(w.Keys)
		if i+1 < tour.count {
			fetchQueries(t, b, &w, &tour)
			t.CommitCopies()
		}
		near, nearLines := &b.queries[i&1], &b.lines[i&1]
		for from := 0; from < tileRows; from += step {
			s := multiply[T](t, &b.own[0], &near[0], from)
			dp := multiply[T](t, &b.own[1], &near[1], from)
			if l.Causal && query < w.Position+tileRows {
				w.hideQueries(t, &s, query+from)
			}
			for n := range s.acc {
				for e := range 2 {
					line := nearLines[from+n*8+t.Lane()%4*2+e]
					for h := range 2 {
						x := math32.FastExp2(s.acc[n][2*h+e]*l.Scale - line[0])
						s.acc[n][2*h+e], dp.acc[n][2*h+e] = x, x*(dp.acc[n][2*h+e]-line[1])
					}
				}
			}
			add[T, F](t, &values, &s, &near[1])
			add[T, F](t, &keys, &dp, &near[0])
		}
	}
	to := w.placeOf(t, w.keyHead, int(l.KeyHeads))
	put[T, F](t, dk, &keys, to)
	to.factor = 1
	put[T, F](t, dv, &values, to)
}

// tour goes through the tiles of queries that see a tile of keys, of each head of a group.
type tour struct {
	head, query int // of the next tile
	first       int // tile of each head
	count       int // of tiles of all heads
	parity      int // of the next tile
}

// tour returns a tour before its first tile.
func (w *section) tour() tour {
	u := tour{head: w.keyHead * w.headsOfGroup}
	if w.Causal {
		u.first = w.Position
	}
	u.query = u.first
	u.count = (w.Keys - u.first + tileRows - 1) / tileRows * w.headsOfGroup
	return u
}

// next goes to the next tile, given the number of queries of a head.
func (u *tour) next(queries int) {
	u.parity ^= 1
	if u.query += tileRows; u.query >= queries {
		u.head, u.query = u.head+1, u.first
	}
}

// fetchQueries starts to copy a tile of queries and its lines. What is beyond the last query becomes 0: then weights are 1, and what they are
// multiplied by is 0.
func fetchQueries[T gpu.Half, R [9][8]T | [17][8]T](t gpu.Thread, b *nearKeys[R], w *view[T], u *tour) {
	fetch[T](t, &b.queries[u.parity], &w.first, w.queries(u.query, u.head))
	if i := t.ThreadX(); i < tileRows {
		lines := w.lines[:(w.From+w.Keys)*int(w.Heads)]
		gpu.FetchAsync(t, &b.lines[u.parity][i], lines, (w.From+u.query+i)*int(w.Heads)+u.head)
	}
}

// hideQueries removes the scores of queries from a position on that do not see keys.
func (w *view[T]) hideQueries(t gpu.Thread, s *products, position int) {
	var from [2]int32
	for h := range from {
		from[h] = int32(w.Position + t.Warp()%4*16 + t.Lane()/4 + h*8 - position - t.Lane()%4*2)
	}
	s.hide(from, [2]int32{step, step})
}
