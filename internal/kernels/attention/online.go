package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// online is the state of the softmax of a thread's two rows of scores. Four threads share a row; each sums its own
// weights.
type online struct{ top, sum [2]float32 }

// start begins with a tile of scores, which it turns into weights.
func (o *online) start(t gpu.Thread, s *[64]float32, scale float32) {
	o.top = rowTops(t, s)
	o.sum = o.exponentials(s, scale)
}

// next turns another tile of scores into weights and returns the factors of what was computed before.
func (o *online) next(t gpu.Thread, s *[64]float32, scale float32) (shrink [2]float32) {
	tops := rowTops(t, s)
	for r := range 2 {
		top := max(o.top[r], tops[r])
		shrink[r] = math32.FastExp2((o.top[r] - top) * scale)
		o.top[r] = top
	}
	sums := o.exponentials(s, scale)
	for r := range 2 {
		o.sum[r] = o.sum[r]*shrink[r] + sums[r]
	}
	return shrink
}

// rowTops returns the maxima of the two rows over all four threads.
func rowTops(t gpu.Thread, s *[64]float32) (tops [2]float32) {
	for r := range 2 {
		var m [2]float32 // of the even and of the odd columns
		for i := range 2 {
			m[i] = s[2*r+i]
			for j := 1; j < 16; j++ {
				m[i] = max(m[i], s[4*j+2*r+i])
			}
		}
		top := max(m[0], m[1])
		top = max(top, gpu.ShuffleXor(t, top, 1))
		tops[r] = max(top, gpu.ShuffleXor(t, top, 2))
	}
	return tops
}

// exponentials replaces each score by its weight and returns the sums of the weights.
func (o *online) exponentials(s *[64]float32, scale float32) (sums [2]float32) {
	for r := range 2 {
		top := o.top[r] * scale
		var part [2]float32
		for j := range 16 {
			for i := range 2 {
				x := math32.FastExp2(s[4*j+2*r+i]*scale - top)
				s[4*j+2*r+i] = x
				part[i] += x
			}
		}
		sums[r] = part[0] + part[1]
	}
	return sums
}

// inverse adds the sums of all four threads of each row, and returns the reciprocals.
func (o *online) inverse(t gpu.Thread) (inverse [2]float32) {
	for r := range 2 {
		sum := o.sum[r]
		sum += gpu.ShuffleXor(t, sum, 1)
		sum += gpu.ShuffleXor(t, sum, 2)
		o.sum[r], inverse[r] = sum, 1/sum
	}
	return inverse
}
