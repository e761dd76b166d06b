package optimizer

import "math"

// reference is parameters with moments in float64, updated as PyTorch documents torch.optim.AdamW and torch.optim.SGD.
type reference struct{ x, first, second []float64 }

// newReference returns parameters whose moments are 0.
func newReference(x []float32) *reference {
	r := &reference{first: make([]float64, len(x)), second: make([]float64, len(x))}
	for _, v := range x {
		r.x = append(r.x, float64(v))
	}
	return r
}

// clip returns the factor of torch.nn.utils.clip_grad_norm_, and the norm.
func clip(grad []float64, limit float64) (factor, norm float64) {
	for _, g := range grad {
		norm += g * g
	}
	norm = math.Sqrt(norm)
	return math.Min(1, limit/(norm+1e-6)), norm
}

// adamW is one step of torch.optim.AdamW.
func (r *reference) adamW(grad []float64, a Adam) {
	n := float64(a.Step)
	for i, g := range grad {
		r.x[i] -= a.Rate * a.Decay * r.x[i]
		r.first[i] += (g - r.first[i]) * (1 - a.Beta1)
		r.second[i] = r.second[i]*a.Beta2 + g*g*(1-a.Beta2)
		mean := r.first[i] / (1 - math.Pow(a.Beta1, n))
		square := r.second[i] / (1 - math.Pow(a.Beta2, n))
		r.x[i] -= a.Rate * mean / (math.Sqrt(square) + a.Epsilon)
	}
}

// sgd is one step of torch.optim.SGD without dampening.
func (r *reference) sgd(grad []float64, d Descent, step int) {
	for i, g := range grad {
		g += d.Decay * r.x[i]
		if step > 1 {
			g += d.Momentum * r.first[i]
		}
		r.first[i] = g
		r.x[i] -= d.Rate * g
	}
}
