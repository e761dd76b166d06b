package attention

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/math32"
)

// scattered is where the queries, keys and values of a block are, in rows or in pages.
type scattered struct {
	prefill.Layout
	prefill.Part
	q, k, v       gpu.TensorMap[panel]
	table         []int32
	rows          int // of K
	head, keyHead int
}

// attendSpans is attend for queries of spans, with keys and values in rows or in pages.
//
//gpu:kernel
//gpu:block 384
func attendSpans(t gpu.Thread, q, k, v gpu.TensorMap[panel], o [][2]dtype.BF16, states []prefill.State, spans []prefill.Span, table []int32, rows int, l prefill.Layout) {
	b := gpu.Shared[shared](t)
	x := scattered{Layout: l, Part: l.Part(spans, t.GridDimX()-1-t.BlockX(), tileRows, rows), q: q, k: k, v: v, table: table, rows: rows, head: t.BlockY()}
	if x.Count <= 0 {
		return
	}
	x.keyHead = int(uint32(x.head) / uint32(l.Heads/l.KeyHeads))
	if t.ThreadX() == 0 {
		b.init(t)
	}
	t.Sync()
	e := x.extent()
	if t.WarpGroup() == 0 {
		t.GiveRegisters(24)
		if t.ThreadX() == 0 {
			x.produce(t, b, e.tiles)
		}
		return
	}
	t.TakeRegisters(240)
	missing := x.missing(t)
	var out [64]float32
	sum, soft := consume(t, b, &out, e)
	if missing {
		sum = [2]float32{math32.NaN(), math32.NaN()}
	}
	x.put(t, o, &out, sum)
	if len(states) > 0 {
		x.putStates(t, states, &soft)
	}
}

// extent returns the extent of the block for consume. Tiles come in the order of their positions: the first key is one that all queries see.
func (x *scattered) extent() extent {
	e := extent{row: x.Position, tiles: (x.Keys + tileRows - 1) / tileRows, length: x.Keys, causal: x.Causal, scale: x.Scale}
	e.ascending, e.masked, e.ragged = true, max(x.Clear/tileRows, 1), x.Keys%tileRows != 0
	return e
}

// produce copies the tiles of a block to shared memory.
func (x *scattered) produce(t gpu.Thread, b *shared, tiles int) {
	b.queries.Expect(t, tileBytes)
	for group := range 2 {
		for half := range 2 {
			x.q.Fetch(t, &b.q[group][half][0], gpu.Corner{X: x.head*Dim + half*64, Y: x.Row + group*rowSplit}, &b.queries)
		}
	}
	for i := range tiles {
		stage := i & 1
		places := [2]gpu.Corner{x.corner(i * tileRows), x.corner(i*tileRows + prefill.PageTokens)}
		b.kEmpty[stage].Wait(t, i>>1+1)
		b.kFull[stage].Expect(t, tileBytes)
		for below, at := range places {
			for half := range 2 {
				x.k.Fetch(t, &b.k[stage][half][below], gpu.Corner{X: at.X + half*64, Y: at.Y, Z: at.Z}, &b.kFull[stage])
			}
		}
		b.vEmpty[stage].Wait(t, i>>1+1)
		b.vFull[stage].Expect(t, tileBytes)
		for below, at := range places {
			for half := range 2 {
				x.v.Fetch(t, &b.v[stage][below][half], gpu.Corner{X: at.X + half*64, Y: at.Y, Z: at.Z}, &b.vFull[stage])
			}
		}
	}
}

// corner returns where the keys from a position on are, or any place if there are none.
func (x *scattered) corner(position int) gpu.Corner {
	at := max(x.Tile(&x.Part, x.table, position, x.rows), 0)
	if x.Pages > 0 {
		return gpu.Corner{Z: at*int(x.KeyHeads) + x.keyHead}
	}
	return gpu.Corner{X: x.keyHead * Dim, Y: at}
}

// missing reports whether some keys of the block are not there.
func (x *scattered) missing(t gpu.Thread) bool {
	found := true
	for position := t.Lane() * prefill.PageTokens; position < x.Keys; position += gpu.WarpSize * prefill.PageTokens {
		found = found && x.Tile(&x.Part, x.table, position, x.rows) >= 0
	}
	return gpu.Any(t, !found)
}

// clearValues clears the values of a stage from a row on, for a warp group. The other group stores the same.
func clearValues(t gpu.Thread, b *shared, stage, from int) {
	group := (t.WarpGroup() - 1) & 1
	chunk := t.ThreadX() % 16
	for r := from + t.ThreadX()%128/16; r < tileRows; r += 8 {
		*gpu.EightAt(&b.v[stage][r/64&1][chunk/8], r%64, chunk%8*8) = [8]dtype.BF16{}
	}
	t.FenceAsync()
	t.SyncWarp()
	if t.Lane() == 0 {
		b.results[group].Arrive(t)
	}
	b.results[group].Wait(t, 0)
}

// put stores the results of a thread, multiplied by the factors of its two rows.
func (x *scattered) put(t gpu.Thread, o [][2]dtype.BF16, out *[64]float32, by [2]float32) {
	first := (t.WarpGroup()-1)*rowSplit + t.Warp()%4*16 + t.Lane()/4
	for h := range 2 {
		r := first + h*8
		to := ((x.Row+r)*int(x.Heads)+x.head)*(Dim/2) + t.Lane()%4
		if r >= x.Count || to+Dim/2 > len(o)+t.Lane()%4 {
			continue
		}
		for j := range 16 {
			o[to+j*4] = [2]dtype.BF16{dtype.BF16From32(out[4*j+2*h] * by[h]), dtype.BF16From32(out[4*j+2*h+1] * by[h])}
		}
	}
}

// putStates stores the states of a thread's two rows. One of the threads that share a row stores it.
func (x *scattered) putStates(t gpu.Thread, states []prefill.State, o *online) {
	for h := range 2 {
		r := (t.WarpGroup()-1)*rowSplit + t.Warp()%4*16 + t.Lane()/4 + h*8
		if to := (x.Row+r)*int(x.Heads) + x.head; t.Lane()%4 == 0 && r < x.Count && to < len(states) {
			states[to] = prefill.State{Top: o.top[h] * x.Scale, Sum: o.sum[h]}
		}
	}
}
