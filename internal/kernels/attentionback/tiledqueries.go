package attentionback

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// nearQueries is the shared memory of a block of tiledQueries.
type nearQueries[R any] struct {
	own  pair[R]    // queries and derivatives of results
	keys [2]pair[R] // by parity of the tile: keys and values
}

// tiledQueries computes the derivatives of a tile of queries of a head in each block. Tiles of keys pass, the next one on its way while one is
// multiplied.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 128
func tiledQueries[T gpu.Half, F row.Format[T], R [9][8]T | [17][8]T, A [8][4]float32 | [16][4]float32](t gpu.Thread, q, k, v, do [][8]T, lines [][2]float32, spans []prefill.Span, dq [][2]T, l layout) {
	b := gpu.Shared[nearQueries[R]](t)
	w := view[T]{section: section{layout: l}, first: [2][][8]T{q, do}, second: [2][][8]T{k, v}}
	w.part(spans, t.GridDimX()-1-t.BlockX(), tileRows)
	if w.Count <= 0 {
		return
	}
	head := t.BlockY()
	w.keyHead = head / w.headsOfGroup
	fetch[T](t, &b.own, &w.first, w.queries(w.Position, head))
	fetch[T](t, &b.keys[0], &w.second, w.keys(0))
	t.CommitCopies()
	mine := w.linesOf(t, lines, head)
	keys := w.Keys
	if l.Causal {
		keys = w.Position + w.Count
	}
	var sums A
	for key := 0; key < keys; key += tileRows {
		t.WaitCopies(0)
		t.Sync()
		at := key / tileRows & 1
		if key+tileRows < keys {
			fetch[T](t, &b.keys[at^1], &w.second, w.keys(key+tileRows))
			t.CommitCopies()
		}
		near := &b.keys[at]
		for from := 0; from < tileRows; from += step {
			s := multiply[T](t, &b.own[0], &near[0], from)
			dp := multiply[T](t, &b.own[1], &near[1], from)
			if key+tileRows > min(w.Keys, w.Position) {
				w.hideKeys(t, &s, key+from)
			}
			for n := range s.acc {
				for e := range s.acc[n] {
					s.acc[n][e] = math32.FastExp2(s.acc[n][e]*l.Scale-mine[e/2][0]) * (dp.acc[n][e] - mine[e/2][1])
				}
			}
			add[T, F](t, &sums, &s, &near[0])
		}
	}
	put[T, F](t, dq, &sums, w.placeOf(t, head, int(l.Heads)))
}

// linesOf returns the lines of a thread's two queries.
func (w *view[T]) linesOf(t gpu.Thread, lines [][2]float32, head int) (mine [2][2]float32) {
	for h := range mine {
		r := min(t.Warp()%4*16+t.Lane()/4+h*8, w.Count-1)
		mine[h] = lines[(w.Row+r)*int(w.Heads)+head]
	}
	return mine
}

// hideKeys removes the scores of keys from a position on that queries do not see.
func (w *view[T]) hideKeys(t gpu.Thread, s *products, position int) {
	var to [2]int32
	for h := range to {
		seen := w.Keys
		if w.Causal {
			seen = min(seen, w.Position+t.Warp()%4*16+t.Lane()/4+h*8+1)
		}
		to[h] = int32(seen - position - t.Lane()%4*2)
	}
	s.hide([2]int32{}, to)
}
