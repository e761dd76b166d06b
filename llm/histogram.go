package llm

import (
	"slices"
	"time"
)

// Histogram counts values.
type Histogram struct {
	Bounds []float64 // upper bounds of all buckets but the last, ascending
	Counts []uint64  // the number of values in each bucket: a value v is in the first bucket with v <= bound, or else in the last bucket
	Sum    float64   // the sum of all values
}

// newHistogram returns an empty Histogram.
func newHistogram(bounds ...float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]uint64, len(bounds)+1)}
}

// add counts a value.
func (h *Histogram) add(v float64) {
	i, _ := slices.BinarySearch(h.Bounds, v)
	h.Counts[i]++
	h.Sum += v
}

// took counts a duration, in seconds.
func (h *Histogram) took(d time.Duration) { h.add(d.Seconds()) }

// Count returns the number of values.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// copy returns a Histogram that later values do not change.
func (h Histogram) copy() Histogram {
	h.Counts = slices.Clone(h.Counts)
	return h
}

// Histograms are distributions of times, in seconds, and of numbers of tokens and texts. Their buckets are those of vLLM's metrics. Values that are
// known only at the end of a text, such as Whole, exclude texts that ended with an error or that the program stopped reading.
type Histograms struct {
	FirstToken Histogram // from the arrival of a text to its first token
	InterToken Histogram // from a token to the next
	Whole      Histogram // from the arrival of a text to its last token
	Queue      Histogram // from the arrival of a text until it first runs
	Inference  Histogram // from the time that a text first runs to its last token
	Prefill    Histogram // from the time that a text first runs to its first token
	Decode     Histogram // from the first token to the last
	PerToken   Histogram // Decode, divided by the number of tokens after the first

	PromptTokens    Histogram // tokens of a text's prompt
	GeneratedTokens Histogram // generated tokens of a text
	MaxTokens       Histogram // Request.MaxTokens of a text, if it has one
	LongestTokens   Histogram // generated tokens of the longest text of a request
	Texts           Histogram // Request.N of a request
	StepTokens      Histogram // tokens that one step computes
}

// newHistograms returns empty Histograms for texts of at most the given number of tokens.
func newHistograms(context int) Histograms {
	whole := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	token := []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	tokens := steps(context)
	return Histograms{
		FirstToken: newHistogram(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		InterToken: newHistogram(token...), PerToken: newHistogram(token...),
		Whole: newHistogram(whole...), Queue: newHistogram(whole...), Inference: newHistogram(whole...), Prefill: newHistogram(whole...), Decode: newHistogram(whole...),
		PromptTokens: newHistogram(tokens...), GeneratedTokens: newHistogram(tokens...), MaxTokens: newHistogram(tokens...), LongestTokens: newHistogram(tokens...),
		Texts:      newHistogram(1, 2, 5, 10, 20),
		StepTokens: newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
	}
}

// steps returns 1, 2, 5, 10, 20, 50 and so on, up to a number.
func steps(most int) (list []float64) {
	for unit := 1; ; unit *= 10 {
		for _, n := range []int{unit, 2 * unit, 5 * unit} {
			if n > most {
				return list
			}
			list = append(list, float64(n))
		}
	}
}

// all returns the histograms.
func (h *Histograms) all() []*Histogram {
	return []*Histogram{
		&h.FirstToken, &h.InterToken, &h.Whole, &h.Queue, &h.Inference, &h.Prefill, &h.Decode, &h.PerToken,
		&h.PromptTokens, &h.GeneratedTokens, &h.MaxTokens, &h.LongestTokens, &h.Texts, &h.StepTokens,
	}
}

// ended counts a text that has ended.
func (h *Histograms) ended(q *sequence) {
	h.Whole.took(q.last.Sub(q.arrived))
	h.Queue.took(q.placed.Sub(q.arrived))
	h.Inference.took(q.last.Sub(q.placed))
	h.Prefill.took(q.first.Sub(q.placed))
	h.Decode.took(q.last.Sub(q.first))
	if q.generated > 1 {
		h.PerToken.took(q.last.Sub(q.first) / time.Duration(q.generated-1))
	}
	h.PromptTokens.add(float64(q.prompt))
	h.GeneratedTokens.add(float64(q.generated))
	if q.request.MaxTokens > 0 {
		h.MaxTokens.add(float64(q.request.MaxTokens))
	}
	if q.left == 1 { // it is the last of its request
		h.Texts.add(float64(len(q.texts)))
		h.LongestTokens.add(float64(slices.MaxFunc(q.texts, func(a, b *sequence) int { return a.generated - b.generated }).generated))
	}
}
