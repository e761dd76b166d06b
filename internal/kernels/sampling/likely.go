package sampling

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	// MostLikely is the largest Params.Top.
	MostLikely = 20
	// LikelyRow is the number of elements of each row of LikelyOperands.List: the chosen token, and then the most probable ones.
	LikelyRow = 1 + MostLikely

	likelyThreads = 256 // of a block
	likelyGroup   = 16  // threads whose values one thread compares
)

// Likely is a token and the logarithm of its probability.
type Likely struct {
	Token   int32 // -1 for none
	Logprob float32
}

// LikelyOperands are the operands of List. Those of Sample with the same names have been its operands, and its results.
type LikelyOperands struct {
	Logits   device.Slice[float32] // Rows x Vocabulary, as Sample leaves them
	Params   device.Slice[Params]  // of each row
	Tokens   device.Slice[int32]   // that Sample chose
	Logprobs device.Slice[float32] // of these tokens
	List     device.Slice[Likely]  // Rows x LikelyRow
}

// List stores, for each row whose Params.Logprobs is true, the chosen token and the Params.Top most probable ones, by falling
// probability, of tokens with the same probability by index. Further elements of the row stay as they are. If fewer tokens are not
// excluded, the others are -1. The probabilities are those that Sample defines.
func List(s *device.Stream, shape Shape, x LikelyOperands) error {
	if x.Logits.Len() != shape.Rows*shape.Vocabulary || x.Params.Len() != shape.Rows || x.Tokens.Len() != shape.Rows || x.Logprobs.Len() != shape.Rows ||
		x.List.Len() != shape.Rows*LikelyRow {
		return ErrShape
	}
	if shape.Rows == 0 {
		return nil
	}
	return ListLikely(s, device.Blocks{X: shape.Rows}, x.Logits, x.Params, x.Tokens, x.Logprobs, x.List, uint32(shape.Vocabulary))
}

// listLikely lists the most probable tokens of a row with each block: each pass over the row finds the next one.
//
//gpu:kernel
//gpu:block 256
//gpu:contract off
func listLikely(t gpu.Thread, logits []float32, params []Params, tokens []int32, logprobs []float32, list []Likely, vocabulary uint32) {
	shared := gpu.Shared[[likelyThreads]int64](t)
	n, at, me := int(vocabulary), t.BlockX(), t.ThreadX()
	p := params[at]
	if !p.Logprobs || p.Skip {
		return
	}
	chosen := Likely{tokens[at], logprobs[at]}
	if me == 0 {
		list[at*LikelyRow] = chosen
	}
	last := int64(math.MaxInt64)
	for i := range MostLikely {
		if i >= int(p.Top) {
			break
		}
		last = greatestOfBlock(t, shared, greatestOfRow(logits[at*n:at*n+n], last, me))
		if me == 0 {
			list[at*LikelyRow+1+i] = likelyOf(logits[at*n:at*n+n], last, chosen)
		}
	}
}

// orderOf returns an integer that is greater for a greater logit, and of equal ones for a smaller index.
func orderOf(z float32, token int) int64 { return int64(keyOf(z))<<32 | int64(^uint32(token)) }

// likelyOf returns the token of an order. Its probability follows from that of the chosen one.
func likelyOf(row []float32, order int64, chosen Likely) Likely {
	if chosen.Token < 0 || int32(order>>32) <= lowest {
		return Likely{-1, math32.Inf(-1)}
	}
	token := ^uint32(order)
	p := Likely{int32(token), chosen.Logprob}
	if z, base := row[token], row[chosen.Token]; z != base { // both may be infinite
		p.Logprob += z - base
	}
	return p
}

// greatestOfBlock returns the greatest v of a block to all threads.
func greatestOfBlock(t gpu.Thread, shared *[likelyThreads]int64, v int64) int64 {
	t.Sync()
	shared[t.ThreadX()] = v
	t.Sync()
	if t.ThreadX()%likelyGroup == 0 {
		for i := range likelyGroup {
			v = max(v, shared[t.ThreadX()+i])
		}
		shared[t.ThreadX()] = v
	}
	t.Sync()
	v = shared[0]
	for i := range likelyThreads / likelyGroup {
		v = max(v, shared[i*likelyGroup])
	}
	return v
}

// greatestOfRow returns the greatest order below last of a thread's tokens.
func greatestOfRow(row []float32, last int64, me int) int64 {
	best := int64(math.MinInt64)
	for k, n := uint(me), uint(len(row)); k < n; k += likelyThreads {
		if v := orderOf(row[k], int(k)); v < last {
			best = max(best, v)
		}
	}
	return best
}
