package attentionback

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/math32"
)

const queryStages = 2 // tiles of keys and values in shared memory

// queriesMemory is the shared memory of a block of groupedQueries.
type queriesMemory struct {
	own  [2][2]sheet           // queries and derivatives of results, by warp group
	near [2][queryStages]piles // keys and values

	turns
	ready, landed gpu.Barrier // own is there; tiles are there that have to be cleared in part
	full, empty   [2][queryStages]gpu.Barrier
}

func (b *queriesMemory) init(t gpu.Thread) {
	b.turns.init(t)
	b.ready.Init(t, 1)
	b.landed.Init(t, 1)
	for p := range 2 {
		for i := range queryStages {
			b.full[p][i].Init(t, 1)
			b.empty[p][i].Init(t, 2)
		}
	}
}

// queriesView is the work of a block of groupedQueries.
type queriesView struct {
	section
	q, do  gpu.TensorMap[panel]
	k, v   gpu.TensorMap[tall]
	head   int
	seen   int           // keys that some query sees
	clear  int           // keys that all queries see
	panels int           // of a row
	owns   int           // operands with the block's rows: the queries, and the derivatives of results if there are two
	lines  [2][2]float32 // of a thread's two queries
}

// groupedQueries computes the derivatives of up to blockRows queries of a head in each block. Tiles of keys pass, as in tiledQueries.
// Blocks start as soon as those of groupedKeys leave room. They read nothing that groupedKeys writes, and groupedKeys starts after
// the kernels before it.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 384
//gpu:instance groupedQueries64 = groupedQueries[[1][32]float32]
//gpu:instance groupedQueries128 = groupedQueries[[2][32]float32]
func groupedQueries[A [1][32]float32 | [2][32]float32](t gpu.Thread, q, do gpu.TensorMap[panel], k, v gpu.TensorMap[tall], lines [][2]float32, spans []prefill.Span, dq [][8]dtype.BF16, l layout) {
	b := gpu.Shared[queriesMemory](t)
	at, head := l.blockOf(t.GridDimX()-1-t.BlockX(), t.GridDimX(), int(l.Heads))
	w := queriesView{section: section{layout: l}, q: q, do: do, k: k, v: v, head: head, owns: 2}
	w.part(spans, at, blockRows)
	if w.Count <= 0 {
		return
	}
	var sums A
	w.see(len(sums))
	if t.ThreadX() == 0 {
		b.init(t)
	}
	t.Sync()
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.Warp() == 0 {
			w.produce(t, b)
		}
		return
	}
	t.TakeRegisters(232)
	w.lines = w.linesOf(t, lines)
	consumeKeys(t, b, &w, &sums)
	t.AwaitPrevious()
	to := w.targetOf(t, w.head, int(l.QueryStep))
	for i := range len(sums) {
		to.to = dq
		store(t, to, &sums[i], &b.own[0][(t.WarpGroup()-1)&1][i])
		to.at += panelWidth / 8
	}
}

// see sets the keys that the queries of a block see, given the panels of a row.
func (w *queriesView) see(panels int) {
	w.panels, w.keyHead, w.seen, w.clear = panels, w.head/w.headsOfGroup, w.Keys, w.Keys
	if w.Causal {
		w.seen, w.clear = w.Position+w.Count, w.Position+1
	}
}

// linesOf returns the lines of a thread's two queries.
func (w *queriesView) linesOf(t gpu.Thread, lines [][2]float32) (mine [2][2]float32) {
	for h := range mine {
		r := min((t.WarpGroup()-1)*groupRows+t.Warp()%4*16+t.Lane()/4+h*8, w.Count-1)
		mine[h] = lines[(w.Row+r)*int(w.Heads)+w.head]
	}
	return mine
}

// produce copies tiles to shared memory.
func (w *queriesView) produce(t gpu.Thread, b *queriesMemory) {
	if t.Lane() == 0 {
		b.ready.Expect(t, 2*w.owns*w.panels*gpu.PanelBytes)
		for group := range 2 {
			for i := range w.panels {
				at := gpu.Corner{X: w.head*int(w.Dim) + i*panelWidth, Y: w.Row + group*groupRows}
				w.q.Fetch(t, &b.own[0][group][i&1], at, &b.ready)
				if w.owns > 1 {
					w.do.Fetch(t, &b.own[1][group][i&1], at, &b.ready)
				}
			}
		}
	}
	for i := range (w.seen + blockRows - 1) / blockRows {
		stage, phase := i%queryStages, i/queryStages+1
		whole := w.Keys-i*blockRows >= blockRows
		for p := range 2 {
			b.empty[p][stage].Wait(t, phase)
			if t.Lane() == 0 && whole {
				w.fetch(t, b, near{p, stage, i * blockRows}, &b.full[p][stage])
			}
		}
		if !whole {
			w.fetchLast(t, b, stage, i*blockRows)
		}
	}
}

// near is a tile of keys, or of values if the operand is 1: where it goes, and the position of its first row.
type near struct{ operand, stage, position int }

// fetch starts to copy a tile.
func (w *queriesView) fetch(t gpu.Thread, b *queriesMemory, n near, bar *gpu.Barrier) {
	bar.Expect(t, 2*w.panels*gpu.PanelBytes)
	for i := range w.panels {
		at, to := gpu.Corner{X: w.keyHead*int(w.Dim) + i*panelWidth, Y: w.From + n.position}, &b.near[n.operand][n.stage][i&1]
		if n.operand == 0 {
			w.k.Fetch(t, to, at, bar)
		} else {
			w.v.Fetch(t, to, at, bar)
		}
	}
}

