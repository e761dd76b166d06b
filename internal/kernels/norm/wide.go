package norm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// wide normalizes a row of x with each team. If there is a residual, x is overwritten before with in + residual. A thread reads its
// elements again in each pass: they are in a cache.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
func wide[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]](t gpu.Thread, in, residual, x, y []V, weight, bias []A, c config) {
	parts := gpu.Shared[[2]row.Parts](t)
	team := row.TeamOf(t, c.Team)
	if team.Row >= int(c.Rows) {
		return
	}
	var v V
	n := int(c.Columns) / len(v)
	first := team.Row * n
	if len(residual) > 0 {
		addRow[T, V, A, F](team, in[first:first+n], residual[first:first+n], x[first:first+n])
	}
	r := wideRow[T, V, A, F]{x: x[first : first+n], y: y[first : first+n], weight: weight[:n]}
	if c.Centred {
		r.mean = team.Sum(t, &parts[0], r.sum(team)) / float32(c.Columns)
	}
	r.factor = 1 / math32.Sqrt(team.Sum(t, &parts[1], r.squares(team))/float32(c.Columns)+c.Epsilon)
	r.store(team, bias)
}

// addRow stores x + residual in sum.
func addRow[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]](team row.Team, x, residual, sum []V) {
	for i := team.Me; i < len(sum); i += team.Size {
		a, b := row.Unpack[T, V, A, F](x[i]), row.Unpack[T, V, A, F](residual[i])
		for k := range len(a) {
			a[k] += b[k]
		}
		sum[i] = row.Pack[T, V, A, F](a)
	}
}

// wideRow is a row that a team normalizes.
type wideRow[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]] struct {
	x, y         []V
	weight       []A
	mean, factor float32
}

// sum returns the sum of a thread's elements.
func (r *wideRow[T, V, A, F]) sum(team row.Team) (sum float32) {
	for i := team.Me; i < len(r.x); i += team.Size {
		a := row.Unpack[T, V, A, F](r.x[i])
		for k := range len(a) {
			sum += a[k]
		}
	}
	return sum
}

// squares returns the sum of the squares of a thread's elements less the mean.
func (r *wideRow[T, V, A, F]) squares(team row.Team) (sum float32) {
	for i := team.Me; i < len(r.x); i += team.Size {
		a := row.Unpack[T, V, A, F](r.x[i])
		for k := range len(a) {
			d := a[k] - r.mean
			sum = math32.FMA(d, d, sum)
		}
	}
	return sum
}

// store stores a thread's elements of the result, given the bias if there is one.
func (r *wideRow[T, V, A, F]) store(team row.Team, bias []A) {
	bias = bias[:min(len(bias), len(r.y))]
	for i := team.Me; i < len(r.y); i += team.Size {
		a, w := row.Unpack[T, V, A, F](r.x[i]), r.weight[i]
		for k := range len(a) {
			a[k] = (a[k] - r.mean) * r.factor * w[k]
		}
		if i < len(bias) {
			b := bias[i]
			for k := range len(a) {
				a[k] += b[k]
			}
		}
		r.y[i] = row.Pack[T, V, A, F](a)
	}
}
