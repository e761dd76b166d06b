package attention

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// compact64 and compact128 are the sizes of heads of one byte for an element: steps times 32 elements.
type (
	compact64  struct{}
	compact128 struct{}
)

func (compact64) steps() int   { return 2 }
func (compact64) stages() int  { return compactStages }
func (compact128) steps() int  { return 4 }
func (compact128) stages() int { return compactStages }

const (
	compactStages = 5                  // of a warp's ring
	scaleEights   = 2 * warpTokens / 8 // groups of 16 bytes of the scales of a warp's tokens of a page
)

// decodeEight is decode for a Compact. The first product takes the elements of a key in another order, which is that of its bytes as even and
// odd ones, and so does the query; the second one has rows for all even elements of a value before those for the odd ones. If there are new keys and values, those of the
// query's token, it stores them first. They are those of the first token of a page of bfloat16 numbers.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
func decodeEight[D breadth](t gpu.Thread, q, newKeys, newValues []uint32, keys, values, scales [][8]dtype.F16, table []int32, tokens []Token, c decoding, sums [][8]float32, states []state, o [][8]dtype.BF16) {
	t.StartNext()
	if !c.Settled {
		t.AwaitPrevious()
	}
	b := c.part(t, tokens)
	if b.first >= b.end {
		t.AwaitPrevious()
		clearHeads(t, &b, o)
		return
	}
	var d D
	memory := (*[decodeWarps * ringEights][8]dtype.F16)(gpu.DynamicShared[[8]dtype.F16](t))
	r := compactRing[D]{ring[dtype.F16, D]{keys, values, &b}, scales}
	pages := b.warpPages(t)
	late := pages // the page that waits for the new key and value
	for i := range uint32(compactStages + 1) {
		at := i
		if i == compactStages {
			t.AwaitPrevious()
			r.store(t, newKeys, newValues, page{b.end - 1, b.number(table, b.end-1)})
			at = late
		}
		if at < pages {
			if before := b.before(t, b.first+at); !before && i < compactStages && len(newKeys) > 0 {
				late = at
			} else {
				if !before {
					t.AwaitPrevious()
				}
				r.fetchAll(t, memory, page{at, b.number(table, b.first+at)})
			}
		}
		t.CommitCopies()
	}
	query := compactQuery[D](t, q, &b)
	next := b.number(table, b.first+compactStages)
	var w weighted[dtype.F16, D]
	x := state{top: math32.Inf(-1)}
	for i := range pages {
		number := b.number(table, b.first+i)
		if i == late {
			t.WaitCopies(0)
		}
		t.WaitCopies(compactStages - 1)
		t.SyncWarp()
		stage := r.stage(t, i)
		scale := r.scalesOf(t, memory, i)
		s := r.compactScores(t, memory, stage, &query)
		for e := range 4 {
			s[e/2][e%2] *= scale[e][0]
		}
		if at := b.first + i; (at+1)*PageTokens > b.length || number >= c.Pages {
			b.mask(t, &s, at, number)
		}
		w.shrinkAll(t, x.weigh(t, &s, c.Scale), 2*d.steps())
		for e := range 4 {
			if s[e/2][e%2] != 0 { // a token that has not been stored has any scale
				s[e/2][e%2] *= scale[e][1]
			}
		}
		r.addCompact(t, memory, stage, weightsOf{&w.sums, [2]gpu.Tile[dtype.F16]{packed[dtype.F16, row.F16](s[0][0], s[0][1]), packed[dtype.F16, row.F16](s[1][0], s[1][1])}})
		t.SyncWarp()
		if ahead := i + compactStages; ahead < pages {
			r.fetchAll(t, memory, page{ahead, next})
			next = b.number(table, b.first+ahead+1)
		}
		t.CommitCopies()
	}
	x.sum += gpu.ShuffleXor(t, x.sum, 1)
	x.sum += gpu.ShuffleXor(t, x.sum, 2)
	t.Sync() // the rings are no longer needed
	joint := &gpu.DynamicShared[nearby](t)[0]
	if t.Lane()%4 == 0 {
		joint.states[t.Warp()][t.Lane()/4] = x
	}
	joint.keepPairs(t, &w.sums, 2*d.steps())
	t.Sync()
	results[dtype.BF16, row.BF16]{sums, states, o}.deliver(t, &b, joint)
}

