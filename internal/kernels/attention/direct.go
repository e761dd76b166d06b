package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	stepTokens = gpu.WarpSize / 4 // of a warp: four lanes have the keys of a token
	directs    = MaxDim / 16      // groups of four elements that a lane has of a key
)

// direct is the shared memory of a block of attendDirect.
type direct struct {
	q       [tileHeads][MaxDim]float32
	scores  [decodeWarps][tileHeads][stepTokens]float32 // then weights
	factors [decodeWarps][tileHeads]float32             // of what has been added before
}

// attendDirect computes what decode does, of elements of any type, with any multiple of 16 of them, and without tensor cores. A warp
// takes eight tokens at a time, with four lanes for the scores of each. Then each lane adds four elements of all eight values.
//
//gpu:kernel
//gpu:block 128
func attendDirect[T any, F row.Format[T]](t gpu.Thread, q []T, keys, values [][4]T, table []int32, tokens []Token, c decoding, sums [][8]float32, states []state, o [][8]T) {
	var f F
	near, own := gpu.Shared[nearby](t), gpu.Shared[direct](t)
	b := c.part(t, tokens)
	if b.first >= b.end {
		clearHeads(t, &b, o)
		return
	}
	dim, quarter := c.Width*8, c.Width*2
	for i := uint32(t.ThreadX()); i < b.heads*dim; i += decodeThreads {
		own.q[i/dim][i%dim] = f.Float32(q[int(b.firstHead)*int(dim)+int(i)])
	}
	t.Sync()
	warp, lane := t.Warp(), uint32(t.Lane())
	var acc [tileHeads][4]float32
	x := state{top: math32.Inf(-1)}
	for first := b.first*PageTokens + uint32(warp)*stepTokens; first < min(b.end*PageTokens, b.length); first += decodeWarps * stepTokens {
		number := b.number(table, first/PageTokens)
		at := (b.page(number)*PageTokens + int(first%PageTokens)) * int(quarter)
		known := min(b.length-first, stepTokens)
		token := at + int(min(lane/4, known-1)*quarter)
		own.score(t, &b, row4[T, F](keys[token:token+int(quarter)], lane%4))
		t.SyncWarp()
		factor := own.weigh(t, &x, directStep{b.heads, known, number >= c.Pages, c.Scale})
		if lane%4 == 0 {
			own.factors[warp][lane/4] = factor
		}
		t.SyncWarp()
		if lane < quarter {
			for h := range tileHeads {
				for e := range 4 {
					acc[h][e] *= own.factors[warp][h]
				}
			}
			for i := range known {
				var v [4]float32
				for e, x := range values[at+int(i*quarter+lane)] {
					v[e] = f.Float32(x)
				}
				for h := range tileHeads {
					w := own.scores[warp][h][i]
					for e := range 4 {
						acc[h][e] = math32.FMA(w, v[e], acc[h][e])
					}
				}
			}
		}
		t.SyncWarp()
	}
	x.sum += gpu.ShuffleXor(t, x.sum, 1)
	x.sum += gpu.ShuffleXor(t, x.sum, 2)
	if lane%4 == 0 {
		near.states[warp][lane/4] = x
	}
	for h := range tileHeads {
		for e := range 4 {
			if lane < quarter {
				near.sums[warp][h][lane*4+uint32(e)] = acc[h][e]
			}
		}
	}
	t.Sync()
	results[T, F]{sums, states, o}.deliver(t, &b, near)
}

// row4 returns every fourth group of four elements of a key.
func row4[T any, F row.Format[T]](key [][4]T, first uint32) (k [directs][4]float32) {
	var f F
	for i := range k {
		if i*4 < len(key) {
			for e, v := range key[uint32(i*4)+first] {
				k[i][e] = f.Float32(v)
			}
		}
	}
	return k
}

// score stores the scores of a warp's tokens. Each lane has a part of a key.
func (d *direct) score(t gpu.Thread, b *part, k [directs][4]float32) {
	lane := t.Lane()
	for h := range b.heads {
		var sum float32
		for i := range k {
			if uint32(i) < b.c.Width/2 {
				for e := range 4 {
					sum = math32.FMA(k[i][e], d.q[h][(i*4+lane%4)*4+e], sum)
				}
			}
		}
		sum += gpu.ShuffleXor(t, sum, 1)
		sum += gpu.ShuffleXor(t, sum, 2)
		if lane%4 == 0 {
			d.scores[t.Warp()][h][lane/4] = sum
		}
	}
}

// directStep is what a warp of attendDirect works on at once: the first known tokens, perhaps of a page outside the cache.
type directStep struct {
	heads, known uint32
	outside      bool
	scale        float32
}

// weigh replaces scores by weights: a lane those of a head and two tokens. It returns the factor of what has been added before.
func (d *direct) weigh(t gpu.Thread, x *state, at directStep) (factor float32) {
	head, token := uint32(t.Lane())/4, uint32(t.Lane())%4*2
	var s [2]float32 // zeros if there is no such head
	for i := range s {
		if head < at.heads {
			s[i] = d.scores[t.Warp()][head][token+uint32(i)]
		}
		if token+uint32(i) >= at.known {
			s[i] = math32.Inf(-1)
		}
		if at.outside {
			s[i] = math32.NaN()
		}
	}
	top := max(s[0], s[1])
	top = max(top, gpu.ShuffleXor(t, top, 1))
	top = max(top, gpu.ShuffleXor(t, top, 2), x.top)
	factor = math32.FastExp2((x.top - top) * at.scale)
	x.top, x.sum = top, x.sum*factor
	for i := range s {
		w := math32.FastExp2(s[i]*at.scale - top*at.scale)
		d.scores[t.Warp()][head][token+uint32(i)] = w
		x.sum += w
	}
	return factor
}