// fetchLast copies the last keys and values of a sequence, and clears the rows after them.
func (w *queriesView) fetchLast(t gpu.Thread, b *queriesMemory, stage, position int) {
	for p := range 2 {
		if t.Lane() == 0 {
			w.fetch(t, b, near{p, stage, position}, &b.landed)
		}
		b.landed.Wait(t, p)
		for i := range w.panels {
			for below := range 2 {
				clearRows(t, &b.near[p][stage][i&1][below], max(w.Keys-position-below*groupRows, 0))
			}
		}
		t.FenceAsync()
		t.SyncWarp()
		if t.Lane() == 0 {
			b.full[p][stage].Arrive(t)
		}
	}
}

// consumeKeys adds what all keys contribute to the derivatives of queries. Derivatives of scores are multiplied by keys while the next tile is
// weighed.
func consumeKeys[A [1][32]float32 | [2][32]float32](t gpu.Thread, b *queriesMemory, w *queriesView, sums *A) {
	group := (t.WarpGroup() - 1) & 1
	tiles := (w.seen + blockRows - 1) / blockRows
	leads := t.ThreadX()%gpu.WarpGroupSize == 0
	var s, dp [64]float32
	b.ready.Wait(t, 0)
	b.full[0][0].Wait(t, 0)
	b.full[1][0].Wait(t, 0)
	b.turns.await(t, 0)
	w.multiply(t, &s, &b.own[0][group], &b.near[0][0])
	w.multiply(t, &dp, &b.own[1][group], &b.near[1][0])
	b.turns.pass(t)
	gpu.AwaitProducts(t, &s, 1)
	w.weigh(t, &s, 0)
	gpu.AwaitProducts(t, &dp, 0)
	if leads {
		b.empty[1][0].Arrive(t)
	}
	w.tilt(&s, &dp)
	d := operands64(&dp)
	for i := 1; i < tiles; i++ {
		stage, before := i%queryStages, (i-1)%queryStages
		b.full[0][stage].Wait(t, i/queryStages)
		b.full[1][stage].Wait(t, i/queryStages)
		b.turns.await(t, i)
		addKeys(t, sums, &d, &b.near[0][before])
		w.multiply(t, &s, &b.own[0][group], &b.near[0][stage])
		for j := range len(*sums) {
			gpu.AwaitProducts(t, &(*sums)[j], 1)
		}
		w.multiply(t, &dp, &b.own[1][group], &b.near[1][stage])
		if leads {
			b.empty[0][before].Arrive(t)
		}
		b.turns.pass(t)
		gpu.AwaitProducts(t, &s, 1)
		w.weigh(t, &s, i)
		gpu.AwaitProducts(t, &dp, 0)
		if leads {
			b.empty[1][stage].Arrive(t)
		}
		w.tilt(&s, &dp)
		d = operands64(&dp)
	}
	addKeys(t, sums, &d, &b.near[0][(tiles-1)%queryStages])
	for j := range len(*sums) {
		gpu.AwaitProducts(t, &(*sums)[j], 0)
	}
}

// multiply starts to multiply queries by a tile of keys, or derivatives of results by values.
func (w *queriesView) multiply(t gpu.Thread, x *[64]float32, own *sheet, near *piles) {
	t.FenceProducts()
	gpu.ProductAsync(t, x, gpu.AlongRows(own[:1], 0), gpu.AlongRows(near[0][:], 0))
	for k := 1; k < 4*w.panels; k++ {
		gpu.MultiplyAsync(t, x, gpu.AlongRows(own[k/4:k/4+1], k%4), gpu.AlongRows(near[k/4][:], k%4))
	}
	t.CommitProducts()
}

// weigh turns the scores of tile i into weights.
func (w *queriesView) weigh(t gpu.Thread, s *[64]float32, i int) {
	if (i+1)*blockRows > w.clear {
		w.hideKeys(t, s, i*blockRows)
	}
	for j := range s {
		s[j] = math32.FastExp2(s[j]*w.Scale - w.lines[j/2%2][0])
	}
}

// tilt turns derivatives with respect to weights into derivatives with respect to scores.
func (w *queriesView) tilt(s, dp *[64]float32) {
	for j := range s {
		dp[j] = s[j] * (dp[j] - w.lines[j/2%2][1])
	}
}

// addKeys starts to add what derivatives of scores contribute.
func addKeys[A [1][32]float32 | [2][32]float32](t gpu.Thread, sums *A, d *[8][4]tile, near *piles) {
	t.FenceProducts()
	for k := range d {
		for j := range len(*sums) {
			gpu.MultiplyTilesAsync(t, &(*sums)[j], d[k], gpu.DownColumns(near[j][k/4:k/4+1], k%4))
		}
	}
	t.CommitProducts()
}

// hideKeys removes the scores of keys from a position on that queries do not see.
func (w *queriesView) hideKeys(t gpu.Thread, s *[64]float32, position int) {
	var seen [2]int32
	for h := range seen {
		to := w.Keys
		if w.Causal {
			to = min(to, w.Position+(t.WarpGroup()-1)*groupRows+t.Warp()%4*16+t.Lane()/4+h*8+1)
		}
		seen[h] = int32(to - position - t.Lane()%4*2)
	}
	for i := range s {
		x := s[i]
		if int32(i/4*8+i%2) >= seen[i/2%2] {
			x = math32.Inf(-1)
		}
		s[i] = x
	}
}
