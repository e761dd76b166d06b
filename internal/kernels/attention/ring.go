package attention

import "github.com/gopherwarp/gopherwarp/gpu"

// ring copies a warp's keys and values of a block's pages to the stages of the warp's part of shared memory: those of 16 tokens to each.
// Groups of eight elements are swizzled, so that the same group of eight tokens is in all banks.
type ring[T gpu.Half, D breadth] struct {
	keys, values [][8]T
	b            *part
}

// width returns the number of groups of eight elements of a head.
func (r *ring[T, D]) width() uint32 { var d D; return uint32(2 * d.steps()) }

// stage returns the index in shared memory of a warp's keys of page i of the block. Its values follow.
func (r *ring[T, D]) stage(t gpu.Thread, i uint32) uint32 {
	var d D
	return uint32(t.Warp())%decodeWarps*ringEights + i%uint32(d.stages())*2*warpTokens*r.width()
}

// place returns the index in a stage of a group of eight elements of a token. If there are four groups, two tokens fill all banks.
func (r *ring[T, D]) place(token, group uint32) uint32 {
	return token*r.width() + group ^ token/max(1, 8/r.width())%min(8, r.width())
}

// fetch starts to copy page i of the block, which has the given number. Tokens that follow the query's become zeros.
func (r *ring[T, D]) fetch(t gpu.Thread, memory *[decodeWarps * ringEights][8]T, i, number uint32) {
	width := r.width()
	keys := r.stage(t, i)
	values := keys + warpTokens*width
	first := r.b.page(number) * PageTokens * int(width)
	fromKeys, fromValues := r.keys[first:][:PageTokens*width], r.values[first:][:PageTokens*width]
	slot := uint32(t.Warp()) * warpTokens
	known := r.b.length - (r.b.first+i)*PageTokens
	lane := uint32(t.Lane())
	for j := range warpTokens * width / gpu.WarpSize {
		token, group := (j*gpu.WarpSize+lane)/width, lane%width
		at, to := int((slot+token)*width+group), r.place(token, group)
		if slot+token >= known {
			at = -1
		}
		gpu.FetchAsync(t, &memory[keys+to], fromKeys, at)
		gpu.FetchAsync(t, &memory[values+to], fromValues, at)
	}
}

// await waits until the warp has all but the last pages that it has begun to copy, as many as follow the next one in the ring.
func (r *ring[T, D]) await(t gpu.Thread) {
	var d D
	if d.stages() == 3 {
		t.WaitCopies(2)
	} else {
		t.WaitCopies(5)
	}
	t.SyncWarp()
}

// group returns the index in a stage of what a lane loads for step j: lanes 0 to 7 the first eight elements of tokens 0 to 7, the next
// eight lanes the second eight elements, and the other lanes the same of tokens 8 to 15.
func (r *ring[T, D]) group(t gpu.Thread, j int) uint32 {
	lane := uint32(t.Lane())
	return r.place(lane/16*8+lane%8, uint32(2*j)+lane/8%2)
}

// scores returns the products of the queries and the keys of a stage: lane l has head l/4, and tokens 2*(l%4), the next one, and
// those 8 later. The other half of the results is unused, since the instruction takes 16 rows of queries.
func (r *ring[T, D]) scores(t gpu.Thread, memory *[decodeWarps * ringEights][8]T, keys uint32, q *[maxSteps][2]gpu.Tile[T]) (s [2][4]float32) {
	var d D
	for j := range d.steps() {
		k := gpu.LoadMatrix4(t, &memory[keys+r.group(t, j)])
		a := [4]gpu.Tile[T]{q[j][0], 0, q[j][1], 0}
		s[0] = gpu.MMA(t, a, [2]gpu.Tile[T]{k[0], k[1]}, s[0])
		s[1] = gpu.MMA(t, a, [2]gpu.Tile[T]{k[2], k[3]}, s[1])
	}
	return s
}

// weighted is sums of weighted values: by step, lane l has of heads 2*(l%4) and the next one element l/4, and of both the one 8 later.
type weighted[T gpu.Half, D breadth] struct{ sums [maxSteps][4]float32 }

// shrink multiplies the sums of each head by its factor, of which lane l has that of head l/4.
func (w *weighted[T, D]) shrink(t gpu.Thread, factor float32) {
	var d D
	w.shrinkAll(t, factor, d.steps())
}

// shrinkAll is shrink for sums of a number of steps.
func (w *weighted[T, D]) shrinkAll(t gpu.Thread, factor float32, steps int) {
	low, high := gpu.Shuffle(t, factor, t.Lane()%4*8), gpu.Shuffle(t, factor, t.Lane()%4*8+4)
	for j := range steps {
		x := w.sums[j]
		w.sums[j] = [4]float32{x[0] * low, x[1] * high, x[2] * low, x[3] * high}
	}
}

// add adds the products of the weights and the values of a stage.
func (w *weighted[T, D]) add(t gpu.Thread, memory *[decodeWarps * ringEights][8]T, keys uint32, weights [2]gpu.Tile[T]) {
	var d D
	var r ring[T, D]
	for j := range d.steps() {
		w.sums[j] = gpu.MMA(t, gpu.LoadTransposed4(t, &memory[keys+warpTokens*r.width()+r.group(t, j)]), weights, w.sums[j])
	}
}