// page is a page of a block or of a sequence: its number there, and its number in the cache.
type page struct{ i, number uint32 }

// compactRing is a ring with scales.
type compactRing[D breadth] struct {
	ring[dtype.F16, D]
	scales [][8]dtype.F16
}

// store stores the key and the value of the query's token, if they are new, and in the warp's part of a page: half of the lanes the key, and
// the others the value.
func (r *compactRing[D]) store(t gpu.Thread, newKeys, newValues []uint32, at page) {
	var d D
	slot := r.b.length - 1 - at.i*PageTokens
	if len(newKeys) == 0 || slot/warpTokens != uint32(t.Warp()) || at.number >= r.b.c.Pages {
		return
	}
	c := compacting{kind: keyLine + t.Lane()/16, page: r.b.page(at.number), slot: int(slot)}
	from, to := newKeys, r.keys
	if c.kind == valueLine {
		from, to = newValues, r.values
	}
	each := d.steps() // pairs of elements of a lane
	from = from[int(r.b.keyHead)*PageTokens*16*each+t.Lane()%16*each:][:each]
	var x [8]float32
	most := float32(0)
	for i, pair := range from {
		x[2*i], x[2*i+1] = math.Float32frombits(pair<<16), math.Float32frombits(pair&0xffff0000)
		most = max(most, math32.Abs(x[2*i]), math32.Abs(x[2*i+1]))
	}
	for i := 8; i > 0; i /= 2 {
		most = max(most, gpu.ShuffleXor(t, most, i))
	}
	scale := c.scaleOf(most)
	inverse := math32.FastRcp(scale.Float32())
	first := t.Lane() % 16 * each
	line := &to[(c.page*PageTokens+c.slot)*int(r.width())+first/8]
	for i := range each {
		line[first%8+i] = dtype.F16(element(x[2*i]*inverse)) | dtype.F16(element(x[2*i+1]*inverse))<<8
	}
	if t.Lane()%16 == 0 {
		r.scales[(2*c.page+c.kind-keyLine)*(PageTokens/8)+c.slot/8][c.slot%8] = scale
	}
	t.SyncWarp()
}

// fetchAll is fetch with the scales.
func (r *compactRing[D]) fetchAll(t gpu.Thread, memory *[decodeWarps * ringEights][8]dtype.F16, p page) {
	r.fetch(t, memory, p.i, p.number)
	if lane := t.Lane(); lane < scaleEights {
		kind := lane / (warpTokens / 8)
		from := (r.b.page(p.number)*2+kind)*(PageTokens/8) + t.Warp()*(warpTokens/8) + lane%(warpTokens/8)
		gpu.FetchAsync(t, &memory[r.scaleStage(t, p.i)+uint32(lane)], r.scales, from)
	}
}

// scaleStage returns the index in shared memory of the scales of a warp's tokens of page i of the block: those of keys, then those of values.
// They follow the warp's stages.
func (r *compactRing[D]) scaleStage(t gpu.Thread, i uint32) uint32 {
	return uint32(t.Warp())%decodeWarps*ringEights + compactStages*2*warpTokens*r.width() + i%compactStages*scaleEights
}

// scalesOf returns the scales of a lane's tokens of page i, times what multiplies float16 numbers: of tokens 2*(l%4), the next one, and
// those 8 later.
func (r *compactRing[D]) scalesOf(t gpu.Thread, memory *[decodeWarps * ringEights][8]dtype.F16, i uint32) (x [4][2]float32) {
	first := r.scaleStage(t, i)
	for e := range 4 {
		at := t.Lane()%4*2 + e%2
		x[e] = [2]float32{memory[first+uint32(e/2)][at].Float32() * compactExponent, memory[first+2+uint32(e/2)][at].Float32() * compactExponent}
	}
	return x
}

