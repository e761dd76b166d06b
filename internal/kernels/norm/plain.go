package norm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// plainAdd stores x + residual in sum.
//
//gpu:kernel
func plainAdd(t gpu.Thread, x, residual, sum []float32) {
	addElement[float32, row.F32](t, x, residual, sum)
}

// plainAddHalf is plainAdd for elements of 16 bits. CPUs normalize float32 copies of them.
//
//gpu:kernel
//gpu:twin off
func plainAddHalf[T any, F row.Format[T]](t gpu.Thread, x, residual, sum []T) {
	addElement[T, F](t, x, residual, sum)
}

// addElement stores an element of x + residual in sum.
func addElement[T any, F row.Format[T]](t gpu.Thread, x, residual, sum []T) {
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
func plain(t gpu.Thread, x, y, weight, bias []float32, c config) {
	normalize[float32, row.F32](t, plainRow[float32, row.F32]{x: x, y: y, weight: weight, bias: bias}, c)
}

// plainHalf is plain for elements of 16 bits. CPUs normalize float32 copies of them.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 16
func plainHalf[T any, F row.Format[T]](t gpu.Thread, x, y []T, weight, bias []float32, c config) {
	normalize[T, F](t, plainRow[T, F]{x: x, y: y, weight: weight, bias: bias}, c)
}

// normalize normalizes the row of a block, given all rows.
func normalize[T any, F row.Format[T]](t gpu.Thread, r plainRow[T, F], c config) {
	parts := gpu.Shared[[2][row.Lanes]float32](t)
	n, me := len(r.weight), t.ThreadX()
	first := t.BlockX() * n
	r.x, r.y = r.x[first:first+n], r.y[first:first+n]
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

// plainRow is rows, and then one that the 16 threads of a block normalize.
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
