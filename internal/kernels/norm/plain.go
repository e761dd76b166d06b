package norm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// plainAdd stores x + residual in sum.
//
//gpu:kernel
func plainAdd[T any, F row.Format[T]](t gpu.Thread, x, residual, sum []T) {
	var f F
	if i := t.GlobalX(); i < len(sum) {
		sum[i] = f.Of(f.Float32(x[i]) + f.Float32(residual[i]))
	}
}

// plain normalizes a row with each block.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func plain[T any, F row.Format[T]](t gpu.Thread, x, y []T, weight, bias []float32, c config) {
	parts := gpu.Shared[[2][row.Lanes]float32](t)
	n, me := len(weight), t.ThreadX()
	first := t.BlockX() * n
	r := plainRow[T, F]{x: x[first : first+n], y: y[first : first+n], weight: weight, bias: bias}
	if c.Centred {
		parts[0][me] = r.sum(me)
		t.Sync()
		r.mean = row.SumLanes(&parts[0]) / float32(n)
	}
	parts[1][me] = r.squares(me)
	t.Sync()
	r.factor = 1 / math32.Sqrt(row.SumLanes(&parts[1])/float32(n)+c.Epsilon)
	r.store(me)
}

// plainRow is a row that the 16 threads of a block normalize.
type plainRow[T any, F row.Format[T]] struct {
	x, y         []T
	weight, bias []float32
	mean, factor float32
	format       F
}

// sum returns the sum of a thread's elements.
func (r *plainRow[T, F]) sum(me int) (sum float32) {
	for i := me; i < len(r.x); i += row.Lanes {
		sum += r.format.Float32(r.x[i])
	}
	return sum
}

// squares returns the sum of the squares of a thread's elements less the mean.
func (r *plainRow[T, F]) squares(me int) (sum float32) {
	for i := me; i < len(r.x); i += row.Lanes {
		v := r.format.Float32(r.x[i]) - r.mean
		sum = math32.FMA(v, v, sum)
	}
	return sum
}

// store stores a thread's elements of the result.
func (r *plainRow[T, F]) store(me int) {
	if len(r.bias) == 0 {
		for i := me; i < len(r.weight); i += row.Lanes {
			r.y[i] = r.format.Of((r.format.Float32(r.x[i]) - r.mean) * r.factor * r.weight[i])
		}
		return
	}
	bias := r.bias[:len(r.weight)]
	for i := me; i < len(r.weight); i += row.Lanes {
		r.y[i] = r.format.Of((r.format.Float32(r.x[i])-r.mean)*r.factor*r.weight[i] + bias[i])
	}
}
