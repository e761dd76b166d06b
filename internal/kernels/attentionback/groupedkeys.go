package attentionback

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/math32"
)

const keyStages = 4 // tiles of queries in shared memory

// keysMemory is the shared memory of a block of groupedKeys.
type keysMemory struct {
	own  [2][2]sheet         // keys and values, by warp group
	near [keyStages][2]sheet // queries and derivatives of results
	// What prepareWide stored, of two queries each.
	logs, dots [keyStages][tileRows / 2][2]float32

	turns
	ready, landed gpu.Barrier // own is there; a tile is there that has to be cleared in part
	full, empty   [keyStages]gpu.Barrier
}

func (b *keysMemory) init(t gpu.Thread) {
	b.turns.init(t)
	b.ready.Init(t, 1)
	b.landed.Init(t, 1)
	for i := range keyStages {
		b.full[i].Init(t, 1)
		b.empty[i].Init(t, 8)
	}
}

// keysView is the work of a block of groupedKeys.
type keysView struct {
	section
	q, k, v, do gpu.TensorMap[panel]
	lines       [][2]float32
	panels      int // of a row
}

// slopes are sums of a thread: derivatives with respect to keys and values.
type slopes[A [32]float32 | [64]float32] struct{ keys, values A }

// groupedKeys computes the derivatives of up to blockRows keys and values of a head in each block. Tiles of the queries of all heads that share
// them pass, as in tiledKeys.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 384
//gpu:instance groupedKeys64 = groupedKeys[[32]float32]
//gpu:instance groupedKeys128 = groupedKeys[[64]float32]
func groupedKeys[A [32]float32 | [64]float32](t gpu.Thread, q, k, v, do gpu.TensorMap[panel], lines [][2]float32, spans []prefill.Span, dk, dv [][8]dtype.BF16, l layout) {
	t.StartNext()
	b := gpu.Shared[keysMemory](t)
	at, head := l.blockOf(t.BlockX(), t.GridDimX(), int(l.KeyHeads))
	w := keysView{section: section{layout: l, keyHead: head}, q: q, k: k, v: v, do: do, lines: lines}
	w.part(spans, at, blockRows)
	if w.Count <= 0 {
		return
	}
	var sums slopes[A]
	w.panels = len(sums.keys) / 32
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
	consumeQueries(t, b, &w, &sums)
	group := (t.WarpGroup() - 1) & 1
	to := w.targetOf(t, w.keyHead, int(l.KeyStep))
	for i := range len(sums.keys) / 32 {
		to.panel, to.to, to.factor = i, dk, l.Slope
		store(t, to, &sums.keys, &b.own[0][group][i])
		to.to, to.factor = dv, 1
		store(t, to, &sums.values, &b.own[1][group][i])
		to.at += panelWidth / 8
	}
}

// produce copies tiles to shared memory.
func (w *keysView) produce(t gpu.Thread, b *keysMemory) {
	if t.Lane() == 0 {
		b.ready.Expect(t, 4*w.panels*gpu.PanelBytes)
		for group := range 2 {
			for i := range w.panels {
				at := gpu.Corner{X: w.keyHead*int(w.Dim) + i*panelWidth, Y: w.Row + group*groupRows}
				w.k.Fetch(t, &b.own[0][group][i&1], at, &b.ready)
				w.v.Fetch(t, &b.own[1][group][i&1], at, &b.ready)
			}
		}
	}
	u, landed := w.tour(), 0
	for i := range u.count {
		stage, count := i%keyStages, w.Keys-u.query
		b.empty[stage].Wait(t, i/keyStages+1)
		for e := range 2 {
			line := [2]float32{math32.Inf(1), 0} // weights become 0
			if r := t.Lane()*2 + e; r < count {
				line = w.lines[(w.From+u.query+r)*int(w.Heads)+u.head]
			}
			b.logs[stage][t.Lane()][e], b.dots[stage][t.Lane()][e] = line[0], line[1]
		}
		t.SyncWarp()
		if count >= tileRows {
			if t.Lane() == 0 {
				w.fetch(t, &b.near[stage], &u, &b.full[stage])
			}
		} else {
			if t.Lane() == 0 {
				w.fetch(t, &b.near[stage], &u, &b.landed)
			}
			b.landed.Wait(t, landed)
			landed++
			for p := range 2 {
				for j := range w.panels {
					clearRows(t, &b.near[stage][p][j&1], count)
				}
			}
			t.FenceAsync()
			t.SyncWarp()
			if t.Lane() == 0 {
				b.full[stage].Arrive(t)
			}
		}
		u.next(w.Keys)
	}
}

// fetch starts to copy a tile of queries and derivatives of results.
func (w *keysView) fetch(t gpu.Thread, to *[2]sheet, u *tour, bar *gpu.Barrier) {
	bar.Expect(t, 2*w.panels*gpu.PanelBytes)
	for i := range w.panels {
		at := gpu.Corner{X: u.head*int(w.Dim) + i*panelWidth, Y: w.From + u.query}
		w.q.Fetch(t, &to[0][i&1], at, bar)
		w.do.Fetch(t, &to[1][i&1], at, bar)
	}
}

