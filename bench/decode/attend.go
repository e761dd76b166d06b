package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	group      = 4 // heads of queries that share keys and values
	headQuads  = headSize / 8
	partTokens = 32             // of a warp: half a page
	perTeam    = partTokens / 2 // tokens of 16 lanes
	unseen     = -1e30          // the score of a token that does not exist
)

// quad is 16 bytes: eight bfloat16 numbers.
type quad = [4]uint32

// numbers are eight numbers of a query, a key or a value: what a lane has of a head.
type numbers = [8]float32

// state is the state of a softmax: the largest score and the sum of the weights.
type state struct{ top, sum float32 }

// token is what attention reads: queries, keys and values, the token's position, and the scale of scores.
type token struct {
	q, k, v  []quad
	position int
	scale    float32
}

// attend computes attention of a token's queries to the cache. Each block is a single warp, which computes one head for one half of a
// page of the cache. Such small blocks leave room on the multiprocessor for blocks of the matrix product that follows. The kernel stores weighted sums of values, not yet divided, and the state of the softmax.
// The layout of sums is [heads][parts][HeadSize].
//
//gpu:kernel
//gpu:block 32
//gpu:target sm_90
func attend(t gpu.Thread, q, k, v []quad, position []int32, scale float32, sums []numbers, states []state) {
	t.StartNext()
	attendPart(t, token{q, k, v, int(position[0]), scale}, sums, states)
}

// attendJoin does the work of attend and join: for each head, the block that is done last joins the results of all blocks. The argument
// done has a counter for each head, which is 0 before and after.
//
//gpu:kernel
//gpu:block 32
//gpu:target sm_90
func attendJoin(t gpu.Thread, q, k, v []quad, position []int32, scale float32, sums []numbers, states []state, done []uint32, out []dtype.BF16) {
	t.StartNext()
	head, at := t.BlockX(), int(position[0])
	attendPart(t, token{q, k, v, at, scale}, sums, states)
	parts := at/partTokens + 1
	if t.BlockY() >= parts {
		return
	}
	t.SyncWarp()
	var before uint32
	if t.Lane() == 0 {
		before = gpu.AtomicAdd(&done[head], 1, gpu.AcquireRelease)
	}
	if int(gpu.Shuffle(t, before, 0)) < parts-1 {
		return
	}
	t.SyncWarp() // what lane 0 has acquired is visible to all
	if t.Lane() == 0 {
		gpu.AtomicStore(&done[head], 0)
	}
	first := head * t.GridDimY()
	all := state{top: unseen}
	for i := range parts {
		all.top = max(all.top, states[first+i].top)
	}
	if lane := t.Lane(); lane < headQuads {
		var sum numbers
		for i := range parts {
			factor := math32.FastExp2(states[first+i].top - all.top)
			all.sum += factor * states[first+i].sum
			for j, x := range sums[(first+i)*headQuads+lane] {
				sum[j] += factor * x
			}
		}
		to := out[head*headSize+lane*8:][:8]
		for j := range sum {
			to[j] = dtype.BF16From32(sum[j] / all.sum)
		}
	}
}

// attendPart is attend for a block.
func attendPart(t gpu.Thread, of token, sums []numbers, states []state) {
	at, part := of.position, t.BlockY()
	if part*partTokens > at {
		return
	}
	head, team, lane := t.BlockX(), t.Lane()/headQuads, t.Lane()%headQuads
	keyHead, keyHeads := int(uint32(head)/group), int(uint32(t.GridDimX())/group)
	page, slot := part/2, part%2*partTokens+team*perTeam
	first := ((page*keyHeads+keyHead)*matvec.PageTokens+slot)*headQuads + lane
	var keys, values [perTeam]quad
	complete := (part+1)*partTokens <= at // the preceding kernel writes to none of these tokens
	if complete {
		keys, values = tokensOf(of.k, first), tokensOf(of.v, first)
	}
	t.AwaitPrevious()
	if !complete {
		keys, values = tokensOf(of.k, first), tokensOf(of.v, first)
	}
	mine := widened(of.q[head*headQuads+lane])
	for i := range mine {
		mine[i] *= of.scale
	}
	scores := scoresOf(t, &keys, &mine, at+1-part*partTokens-team*perTeam)
	s := weigh(&scores)
	var out numbers
	for j := range perTeam {
		for i, x := range widened(values[j]) {
			out[i] += scores[j] * x
		}
	}
	merge(t, &out, &s)
	to := head*t.GridDimY() + part
	if team == 0 {
		sums[to*headQuads+lane] = out
	}
	if t.Lane() == 0 {
		states[to] = s
	}
}

// tokensOf reads what a lane has of the tokens of its team.
func tokensOf(from []quad, first int) (all [perTeam]quad) {
	part := from[first:][:(perTeam-1)*headQuads+1]
	for j := range perTeam {
		all[j] = part[j*headQuads]
	}
	return all
}

// scoresOf returns the scores of the team's tokens, of which the first known ones exist.
func scoresOf(t gpu.Thread, keys *[perTeam]quad, q *numbers, known int) (scores [perTeam]float32) {
	for j := range perTeam {
		var sum float32
		for i, x := range widened(keys[j]) {
			sum += x * q[i]
		}
		for distance := headQuads / 2; distance > 0; distance /= 2 {
			sum += gpu.ShuffleXor(t, sum, distance)
		}
		if j >= known {
			sum = unseen
		}
		scores[j] = sum
	}
	return scores
}

// weigh replaces scores, exponents of 2, by weights.
func weigh(scores *[perTeam]float32) state {
	s := state{top: scores[0]}
	for _, x := range scores {
		s.top = max(s.top, x)
	}
	for j, x := range scores {
		scores[j] = math32.FastExp2(x - s.top)
		if x == unseen {
			scores[j] = 0
		}
		s.sum += scores[j]
	}
	return s
}

// merge combines the results of the two teams of a warp.
func merge(t gpu.Thread, out *numbers, s *state) {
	top := max(s.top, gpu.ShuffleXor(t, s.top, headQuads))
	factor := math32.FastExp2(s.top - top)
	sum := s.sum * factor
	*s = state{top, sum + gpu.ShuffleXor(t, sum, headQuads)}
	for i := range out {
		x := out[i] * factor
		out[i] = x + gpu.ShuffleXor(t, x, headQuads)
	}
}

// join combines the results of attend. A block computes a head.
//
//gpu:kernel
//gpu:block 128
//gpu:target sm_90
func join(t gpu.Thread, sums []float32, states []state, position []int32, out []dtype.BF16) {
	t.StartNext()
	parts := int(position[0])/partTokens + 1
	most := len(states) / t.GridDimX()
	t.AwaitPrevious()
	first := t.BlockX() * most
	all := state{top: unseen}
	for i := range parts {
		all.top = max(all.top, states[first+i].top)
	}
	var sum float32
	for i := range parts {
		factor := math32.FastExp2(states[first+i].top - all.top)
		all.sum += factor * states[first+i].sum
		sum += factor * sums[(first+i)*headSize+t.ThreadX()]
	}
	out[t.BlockX()*headSize+t.ThreadX()] = dtype.BF16From32(sum / all.sum)
}

// widened returns the numbers of a quad.
func widened(q quad) (v numbers) {
	for i, x := range q {
		v[2*i], v[2*i+1] = math.Float32frombits(x<<16), math.Float32frombits(x&^0xffff)
	}
	return v
}
