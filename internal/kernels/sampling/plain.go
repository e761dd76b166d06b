package sampling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// tileCount is the number of parts of a row whose weights are added up separately before a token is drawn.
const tileCount = 64

// fewKeys is the largest number of keys that are copied to shared memory for the thresholds of top-k and top-p.
const fewKeys = 2048

// plain samples a row with each block of 16 threads. It keeps keys, then weights in work, and finds thresholds by bisection:
// if top-k keeps few tokens, among a small number of keys that have all of those.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
//gpu:contract off
func plain(t gpu.Thread, logits []float32, work []int32, params []Params, positions []int32, counts []uint16, mask []uint32, biases []Bias, offsets []int32, tokens []int32, logprobs []float32, vocabulary uint32) {
	lanes := plainBlock{parts: gpu.Shared[[2][row.Lanes]int64](t)}
	tiles := gpu.Shared[[tileCount][row.Lanes]int64](t)
	few := gpu.Shared[[fewKeys]int32](t)
	n, at := int(vocabulary), t.BlockX()
	p := params[at]
	if p.Skip {
		return
	}
	first := at * n
	r := plainRow{logits: logits[first : first+n], work: work[first : first+n], me: t.ThreadX()}
	o := options{counts, mask, biases, offsets}
	o.adjust(t, r.logits, p, span{0, n, team{r.me, row.Lanes}})
	r.keys()
	t.Sync()
	top := int32(lanes.greatest(t, int64(r.greatest())))
	token := int32(-1)
	if top > lowest {
		if p.Temperature > 0 {
			token = r.sample(t, &lanes, p, drawing{top, p.Seed, positions[at], tiles, few})
		} else {
			token = int32(-lanes.greatest(t, -int64(r.first(top))))
		}
	}
	if len(logprobs) > 0 && p.Logprobs {
		v := r.logprob(t, &lanes, top, token)
		if r.me == 0 {
			logprobs[at] = v
		}
	}
	if r.me == 0 {
		tokens[at] = token
		if len(counts) > 0 && token >= 0 {
			counts[first+int(token)] = counted(counts[first+int(token)])
		}
	}
}

// plainBlock combines values of the 16 threads of a block.
type plainBlock struct {
	parts *[2][row.Lanes]int64 // in turn, so that one barrier suffices
	turn  int
}

// sum returns the sum of v over all threads.
func (b *plainBlock) sum(t gpu.Thread, v int64) (sum int64) {
	b.turn ^= 1
	b.parts[b.turn][t.ThreadX()] = v
	t.Sync()
	for i := range row.Lanes {
		sum += b.parts[b.turn][i]
	}
	return sum
}

// greatest returns the greatest v of all threads.
func (b *plainBlock) greatest(t gpu.Thread, v int64) int64 {
	b.turn ^= 1
	b.parts[b.turn][t.ThreadX()] = v
	t.Sync()
	v = b.parts[b.turn][0]
	for i := 1; i < row.Lanes; i++ {
		v = max(v, b.parts[b.turn][i])
	}
	return v
}

// plainRow is a row of a Plain kernel. A thread takes every sixteenth token.
type plainRow struct {
	logits []float32
	work   []int32
	me     int
}

// keys stores the keys of the logits.
func (r *plainRow) keys() {
	for i := r.me; i < len(r.work); i += row.Lanes {
		r.work[i] = keyOf(r.logits[i])
	}
}

// greatest returns the greatest of the thread's keys.
func (r *plainRow) greatest() int32 {
	top := int32(excluded)
	for i := r.me; i < len(r.work); i += row.Lanes {
		top = max(top, r.work[i])
	}
	return top
}

// first returns the first of the thread's tokens with a key, or the number of tokens.
func (r *plainRow) first(key int32) int32 {
	first := int32(len(r.work))
	for i := r.me; i < len(r.work); i += row.Lanes {
		if r.work[i] == key {
			first = min(first, int32(i))
		}
	}
	return first
}

// logprob returns the logarithm of the probability of a token, given the greatest key; of no token, NaN.
func (r *plainRow) logprob(t gpu.Thread, b *plainBlock, top, token int32) float32 {
	greatest := logitOf(top)
	t.Sync()
	var total int64
	for i := r.me; i < len(r.logits); i += row.Lanes {
		if key := keyOf(r.logits[i]); key > lowest {
			total += int64(weightOf(r.logits[i], greatest, 1))
		}
	}
	total = b.sum(t, total)
	if token < 0 {
		return math32.NaN()
	}
	return logprob(r.logits[token], greatest, total)
}
