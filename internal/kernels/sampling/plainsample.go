package sampling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// sample returns a token that is drawn from those that are not excluded, given the greatest key.
func (r *plainRow) sample(t gpu.Thread, b *plainBlock, p Params, d drawing) int32 {
	least := int32(lowest + 1)
	if p.TopK > 0 && int(p.TopK) < len(r.work) {
		least = max(least, threshold[single](t, b, r.work, bounds{excluded, d.top, int64(p.TopK)}))
	}
	t.Sync()
	r.weigh(d.top, least, 1/p.Temperature)
	t.Sync()
	least = p.leastWeight()
	if p.TopP > 0 && p.TopP < 1 {
		total := b.sum(t, sumFrom[weight](r.work, 0, r.me))
		least = max(least, threshold[weight](t, b, r.work, bounds{0, one, p.share(total)}))
	}
	length := (len(r.work)/tileCount/row.Lanes + 1) * row.Lanes
	for tile := range tileCount {
		end := min((tile+1)*length, len(r.work))
		d.tiles[tile][r.me] = sumFrom[weight](r.work[min(tile*length, end):end], least, r.me)
	}
	t.Sync()
	return r.pick(d, least, length)
}

// drawing is what a draw needs beside the parameters of a row.
type drawing struct {
	top      int32 // the greatest key
	seed     uint64
	position int32
	tiles    *[tileCount][row.Lanes]int64 // room for sums of weights
}

// weigh replaces keys of at least a least one by weights, and others by -1.
func (r *plainRow) weigh(top, least int32, inverse float32) {
	greatest := logitOf(top)
	for i := r.me; i < len(r.work); i += row.Lanes {
		w := int32(-1)
		if key := r.work[i]; key >= least {
			w = weightOf(logitOf(key), greatest, inverse)
		}
		r.work[i] = w
	}
}

// measure is what values are added up by.
type measure interface{ of(v int32) int64 }

// single counts values.
type single struct{}

func (single) of(int32) int64 { return 1 }

// weight adds up values.
type weight struct{}

func (weight) of(v int32) int64 { return int64(v) }

// sumFrom returns the measure of the thread's values of at least a least one.
func sumFrom[M measure](values []int32, least int32, me int) (sum int64) {
	var m M
	for i := me; i < len(values); i += row.Lanes {
		if v := values[i]; v >= least {
			sum += m.of(v)
		}
	}
	return sum
}

// bounds are those of a threshold, and the measure that the values from the threshold on need.
type bounds struct {
	low, high int32
	need      int64
}

// threshold returns the greatest integer within bounds such that the values from it on have the measure that is needed, which
// those from the lower bound on have.
func threshold[M measure](t gpu.Thread, b *plainBlock, values []int32, in bounds) int32 {
	for in.low < in.high {
		middle := int32((int64(in.low) + int64(in.high) + 1) >> 1)
		if b.sum(t, sumFrom[M](values, middle, t.ThreadX())) >= in.need {
			in.low = middle
		} else {
			in.high = middle - 1
		}
	}
	return in.low
}

// pick returns the token of which a random number is within the sums of weights.
func (r *plainRow) pick(d drawing, least int32, length int) int32 {
	var total int64
	for tile := range tileCount {
		total += tileSum(d.tiles, tile)
	}
	rest := draw(d.seed, d.position, total)
	tile := 0
	for ; tile < tileCount-1; tile++ {
		sum := tileSum(d.tiles, tile)
		if rest < sum {
			break
		}
		rest -= sum
	}
	for i := tile * length; i < len(r.work); i++ {
		if w := r.work[i]; w >= least {
			if rest < int64(w) {
				return int32(i)
			}
			rest -= int64(w)
		}
	}
	return -1 // not reached: rest is less than the sum of the weights
}

// tileSum returns the sum of the weights of a tile.
func tileSum(tiles *[tileCount][row.Lanes]int64, tile int) (sum int64) {
	for lane := range row.Lanes {
		sum += tiles[tile][lane]
	}
	return sum
}
