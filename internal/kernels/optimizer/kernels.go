package optimizer

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// rates are the numbers of a step of AdamW.
type rates struct {
	Keep        float32 // by which decay multiplies the parameters
	Size        float32 // of the step: the rate, corrected for the first moments, which begin at 0
	Beta1       float32
	Rest1       float32 // 1 - Beta1
	Beta2       float32
	Rest2       float32 // 1 - Beta2
	Root        float32 // by which the roots of the second moments are multiplied, because they begin at 0
	Epsilon     float32
	Multiplying bool // by the factor of Clip
}

// adamW updates a parameter, clears its derivative, and stores the parameter in copy, if there is a copy.
//
//gpu:kernel
func adamW[T any, F row.Format[T]](t gpu.Thread, master, first, second []float32, grad, copy []T, factor []float32, r rates) {
	var f F
	i := t.GlobalX()
	if i >= len(master) {
		return
	}
	g := f.Float32(grad[i])
	if r.Multiplying {
		g *= factor[0]
	}
	a := r.next(average{master[i], first[i], second[i]}, g)
	master[i], first[i], second[i] = a.x, a.first, a.second
	grad[i] = f.Of(0)
	if len(copy) > 0 {
		copy[i] = f.Of(a.x)
	}
}

// average is a parameter with its moments.
type average struct{ x, first, second float32 }

// next returns the parameter and its moments after a step with a derivative.
func (r *rates) next(a average, g float32) average {
	a.first = r.Beta1*a.first + r.Rest1*g
	a.second = r.Beta2*a.second + r.Rest2*g*g
	a.x = a.x*r.Keep - r.Size*a.first/(math32.Sqrt(a.second)*r.Root+r.Epsilon)
	return a
}

// wideAdamW is adamW for four parameters at a time.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wideAdamW[T any, F row.Format[T]](t gpu.Thread, master, first, second [][4]float32, grad, copy [][4]T, factor []float32, r rates) {
	var f F
	i := t.GlobalX()
	if i >= len(master) {
		return
	}
	scale := float32(1)
	if r.Multiplying {
		scale = factor[0]
	}
	g, x, m, v := grad[i], master[i], first[i], second[i]
	var zeros, rounded [4]T
	for k := range 4 {
		a := r.next(average{x[k], m[k], v[k]}, f.Float32(g[k])*scale)
		x[k], m[k], v[k] = a.x, a.first, a.second
		zeros[k], rounded[k] = f.Of(0), f.Of(a.x)
	}
	master[i], first[i], second[i], grad[i] = x, m, v, zeros
	if len(copy) > 0 {
		copy[i] = rounded
	}
}

// paces are the numbers of a step of stochastic gradient descent.
type paces struct {
	Rate, Momentum, Decay float32
	Multiplying           bool // by the factor of Clip
}

// sgd updates a parameter, clears its derivative, and stores the parameter in copy, if there is a copy.
//
//gpu:kernel
func sgd[T any, F row.Format[T]](t gpu.Thread, master, velocity []float32, grad, copy []T, factor []float32, p paces) {
	var f F
	i := t.GlobalX()
	if i >= len(master) {
		return
	}
	g := f.Float32(grad[i])
	if p.Multiplying {
		g *= factor[0]
	}
	x := master[i]
	v := p.Momentum*velocity[i] + (g + p.Decay*x)
	x -= p.Rate * v
	velocity[i], master[i] = v, x
	grad[i] = f.Of(0)
	if len(copy) > 0 {
		copy[i] = f.Of(x)
	}
}

// squares stores the sum of the squares of every len(sums)-th element in each element of sums, or adds it to this element.
//
//gpu:kernel
func squares[T any, F row.Format[T]](t gpu.Thread, grad []T, sums []float32, adding bool) {
	var f F
	me := t.GlobalX()
	if me >= len(sums) {
		return
	}
	sum := float32(0)
	if adding {
		sum = sums[me]
	}
	for i := me; i < len(grad); i += len(sums) {
		v := f.Float32(grad[i])
		sum += v * v
	}
	sums[me] = sum
}

// finish adds sums, and stores the factor that limits the norm, and the norm, in factor.
//
//gpu:kernel
//gpu:block 256
func finish(t gpu.Thread, sums, factor []float32, limit float32) {
	parts := gpu.Shared[[threads]float32](t)
	me := t.ThreadX()
	sum := float32(0)
	for i := me; i < len(sums); i += threads {
		sum += sums[i]
	}
	parts[me] = sum
	t.Sync()
	if me < row.Lanes {
		for i := me + row.Lanes; i < threads; i += row.Lanes {
			sum += parts[i]
		}
	}
	t.Sync()
	if me < row.Lanes {
		parts[me] = sum
	}
	t.Sync()
	if me == 0 {
		all := float32(0)
		for i := range row.Lanes {
			all += parts[i]
		}
		norm := math32.Sqrt(all)
		scale := float32(1)
		if limit > 0 {
			scale = min(1, limit/(norm+1e-6))
		}
		factor[0], factor[1] = scale, norm
	}
}
