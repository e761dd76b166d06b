package control

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// settled has a behaviour a field of loops that a float ends, be it a number or not.
type settled struct {
	Halvings, Doublings, UntilNotLess, UntilGreater, WhileNotEqual, TwoConditions, StepByFloat int64
	FirstNegative, FirstNotLess                                                                int64
	Last                                                                                       float64
}

func settle(x float64) (r settled) {
	r.Last = x
	for {
		if r.Halvings++; r.Halvings > 20 {
			break
		}
		r.Last /= 2
		if r.Last < 1 {
			break
		}
	}
	y := x
	for {
		if r.Doublings++; r.Doublings > 30 {
			break
		}
		if y *= 2; y >= 1e6 {
			break
		}
	}
	for y = x; ; {
		r.UntilNotLess++
		if y = y*y*3 + 1; !(y < 1000) {
			break
		}
	}
	for y = x; r.UntilGreater < 9; r.UntilGreater++ {
		if y++; y > 100 {
			break
		}
	}
	for y = x; y == y && r.WhileNotEqual < 12; r.WhileNotEqual++ {
		y -= 1.5
	}
	for y = x; !(y <= 2) && r.TwoConditions < 15; r.TwoConditions++ {
		y = y/2 - 1
	}
	list := [8]float64{x, math.NaN(), 3, x * 2, math.NaN(), x - 3, 0, -1}
	for {
		y = list[r.FirstNegative]
		if r.FirstNegative++; y < 0 {
			break
		}
	}
	list[7] = 100
	for {
		y = list[r.FirstNotLess]
		if r.FirstNotLess++; y >= 50 {
			break
		}
	}
	for y = 0; y < 1; y += 0.125 {
		r.StepByFloat += int64(y * 8)
	}
	return r
}

//gpu:kernel
func settles(t gpu.Thread, x []float64, out []settled) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = settle(x[i])
	}
}
