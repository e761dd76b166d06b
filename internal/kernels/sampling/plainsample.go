package sampling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// sample returns a token that is drawn from those that are not excluded, given the greatest key.
func (r *plainRow) sample(t gpu.Thread, b *plainBlock, p Params, d drawing) int32 {
	least, listed := int32(lowest+1), 0
	if p.TopK > 0 && int(p.TopK) < len(r.work) {
		in := bounds{excluded, d.top, int64(p.TopK)}
		if p.TopK <= tileCount*row.Lanes {
			in.low, listed = r.list(t, b, d, in)
		}
		if listed > 0 {
			in.low = threshold[single](t, b, d.few[:listed], in)
		} else {
			in.low = threshold[single](t, b, r.work, in)
		}
		least = max(least, in.low)
	}
	t.Sync()
	r.weigh(r.work, d.top, least, 1/p.Temperature)
	t.Sync()
	kept := p.leastWeight()
	if p.TopP > 0 && p.TopP < 1 {
		if listed > 0 {
			r.weigh(d.few[:listed], d.top, least, 1/p.Temperature)
			kept = max(kept, keptShare(t, b, d.few[:listed], p))
		} else {
			kept = max(kept, keptShare(t, b, r.work, p))
		}
	}
	length := r.tileLength()
	for tile := range tileCount {
		end := min((tile+1)*length, len(r.work))
		d.tiles[tile][r.me] = sumFrom[weight](r.work[min(tile*length, end):end], kept, r.me)
	}
	t.Sync()
	return r.pick(d, kept, length)
}

// keptShare returns the least weight that top-p keeps.
func keptShare(t gpu.Thread, b *plainBlock, values []int32, p Params) int32 {
	total := b.sum(t, sumFrom[weight](values, 0, t.ThreadX()))
	return threshold[weight](t, b, values, bounds{0, one, p.share(total)})
}

// tileLength returns the number of tokens of a tile.
func (r *plainRow) tileLength() int { return (len(r.work)/tileCount/row.Lanes + 1) * row.Lanes }

// list stores in d.few the keys from a lower bound of the threshold on, and returns the bound and their number. The greatest keys
// of all lanes in all tiles are keys themselves, so those that top-k keeps are not less than as many of them. The number is 0 if
// the keys are too many.
func (r *plainRow) list(t gpu.Thread, b *plainBlock, d drawing, in bounds) (low int32, n int) {
	length := r.tileLength()
	for tile := range tileCount {
		end := min((tile+1)*length, len(r.work))
		d.tiles[tile][r.me] = greatestOf(r.work[min(tile*length, end):end], r.me)
	}
	for in.low < in.high {
		middle := int32((int64(in.low) + int64(in.high) + 1) >> 1)
		var count int64
		for tile := range tileCount {
			if d.tiles[tile][r.me] >= int64(middle) {
				count++
			}
		}
		if b.sum(t, count) >= in.need {
			in.low = middle
		} else {
			in.high = middle - 1
		}
	}
	t.Sync()
	if r.me == 0 {
		d.tiles[0][0] = int64(r.copyFew(d, in.low))
	}
	t.Sync()
	n = int(d.tiles[0][0])
	t.Sync()
	return in.low, n
}

// copyFew copies the keys of at least low to d.few, for one thread. It returns their number, or 0 if they are too many.
func (r *plainRow) copyFew(d drawing, low int32) (n int) {
	length := r.tileLength()
	for tile := range tileCount {
		for lane := range row.Lanes {
			if d.tiles[tile][lane] < int64(low) {
				continue
			}
			for i := tile*length + lane; i < min((tile+1)*length, len(r.work)); i += row.Lanes {
				if r.work[i] < low {
					continue
				}
				if n == fewKeys {
					return 0
				}
				d.few[n] = r.work[i]
				n++
			}
		}
	}
	return n
}

// greatestOf returns the greatest of a thread's values.
func greatestOf(values []int32, me int) int64 {
	top := int32(excluded)
	for i := me; i < len(values); i += row.Lanes {
		top = max(top, values[i])
	}
	return int64(top)
}

// drawing is what a draw needs beside the parameters of a row.
type drawing struct {
	top      int32 // the greatest key
	seed     uint64
	position int32
	tiles    *[tileCount][row.Lanes]int64 // room for sums of weights or greatest keys
	few      *[fewKeys]int32              // room for what top-k may keep
}

// weigh replaces keys of at least a least one by weights, and others by -1.
func (r *plainRow) weigh(values []int32, top, least int32, inverse float32) {
	greatest := logitOf(top)
	for i := r.me; i < len(values); i += row.Lanes {
		w := int32(-1)
		if key := values[i]; key >= least {
			w = weightOf(logitOf(key), greatest, inverse)
		}
		values[i] = w
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
