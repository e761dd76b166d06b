package main

import (
	"math"
	"math/rand/v2"
)

// quantile is a value and the share of a distribution that is at most as large.
type quantile struct {
	share float64
	value float64
}

// The numbers of tokens of conversations, in the manner of the first turns of ShareGPT: many short prompts and some long ones, answers
// of a few sentences. The means, 216 and 208, are about those of the requests that vLLM's serving benchmark draws from ShareGPT, 215 and
// 198.
var (
	promptLengths = []quantile{{0, 4}, {0.10, 10}, {0.25, 20}, {0.50, 70}, {0.75, 310}, {0.90, 640}, {0.99, 980}, {1, 1024}}
	answerLengths = []quantile{{0, 4}, {0.10, 20}, {0.25, 70}, {0.50, 170}, {0.75, 300}, {0.90, 400}, {0.99, 700}, {1, 1024}}
)

// draw returns a value of a distribution, interpolated between its quantiles.
func draw(r *rand.Rand, list []quantile) int {
	u := r.Float64()
	for i, q := range list[1:] {
		if before := list[i]; u <= q.share {
			return int(math.Round(before.value + (q.value-before.value)*(u-before.share)/(q.share-before.share)))
		}
	}
	return int(list[len(list)-1].value)
}
