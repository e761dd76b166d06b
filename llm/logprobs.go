package llm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
)

// MostLogprobs is the largest Request.TopLogprobs.
const MostLogprobs = sampling.MostLikely

// likely returns the lists of probable tokens of the first n rows of the decoder, or nothing if nobody asks for them.
func (e *engine) likely(n int) device.Slice[sampling.Likely] {
	for _, q := range e.rows {
		if q.request.Logprobs {
			return e.sampler.listOf(0, n)
		}
	}
	return device.Slice[sampling.Likely]{}
}

// add adds the probabilities that the list of a row has, if the request asks for them.
func (t *Token) add(r Request, list []sampling.Likely) {
	if !r.Logprobs {
		return
	}
	t.Logprobs = &Logprobs{Chosen: float64(list[0].Logprob)}
	for _, x := range list[1 : 1+r.TopLogprobs] {
		if x.Token >= 0 {
			t.Logprobs.Top = append(t.Logprobs.Top, Likely{x.Token, float64(x.Logprob)})
		}
	}
}
