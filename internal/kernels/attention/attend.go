package attention

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

type (
	panel = gpu.Panel[dtype.BF16]
	tall  = [2]gpu.Panel[dtype.BF16] // 128 rows of 64 elements
	tile  = gpu.Tile[dtype.BF16]
)

const (
	tileRows  = 128 // queries of a block, and keys of a step
	tileBytes = tileRows * Dim * 2
	stages    = 2
	rowSplit  = 64 // queries of a warp group
)

// buffers are the tiles of a block in shared memory.
type buffers struct {
	q [2][2][1]panel      // queries, by warp group and half of the dimensions; in the end, the results
	k [stages]keys        // by stage
	v [stages][2][2]panel // by stage, half of the keys and half of the dimensions
}

// keys is a tile of keys, by half of the dimensions.
type keys [2]tall

// signals are the barriers of a block: a tile has been copied, or is no longer needed.
type signals struct {
	queries       gpu.Barrier
	kFull, kEmpty [stages]gpu.Barrier
	vFull, vEmpty [stages]gpu.Barrier
	results       [2]gpu.Barrier // by warp group
}

func (s *signals) init(t gpu.Thread) {
	s.queries.Init(t, 1)
	for i := range stages {
		s.kFull[i].Init(t, 1)
		s.vFull[i].Init(t, 1)
		s.kEmpty[i].Init(t, 2)
		s.vEmpty[i].Init(t, 2)
	}
	for i := range 2 {
		s.results[i].Init(t, 4)
	}
}

// shared is the shared memory of a block.
type shared struct {
	buffers
	signals
}

// sources are the tensors that a block reads.
type sources struct {
	q, v gpu.TensorMap[panel]
	k    gpu.TensorMap[tall]
}

// extent is the work of a block: 128 queries of a head and the tiles of keys that they see.
type extent struct {
	row, tiles int // first query, and number of tiles
	head, from int // indices of the matrices of queries, and of keys and values
	length     int
	causal     bool
	scale      float32 // of the scores as exponents of 2
	order              // of the tiles
}

// order is the order in which the tiles of keys come.
type order struct {
	ascending bool // otherwise, the last one comes first
	masked    int  // if not 0, the tiles from this one on need a mask, and so does the first one; otherwise, only the first one does
	ragged    bool // values of the last tile are not of the sequence
}

// tile returns the number of the tile that comes at a place.
func (e *extent) tile(i int) int {
	if e.ascending {
		return i
	}
	return e.tiles - 1 - i
}

// extentOf returns the extent of the block. The blocks of a head follow each other and so share its keys and values
// in the L2 cache; those that see most keys come first.
func extentOf(t gpu.Thread, s Shape) extent {
	e := extent{length: s.Length, causal: s.Causal, tiles: t.GridDimX()}
	at := e.tiles - 1 - t.BlockX()
	e.row = at * tileRows
	if s.Causal {
		e.tiles = at + 1
	}
	e.head = t.BlockZ()*s.Heads + t.BlockY()
	e.from = t.BlockZ()*s.KeyHeads + int(uint32(t.BlockY())/uint32(s.Heads/s.KeyHeads))
	return e
}

// attend computes the results of 128 queries of a head in each block. Of the three warp groups, the first one copies
// tiles to shared memory, and each of the others computes 64 rows.
//
//gpu:kernel
//gpu:block 384
func attend(t gpu.Thread, q gpu.TensorMap[panel], k gpu.TensorMap[tall], v, o gpu.TensorMap[panel], s Shape, scale float32) {
	b, e := gpu.Shared[shared](t), extentOf(t, s)
	e.scale = scale * log2e
	if t.ThreadX() == 0 {
		b.init(t)
	}
	t.Sync()
	if t.WarpGroup() == 0 {
		t.GiveRegisters(24)
		if t.ThreadX() == 0 {
			produce(t, b, sources{q, v, k}, e)
		}
		return
	}
	t.TakeRegisters(240)
	group := (t.WarpGroup() - 1) & 1
	var out [64]float32
	sum, _ := consume(t, b, &out, e)
	for i := range out {
		out[i] *= sum[i/2%2]
	}
	spread(t, &b.q[group], &out)
	t.FenceAsync()
	t.SyncWarp()
	if t.Lane() == 0 {
		b.results[group].Arrive(t)
	}
	if t.ThreadX()%128 == 0 {
		b.results[group].Wait(t, 0)
		for half := range 2 {
			o.Store(t, gpu.Corner{X: half * 64, Y: e.row + group*rowSplit, Z: e.head}, &b.q[group][half][0])
		}
		t.CommitStores()
		t.WaitStores(0)
	}
}

const log2e = 1.4426950408889634

// produce copies the tiles of a block to shared memory. The last keys, which need a mask, come first.
func produce(t gpu.Thread, b *shared, x sources, e extent) {
	b.queries.Expect(t, tileBytes)
	for group := range 2 {
		for half := range 2 {
			x.q.Fetch(t, &b.q[group][half][0], gpu.Corner{X: half * 64, Y: e.row + group*rowSplit, Z: e.head}, &b.queries)
		}
	}
	for i := range e.tiles {
		stage, key := i&1, (e.tiles-1-i)*tileRows
		b.kEmpty[stage].Wait(t, i>>1+1)
		b.kFull[stage].Expect(t, tileBytes)
		for half := range 2 {
			x.k.Fetch(t, &b.k[stage][half], gpu.Corner{X: half * 64, Y: key, Z: e.from}, &b.kFull[stage])
		}
		b.vEmpty[stage].Wait(t, i>>1+1)
		b.vFull[stage].Expect(t, tileBytes)
		for below := range 2 {
			for half := range 2 {
				x.v.Fetch(t, &b.v[stage][below][half], gpu.Corner{X: half * 64, Y: key + below*64, Z: e.from}, &b.vFull[stage])
			}
		}
	}
}

