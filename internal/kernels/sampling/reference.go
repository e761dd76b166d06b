package sampling

import (
	"cmp"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/math32"
)

// Reference is a row in the memory of the host. Counts and Mask may be nil.
type Reference struct {
	Logits   []float32
	Counts   []uint16
	Mask     []uint32
	Biases   []Bias
	Params   Params
	Position int32
}

// candidate is a token that is not excluded.
type candidate struct {
	token  int
	logit  float32
	weight int64
}

// Sample returns the token that a kernel must choose. It sorts.
func (r Reference) Sample() int32 {
	list := r.candidates()
	if len(list) == 0 {
		return -1
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.logit, a.logit) })
	p := r.Params
	if !(p.Temperature > 0) {
		return int32(list[0].token)
	}
	if k := int(p.TopK); k > 0 && k < len(list) {
		for k < len(list) && list[k].logit == list[k-1].logit {
			k++
		}
		list = list[:k]
	}
	inverse := 1 / p.Temperature
	for i := range list {
		list[i].weight = one
		if i > 0 && list[i].logit != list[0].logit {
			list[i].weight = int64(math32.Exp(float32(list[i].logit-list[0].logit)*inverse)*one + 0.5)
		}
	}
	list = keepShare(list, p.TopP)
	least := int64(max(0, min(p.MinP, 1)) * one)
	list = slices.DeleteFunc(list, func(c candidate) bool { return c.weight < least })
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.token, b.token) })
	rest := draw(p.Seed, r.Position, total(list))
	for _, c := range list {
		if rest < c.weight {
			return int32(c.token)
		}
		rest -= c.weight
	}
	panic("BUG: sampling: a number beyond the sum of the weights")
}

// keepShare returns the first of the candidates whose weights add up to a share of all, and those that tie with the last of them.
func keepShare(list []candidate, share float32) []candidate {
	if !(share > 0 && share < 1) {
		return list
	}
	need, sum := max(1, int64(float64(share)*float64(total(list)))), int64(0)
	for i, c := range list {
		if sum >= need && c.weight != list[i-1].weight {
			return list[:i]
		}
		sum += c.weight
	}
	return list
}

func total(list []candidate) (sum int64) {
	for _, c := range list {
		sum += c.weight
	}
	return sum
}

// biased returns the logits with biases.
func (r Reference) biased() []float32 {
	z := slices.Clone(r.Logits)
	for _, b := range r.Biases {
		if b.Token >= 0 && int(b.Token) < len(z) {
			z[b.Token] += b.Value
		}
	}
	return z
}

// adjusted returns the logits with biases and penalties, and negative infinity for what the mask excludes.
func (r Reference) adjusted() []float32 {
	list := r.biased()
	for i, z := range list {
		if r.Counts != nil {
			list[i] = r.Params.penalise(z, r.Counts[i])
		}
		if r.Params.Masked && r.Mask != nil && r.Mask[i/32]>>(i%32)&1 == 0 {
			list[i] = math32.Inf(-1)
		}
	}
	return list
}

// candidates returns the tokens that are not excluded.
func (r Reference) candidates() (list []candidate) {
	for i, z := range r.adjusted() {
		if z == z && !math32.IsInf(z, -1) {
			list = append(list, candidate{token: i, logit: z})
		}
	}
	return list
}

// Logprob returns the logarithm of the probability of a token in float64.
func (r Reference) Logprob(token int32) float64 {
	z := r.adjusted()
	top, sum := math.Inf(-1), 0.0
	for _, v := range z {
		if v == v {
			top = max(top, float64(v))
		}
	}
	for _, v := range z {
		switch {
		case float64(v) == top:
			sum++
		case v == v:
			sum += math.Exp(float64(v) - top)
		}
	}
	if float64(z[token]) == top {
		return -math.Log(sum)
	}
	return float64(z[token]) - top - math.Log(sum)
}
