package attention

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Kernels whose names end in Lanes have blocks of 16 threads, for CPUs, whose vector code runs the threads as lanes. Lanes are
// neighbouring tokens where attendLanes computes scores, since keys are stored transposed, and neighbouring elements where it adds
// values.

const (
	groups = PageTokens / row.Lanes // of tokens in a page: a thread has the score of one token of each
	parts  = MaxDim / row.Lanes     // of a result: a thread has one element of each
)

// attendLanes computes the result of a head of a query, page by page, with an online softmax (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018) in base 2. A page outside the cache makes scores NaN. Slices are views of 16 elements, one
// for each thread.
//
//gpu:kernel
//gpu:block 16
func attendLanes[T any, F row.Format[T]](t gpu.Thread, q, o, keys, values [][row.Lanes]T, table []int32, tokens []Token, s CacheShape) {
	var f F
	scaled := gpu.Shared[[MaxDim]float32](t) // the query
	weights := gpu.Shared[[PageTokens]float32](t)
	lanes := gpu.Shared[[row.Lanes]float32](t)
	lane, at, heads, width := t.ThreadX(), tokens[t.BlockX()], t.GridDimY(), s.Dim/row.Lanes
	first := (t.BlockX()*heads + t.BlockY()) * width
	scale := math.Log2E / math32.Sqrt(float32(s.Dim))
	query := q[first : first+width]
	for p := range parts {
		if p < len(query) {
			scaled[p*row.Lanes+lane] = f.Float32(query[p][lane]) * scale
		}
	}
	t.Sync()
	length := 0
	if s.holds(table, at) {
		length = int(at.Position) + 1
	}
	head := t.BlockY() / (heads / s.KeyHeads)
	var sums [parts]float32
	var sum float32
	most := math32.Inf(-1)
	for from := 0; from < length; from += PageTokens {
		number := int(table[int(at.Sequence)*s.MaxPages+from/PageTokens])
		page := (min(max(number, 0), s.Pages-1)*s.KeyHeads + head) * PageTokens * width
		count := min(length-from, PageTokens)
		t.Sync()
		scores := scoresOf[T, F](scaled, keys[page:page+PageTokens*width], lane)
		best := most
		for g := range groups {
			if g*row.Lanes+lane >= count {
				scores[g] = math32.Inf(-1)
			}
			if number < 0 || number >= s.Pages {
				scores[g] = math32.NaN()
			}
			best = max(best, scores[g])
		}
		lanes[lane] = best
		t.Sync()
		for i := range row.Lanes {
			best = max(best, lanes[i])
		}
		shrink := math32.Exp2(most - best)
		most = best
		sum *= shrink
		for g := range groups {
			w := math32.Exp2(scores[g] - best)
			weights[g*row.Lanes+lane] = w
			sum += w
		}
		t.Sync()
		for p := range parts {
			sums[p] *= shrink
		}
		addValues[T, F](&sums, weights, values[page:page+count*width], spot{lane, width})
		t.Sync()
	}
	lanes[lane] = sum
	t.Sync()
	total := row.SumLanes(lanes)
	if length == 0 {
		total = 1
	}
	out := o[first : first+width]
	for p := range parts {
		if p < len(out) {
			out[p][lane] = f.Of(sums[p] / total)
		}
	}
}

// scoresOf returns the products of a query and the keys of a page: one for each group of tokens.
func scoresOf[T any, F row.Format[T]](query *[MaxDim]float32, keys [][row.Lanes]T, lane int) (scores [groups]float32) {
	var f F
	for d := range min(len(keys)/groups, MaxDim) {
		for g := range groups {
			scores[g] = math32.FMA(query[d], f.Float32(keys[d*groups+g][lane]), scores[g])
		}
	}
	return scores
}

// spot is a thread's place in a value of width groups of 16 elements.
type spot struct{ lane, width int }

// addValues adds the products of weights and the values of the first tokens of a page.
func addValues[T any, F row.Format[T]](sums *[parts]float32, weights *[PageTokens]float32, values [][row.Lanes]T, at spot) {
	var f F
	for i := range min(len(values)/at.width, PageTokens) {
		value := values[i*at.width : (i+1)*at.width]
		for p := range parts {
			if p < len(value) {
				sums[p] = math32.FMA(weights[i], f.Float32(value[p][at.lane]), sums[p])
			}
		}
	}
}