// even and odd return two elements of four as float16 numbers, which are 1/256 of them: the exponent has a bit more and another bias.
func even(x uint32) gpu.Tile[dtype.F16] { return odd(x << 8) }
func odd(x uint32) gpu.Tile[dtype.F16] {
	return gpu.Tile[dtype.F16](x&0x80008000 | (x&0x7f007f00)>>1)
}

// compactQuery is queryOf in the order of even and odd elements: lane l has of head l/4 the elements 4*(l%4) and the second next one, and
// the elements that follow these.
func compactQuery[D breadth](t gpu.Thread, q []uint32, b *part) (x [maxSteps][2]gpu.Tile[dtype.F16]) {
	var d D
	lane := uint32(t.Lane())
	if lane/4 >= b.heads {
		return x
	}
	from := q[int(b.firstHead+lane/4)*16*d.steps():][:16*d.steps()]
	for j := range uint32(2 * d.steps()) {
		low, high := from[8*j+lane%4*2], from[8*j+lane%4*2+1]
		x[j] = [2]gpu.Tile[dtype.F16]{halfPair(low<<16, high<<16), halfPair(low&0xffff0000, high&0xffff0000)}
	}
	return x
}

// halfPair returns two float32 numbers, given their bits, as float16 numbers.
func halfPair(low, high uint32) gpu.Tile[dtype.F16] {
	return packed[dtype.F16, row.F16](math.Float32frombits(low), math.Float32frombits(high))
}

// compactScores is scores for keys of one byte for an element.
func (r *compactRing[D]) compactScores(t gpu.Thread, memory *[decodeWarps * ringEights][8]dtype.F16, keys uint32, q *[maxSteps][2]gpu.Tile[dtype.F16]) (s [2][4]float32) {
	var d D
	for j := range d.steps() {
		k := gpu.LoadMatrix4(t, &memory[keys+r.group(t, j)])
		for half := range 2 {
			a := [4]gpu.Tile[dtype.F16]{q[2*j+half][0], 0, q[2*j+half][1], 0}
			low, high := uint32(k[half]), uint32(k[2+half])
			s[0] = gpu.MMA(t, a, [2]gpu.Tile[dtype.F16]{even(low), odd(low)}, s[0])
			s[1] = gpu.MMA(t, a, [2]gpu.Tile[dtype.F16]{even(high), odd(high)}, s[1])
		}
	}
	return s
}

// weightsOf are the weights of a stage, and the sums to which the weighted values are added.
type weightsOf struct {
	sums    *[maxSteps][4]float32
	weights [2]gpu.Tile[dtype.F16]
}

// addCompact is weighted.add for values of one byte for an element: of each 16 elements, lane l has elements 2*(l/4) and the next one.
func (r *compactRing[D]) addCompact(t gpu.Thread, memory *[decodeWarps * ringEights][8]dtype.F16, keys uint32, w weightsOf) {
	var d D
	for j := range d.steps() {
		v := gpu.LoadTransposed4(t, &memory[keys+warpTokens*r.width()+r.group(t, j)])
		for half := range 2 {
			low, high := uint32(v[half]), uint32(v[2+half])
			w.sums[2*j+half] = gpu.MMA(t, [4]gpu.Tile[dtype.F16]{even(low), odd(low), even(high), odd(high)}, w.weights, w.sums[2*j+half])
		}
	}
}

// keepPairs is keep for sums in the order of addCompact.
func (n *nearby) keepPairs(t gpu.Thread, acc *[maxSteps][4]float32, steps int) {
	to := &n.sums[t.Warp()]
	head := t.Lane() % 4 * 2
	for i := range 2 {
		for j := range steps {
			at := j*stepDims + t.Lane()/4*2
			to[head+i][at] = acc[j][i]
			to[head+i][at+1] = acc[j][2+i]
		}
	}
}
