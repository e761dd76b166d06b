package sampling

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// options are what may change the logits of all rows. Each of the slices may be empty.
type options struct {
	counts  []uint16
	mask    []uint32
	biases  []Bias
	offsets []int32
}

// team is a thread's index among those of a block, and their number.
type team struct{ me, size int }

// span is the tokens of a block, from a multiple of 32 to to-1, and the threads that share them.
type span struct {
	from, to int
	team
}

// adjust adds biases to the logits of a row's span, subtracts penalties, and sets what the mask excludes to negative infinity.
func (o *options) adjust(t gpu.Thread, logits []float32, p Params, in span) {
	at, n := t.BlockX(), len(logits)
	if len(o.offsets) > 0 {
		o.bias(logits[in.from:in.to], in.from, o.offsets[at:at+2], in.team)
		t.Sync()
	}
	if len(o.counts) > 0 && p.penalises() {
		penalise(logits[in.from:in.to], o.counts[at*n+in.from:at*n+in.to], p, in.team)
		t.Sync()
	}
	if len(o.mask) > 0 && p.Masked {
		words := at * ((n + 31) / 32)
		exclude(logits[in.from:in.to], o.mask[words+in.from/32:words+(in.to+31)/32], in.team)
		t.Sync()
	}
}

// bias adds the biases of a row, from bounds[0] to bounds[1]-1, to the logits of the tokens from first on.
func (o *options) bias(logits []float32, first int, bounds []int32, of team) {
	for j := max(int(bounds[0]), 0) + of.me; j < min(int(bounds[1]), len(o.biases)); j += of.size {
		if token := int(o.biases[j].Token) - first; token >= 0 && token < len(logits) {
			logits[token] += o.biases[j].Value
		}
	}
}

// penalise subtracts penalties.
func penalise(logits []float32, counts []uint16, p Params, of team) {
	for i := of.me; i < len(logits); i += of.size {
		logits[i] = p.penalise(logits[i], counts[i])
	}
}

// exclude sets the logits of tokens whose bits in the mask are zero to negative infinity.
func exclude(logits []float32, mask []uint32, of team) {
	for word := of.me; word < len(mask); word += of.size {
		allowed := mask[word]
		if allowed == 1<<32-1 {
			continue
		}
		for i := 32 * word; i < min(32*word+32, len(logits)); i++ {
			if allowed&1 == 0 {
				logits[i] = math32.Inf(-1)
			}
			allowed >>= 1
		}
	}
}
