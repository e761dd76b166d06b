package prefill

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// warpScores is a thread's part of the scores of 32 queries and a tile of keys, in accumulators of 16 rows and eight columns: the
// thread has two columns of each of four rows: 16m + 8h + lane/4 for m and h of 0 and 1. Four threads share a row.
type warpScores [2][PageTokens / 8][4]float32

// mask removes the scores of keys, of which the first one is at a position, that a query does not see. If the keys are missing, it
// replaces the other scores by NaNs.
func (w *view[T]) mask(t gpu.Thread, s *warpScores, position int, missing bool) {
	for m := range 2 {
		for h := range 2 {
			seen := int32(w.seen(t.Warp()%4*32+m*16+h*8+t.Lane()/4)-position) - int32(t.Lane()%4*2)
			for n := range PageTokens / 8 {
				for e := range 2 {
					x := s[m][n][2*h+e]
					if missing {
						x = math32.NaN()
					}
					if int32(n*8+e) >= seen {
						x = math32.Inf(-1)
					}
					s[m][n][2*h+e] = x
				}
			}
		}
	}
}

// online is the state of the softmax of a thread's four rows, of which row 2m+h is 16m + 8h + lane/4: the largest scores, and the sums of
// the thread's weights.
type online struct{ top, sum [4]float32 }

func newOnline() (o online) {
	for i := range o.top {
		o.top[i] = math32.Inf(-1)
	}
	return o
}

// next turns a tile of scores into weights, and returns the factors of what was computed before.
func (o *online) next(t gpu.Thread, s *warpScores, scale float32) (shrink [4]float32) {
	for i := range shrink {
		m, h := i/2, i%2*2
		top := max(s[m][0][h], s[m][0][h+1])
		for n := 1; n < len(s[m]); n++ {
			top = max(top, s[m][n][h], s[m][n][h+1])
		}
		top = max(top, gpu.ShuffleXor(t, top, 1))
		top = max(o.top[i], top, gpu.ShuffleXor(t, top, 2))
		shrink[i] = math32.FastExp2((o.top[i] - top) * scale)
		o.top[i] = top
		var sums [2]float32
		for n := range s[m] {
			for e := range 2 {
				x := math32.FastExp2(s[m][n][h+e]*scale - top*scale)
				s[m][n][h+e] = x
				sums[e] += x
			}
		}
		o.sum[i] = o.sum[i]*shrink[i] + sums[0] + sums[1]
	}
	return shrink
}

// inverse adds the sums of the threads of each row, and returns the reciprocals.
func (o *online) inverse(t gpu.Thread) (inverse [4]float32) {
	for i, sum := range o.sum {
		sum += gpu.ShuffleXor(t, sum, 1)
		sum += gpu.ShuffleXor(t, sum, 2)
		o.sum[i], inverse[i] = sum, 1/sum
	}
	return inverse
}

// putStates stores the states of rows, after inverse. One of the threads that share a row stores it.
func (w *view[T]) putStates(t gpu.Thread, states []State, o *online) {
	for i := range o.sum {
		r := t.Warp()%4*32 + i*8 + t.Lane()/4
		if to := (w.Row+r)*int(w.Heads) + w.head; t.Lane()%4 == 0 && r < w.Count && to < len(states) {
			states[to] = State{o.top[i] * w.Scale, o.sum[i]}
		}
	}
}