// consume adds the weighted values of 64 queries to out and returns the reciprocals of the sums of the weights of the
// thread's two rows, and the state of their softmax with these sums. The values of a tile are added while the weights of the next one are
// computed. Unlike in the paper, no barriers make the two warp groups take turns at multiplying: such barriers
// made the kernel 3 % slower on an H200.
func consume(t gpu.Thread, b *shared, out *[64]float32, e extent) ([2]float32, online) {
	group := (t.WarpGroup() - 1) & 1
	leads := t.ThreadX()%128 == 0
	var o online
	var s [64]float32
	b.queries.Wait(t, 0)
	b.kFull[0].Wait(t, 0)
	t.FenceProducts()
	scores(t, &s, &b.q[group], &b.k[0])
	t.CommitProducts()
	gpu.AwaitProducts(t, &s, 0)
	if leads {
		b.kEmpty[0].Arrive(t)
	}
	e.mask(t, &s, 0, group)
	o.start(t, &s, e.scale)
	p := weights(&s)
	b.vFull[0].Wait(t, 0)
	for i := 1; i < e.tiles; i++ {
		stage, before := i&1, (i-1)&1
		b.kFull[stage].Wait(t, i>>1)
		t.FenceProducts()
		scores(t, &s, &b.q[group], &b.k[stage])
		t.CommitProducts()
		add(t, out, &p, &b.v[before])
		t.CommitProducts()
		gpu.AwaitProducts(t, &s, 1)
		if leads {
			b.kEmpty[stage].Arrive(t)
		}
		if e.masked > 0 && i >= e.masked {
			e.mask(t, &s, i, group)
		}
		shrink := o.next(t, &s, e.scale)
		b.vFull[stage].Wait(t, i>>1) // here because ptxas moves the next wait up, but not across a loop
		gpu.AwaitProducts(t, out, 0)
		if leads {
			b.vEmpty[before].Arrive(t)
		}
		p = weights(&s)
		if gpu.Any(t, shrink[0] != 1 || shrink[1] != 1) {
			for j := range out {
				out[j] *= shrink[j/2%2]
			}
		}
	}
	last := (e.tiles - 1) & 1
	if e.ragged {
		clearValues(t, b, last, e.length-(e.tiles-1)*tileRows)
	}
	t.FenceProducts()
	add(t, out, &p, &b.v[last])
	t.CommitProducts()
	inverse := o.inverse(t)
	gpu.AwaitProducts(t, out, 0)
	return inverse, o
}

// scores starts the products of 64 queries and 128 keys.
func scores(t gpu.Thread, s *[64]float32, q *[2][1]panel, k *keys) {
	gpu.ProductAsync(t, s, gpu.AlongRows(q[0][:], 0), gpu.AlongRows(k[0][:], 0))
	for step := 1; step < 8; step++ {
		gpu.MultiplyAsync(t, s, gpu.AlongRows(q[step/4][:], step%4), gpu.AlongRows(k[step/4][:], step%4))
	}
}

// add starts to add the products of 64 rows of weights and 128 values.
func add(t gpu.Thread, out *[64]float32, p *[8][4]tile, v *[2][2]panel) {
	for step := range 8 {
		gpu.MultiplyTilesAsync(t, out, p[step], gpu.DownColumns(v[step/4][:], step%4))
	}
}

// weights packs an accumulator as the left operands of eight products.
func weights(s *[64]float32) (p [8][4]tile) {
	for i := range 32 {
		p[i/4][i%4] = pair(s[2*i], s[2*i+1])
	}
	return p
}

func pair(low, high float32) tile {
	return tile(dtype.BF16From32(low)) | tile(dtype.BF16From32(high))<<16
}

// mask removes the scores of keys that a query does not see from the tile that comes at a place.
func (e *extent) mask(t gpu.Thread, s *[64]float32, place, group int) {
	first := e.tile(place)*tileRows + t.Lane()%4*2
	last := int32(e.length - 1 - first)
	row := int32(e.row + group*rowSplit + t.Warp()%4*16 + t.Lane()/4 - first)
	for i := range s {
		x := s[i]
		column := int32(i/4*8 + i%2)
		if column > last || e.causal && column > row+int32(i/2%2*8) {
			x = math32.Inf(-1)
		}
		s[i] = x
	}
}

// spread stores an accumulator in panels side by side.
func spread(t gpu.Thread, to *[2][1]panel, acc *[64]float32) {
	for half := range 2 {
		for q := range 4 {
			e := half*32 + q*8
			gpu.StoreMatrix4(t, gpu.EightAt(&to[half][0], t.Warp()%4*16+t.Lane()%16, q*16+t.Lane()/16*8), [4]tile{
				pair(acc[e], acc[e+1]), pair(acc[e+2], acc[e+3]), pair(acc[e+4], acc[e+5]), pair(acc[e+6], acc[e+7]),
			})
		}
	}
}
