package sampling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	wideThreads = 512             // of a block
	tileTokens  = 4 * wideThreads // that a block reads at once
	maxWide     = 1<<19 - 1       // tokens of a row: sums of parts of weights fit in 32 bits
	maxTiles    = maxWide/tileTokens + 2
)

// arena is the shared memory of a block.
type arena struct {
	hist  histogram
	head  listHead
	parts [gpu.WarpSize]int64
	tiles [maxTiles]int64
}

// wide samples a row with each block of wideThreads threads, in stages, each of which reads the row once. It is given what scout stores.
//
//gpu:kernel
//gpu:twin off
//gpu:contract off
func wide(t gpu.Thread, logits []float32, quads [][4]float32, best []top, params []Params, positions []int32, counts []uint16, tokens []int32, logprobs []float32, vocabulary uint32) {
	a := gpu.Shared[arena](t)
	n, at := int(vocabulary), t.BlockX()
	p := params[at]
	if p.Skip {
		return
	}
	spans := len(best) / t.GridDimX()
	r := wideRow{logits: logits, quads: quads, best: best[at*spans : at*spans+spans], start: at * n, end: at*n + n, at: at, arena: a}
	s := first(t, params, positions[at], &r)
	a.hist.clear(t)
	for range maxStages {
		if s.state == done {
			break
		}
		if s.from < s.to {
			r.pass(t, &s)
		}
		s.advance(t, &r)
	}
	if t.ThreadX() > 0 {
		return
	}
	tokens[at] = s.token
	if len(logprobs) > 0 && p.Logprobs {
		v := math32.NaN()
		if s.token >= 0 {
			v = logprob(logits[at*n+int(s.token)], s.top, s.sum)
		}
		logprobs[at] = v
	}
	if len(counts) > 0 && s.token >= 0 {
		counts[at*n+int(s.token)] = counted(counts[at*n+int(s.token)])
	}
}

// wideRow is a row of a Wide kernel: elements start to end-1 of logits, which quads has four at a time.
type wideRow struct {
	logits     []float32
	quads      [][4]float32
	best       []top // of the spans of the row
	start, end int
	at         int // the row
	*arena
}

// tileCount returns the number of tiles of the row.
func (r *wideRow) tileCount() int { return (r.end - r.start/4*4 + tileTokens - 1) / tileTokens }

// four returns the logits of a vector, and NaN for those of other rows.
func (r *wideRow) four(vector int) (z [4]float32) {
	first := 4 * vector
	if first >= r.start && first+4 <= r.end {
		return r.quads[vector]
	}
	for k := range z {
		z[k] = math32.NaN()
		if i := first + k; i >= r.start && i < r.end {
			z[k] = r.logits[i]
		}
	}
	return z
}

// top is a thread's greatest key, and the first token that has it.
type top struct{ key, token int32 }

// pass reads the tiles of a stage and does with each token what the stage does. A tile is read before what is done with the one
// before it.
func (r *wideRow) pass(t gpu.Thread, s *stage) {
	next := r.four(r.start/4 + s.from*wideThreads + t.ThreadX())
	for tile := s.from; tile < s.to; tile++ {
		vector := r.start/4 + tile*wideThreads + t.ThreadX()
		z := next
		next = r.four(vector + wideThreads)
		var sum int64
		for k := range 4 {
			key := keyOf(z[k])
			if key > s.own.key {
				s.own = top{key, int32(4*vector + k - r.start)}
			}
			value, weight, rank := key, int32(1), rankOfKey(key)
			if s.weighs {
				value = s.weigh(z[k], key)
				weight, rank = value, rankOfWeight(value)
			}
			if value < s.floor {
				continue
			}
			switch s.action {
			case fill:
				r.list().add(value, 4*vector+k-r.start)
			case count:
				if rank-s.low <= s.span {
					r.hist.add((rank-s.low)>>s.shift, weight)
				}
			case addUp:
				sum += int64(weight)
			}
		}
		if s.action == addUp {
			sum = r.sum(t, sum)
			if t.ThreadX() == 0 {
				r.tiles[tile] = sum
			}
		}
	}
	t.Sync()
}

// max returns the greatest v of a block to all threads.
func (a *arena) max(t gpu.Thread, v int64) int64 {
	return maxOfBlock(t, a.parts[:wideThreads/gpu.WarpSize], v)
}

// maxOfBlock returns the greatest v of a block to all threads. parts has an element for each warp.
func maxOfBlock(t gpu.Thread, parts []int64, v int64) int64 {
	t.Sync()
	v = gpu.WarpReduceMax(t, v)
	if t.Lane() == 0 {
		parts[t.Warp()] = v
	}
	t.Sync()
	v = parts[0]
	for _, p := range parts {
		v = max(v, p)
	}
	return v
}

// sum returns the sum of v over a block to all threads.
func (a *arena) sum(t gpu.Thread, v int64) (sum int64) {
	t.Sync()
	v = gpu.WarpReduceAdd(t, v)
	if t.Lane() == 0 {
		a.parts[t.Warp()] = v
	}
	t.Sync()
	for i := range wideThreads / gpu.WarpSize {
		sum += a.parts[i]
	}
	return sum
}
