package norm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// wide normalizes a row of x with each team. If there is a residual, x is overwritten before with in + residual.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
func wide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, in, residual, x, y []row.Words, weight, bias []A, c config) {
	parts := gpu.Shared[[2]row.Parts[float32]](t)
	held := gpu.DynamicShared[row.Words](t)
	team := row.TeamOf(t)
	at := min(team.Row, int(c.Rows)-1)
	var v A
	n := int(c.Columns) / len(v)
	first := at * n
	r := wideRow[A, F]{Stage: row.NewStage(t, team, x[first:first+n], held), y: y[first : first+n], weight: weight[:n], bias: bias}
	if at < team.Row {
		r.X, r.y = r.X[:0], r.y[:0]
	}
	if len(residual) > 0 {
		r.add(in[first:first+n], residual[first:first+n])
	} else {
		r.Load(t)
	}
	if c.Centred {
		r.mean = team.Sum(t, &parts[0], r.sum()) * c.Inverse
	}
	r.factor = math32.Rsqrt(team.Sum(t, &parts[1], r.squares())*c.Inverse + c.Epsilon)
	r.shift = -r.mean * r.factor
	r.store()
}

// wideRow is a row that a team normalizes.
type wideRow[A [4]float32 | [8]float32, F row.Vectors[A]] struct {
	row.Stage
	y                   []row.Words
	weight, bias        []A // bias may be empty
	mean, factor, shift float32
	format              F
}

// add stores in + residual in x and in shared memory.
func (r *wideRow[A, F]) add(in, residual []row.Words) {
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, b := r.format.Unpack(in[i]), r.format.Unpack(residual[i])
		for k := range len(a) {
			a[k] += b[k]
		}
		w := r.format.Pack(a)
		r.X[i] = w
		if slot < uint32(len(r.Held)) {
			r.Held[slot] = w
		}
	}
}

// sum returns the sum of a thread's elements.
func (r *wideRow[A, F]) sum() (sum float32) {
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a := r.format.Unpack(r.At(i, slot))
		for k := range len(a) {
			sum += a[k]
		}
	}
	return sum
}

// squares returns the sum of the squares of a thread's elements less the mean.
func (r *wideRow[A, F]) squares() (sum float32) {
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a := r.format.Unpack(r.At(i, slot))
		for k := range len(a) {
			d := a[k] - r.mean
			sum = math32.FMA(d, d, sum)
		}
	}
	return sum
}

// store stores a thread's elements of the result.
func (r *wideRow[A, F]) store() {
	bias := r.bias[:min(len(r.bias), len(r.y))]
	for i, slot := r.Me, r.Slot; i < uint32(len(r.y)); i, slot = i+r.Size, slot+r.Step {
		a, w := r.format.Unpack(r.At(i, slot)), r.weight[i]
		for k := range len(a) {
			a[k] = (a[k]*r.factor + r.shift) * w[k]
		}
		if i < uint32(len(bias)) {
			b := bias[i]
			for k := range len(a) {
				a[k] += b[k]
			}
		}
		r.y[i] = r.format.Pack(a)
	}
}