// consumeQueries adds what all queries contribute to the derivatives of keys and values. Derivatives of scores are multiplied by queries while
// the next tile is weighed. No product is under way at the end of an iteration: ptxas would serialize all products.
func consumeQueries[A [32]float32 | [64]float32](t gpu.Thread, b *keysMemory, w *keysView, sums *slopes[A]) {
	keys, values, group := &sums.keys, &sums.values, (t.WarpGroup()-1)&1
	u := w.tour()
	var s, dp [32]float32
	b.ready.Wait(t, 0)
	b.full[0].Wait(t, 0)
	b.turns.await(t, 0)
	w.multiply(t, &s, &b.own[0][group], &b.near[0][0])
	w.multiply(t, &dp, &b.own[1][group], &b.near[0][1])
	b.turns.pass(t)
	gpu.AwaitProducts(t, &s, 1)
	p := w.weigh(t, &s, &u, &b.logs[0])
	addTile(t, values, &p, &b.near[0][1])
	gpu.AwaitProducts(t, &dp, 1)
	tilt(t, &s, &dp, &b.dots[0])
	d := operands32(&dp)
	gpu.AwaitProducts(t, values, 0)
	for i := 1; i < u.count; i++ {
		u.next(w.Keys)
		stage, before := i%keyStages, (i-1)%keyStages
		b.full[stage].Wait(t, i/keyStages)
		b.turns.await(t, i)
		addTile(t, keys, &d, &b.near[before][0])
		w.multiply(t, &s, &b.own[0][group], &b.near[stage][0])
		gpu.AwaitProducts(t, keys, 1)
		t.SyncWarp()
		if t.Lane() == 0 {
			b.empty[before].Arrive(t)
		}
		w.multiply(t, &dp, &b.own[1][group], &b.near[stage][1])
		b.turns.pass(t)
		gpu.AwaitProducts(t, &s, 1)
		p = w.weigh(t, &s, &u, &b.logs[stage])
		addTile(t, values, &p, &b.near[stage][1])
		gpu.AwaitProducts(t, &dp, 1)
		tilt(t, &s, &dp, &b.dots[stage])
		d = operands32(&dp)
		gpu.AwaitProducts(t, values, 0)
	}
	addTile(t, keys, &d, &b.near[(u.count-1)%keyStages][0])
	gpu.AwaitProducts(t, keys, 0)
}

// multiply starts to multiply keys by a tile of queries, or values by derivatives of results.
func (w *keysView) multiply(t gpu.Thread, x *[32]float32, own, near *sheet) {
	t.FenceProducts()
	gpu.ProductAsync(t, x, gpu.AlongRows(own[:1], 0), gpu.AlongRows(near[:1], 0))
	for k := 1; k < 4*w.panels; k++ {
		gpu.MultiplyAsync(t, x, gpu.AlongRows(own[k/4:k/4+1], k%4), gpu.AlongRows(near[k/4:k/4+1], k%4))
	}
	t.CommitProducts()
}

// addTile starts to add products with a tile.
func addTile[A [32]float32 | [64]float32](t gpu.Thread, sums *A, p *[4][4]tile, x *sheet) {
	t.FenceProducts()
	for k := range p {
		gpu.MultiplyTilesAsync(t, sums, p[k], gpu.DownColumns(x[:len(*sums)/32], k))
	}
	t.CommitProducts()
}

// weigh turns scores into weights, and returns them as operands too.
func (w *keysView) weigh(t gpu.Thread, s *[32]float32, u *tour, logs *[tileRows / 2][2]float32) [4][4]tile {
	if w.Causal && u.query < w.Position+blockRows {
		w.hideQueries(t, s, u.query)
	}
	for j := range 8 {
		logs := logs[j*4+t.Lane()%4]
		for i := range 4 {
			s[4*j+i] = math32.FastExp2(s[4*j+i]*w.Scale - logs[i%2])
		}
	}
	return operands32(s)
}

// tilt turns derivatives with respect to weights into derivatives with respect to scores.
func tilt(t gpu.Thread, s, dp *[32]float32, dots *[tileRows / 2][2]float32) {
	for j := range 8 {
		dots := dots[j*4+t.Lane()%4]
		for i := range 4 {
			dp[4*j+i] = s[4*j+i] * (dp[4*j+i] - dots[i%2])
		}
	}
}

// hideQueries removes the scores of a tile of queries from a position on that do not see keys.
func (w *keysView) hideQueries(t gpu.Thread, s *[32]float32, position int) {
	first := int32(w.Position + (t.WarpGroup()-1)*groupRows + t.Warp()%4*16 + t.Lane()/4 - position - t.Lane()%4*2)
	for i := range s {
		x := s[i]
		if int32(i/4*8+i%2) < first+int32(i/2%2*8) {
			x = math32.Inf(-1)
		}
		s[i] = x
	}
}
