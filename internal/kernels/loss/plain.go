package loss

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// plain computes a row with each block: the greatest score, the sum of the exponentials, the derivative.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func plain(t gpu.Thread, x, dx []float32, labels []int32, losses []float32, columns uint32, scale float32) {
	at, n := t.BlockX(), int(columns)
	first := at * n
	r := plainRow[float32, row.F32]{x: x[first : first+n], dx: dx[first : first+n]}
	r.compute(t, &losses[at], int(labels[at]), scale)
}

// plainHalf is plain for bfloat16, which has fast code only for GPUs.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 16
func plainHalf(t gpu.Thread, x, dx []dtype.BF16, labels []int32, losses []float32, columns uint32, scale float32) {
	at, n := t.BlockX(), int(columns)
	first := at * n
	r := plainRow[dtype.BF16, row.BF16]{x: x[first : first+n], dx: dx[first : first+n]}
	r.compute(t, &losses[at], int(labels[at]), scale)
}

// plainRow is a row of which each of 16 threads takes every sixteenth element.
type plainRow[T any, F row.Format[T]] struct {
	x, dx  []T
	format F
}

// compute stores the loss and the derivative of a row.
func (r *plainRow[T, F]) compute(t gpu.Thread, loss *float32, label int, scale float32) {
	parts := gpu.Shared[[2][row.Lanes]float32](t)
	me := t.ThreadX()
	t.Sync() // regions that assign nothing that is the same for the block are vector code
	parts[0][me] = r.greatest(me)
	t.Sync()
	top := math32.Inf(-1)
	for i := range row.Lanes {
		top = max(top, parts[0][i])
	}
	t.Sync()
	parts[1][me] = r.sum(me, top)
	t.Sync()
	sum := row.SumLanes(&parts[1])
	own, value := float32(0), float32(0)
	if label >= 0 && label < len(r.x) {
		own = r.format.Float32(r.x[label])
		value = top + math32.Log(sum) - own
	} else {
		scale = 0
	}
	t.Sync()
	r.store(me, top, scale/sum)
	t.Sync()
	if me == 0 {
		*loss = value
	}
	switch {
	case scale == 0:
		r.clear(me)
	case me == label%row.Lanes:
		r.dx[label] = r.format.Of(scale * (math32.FastExp(own-top)/sum - 1))
	}
}

// greatest returns the greatest of a thread's elements, which is NaN if one is.
func (r *plainRow[T, F]) greatest(me int) float32 {
	top := math32.Inf(-1)
	for i := me; i < len(r.x); i += row.Lanes {
		top = max(top, r.format.Float32(r.x[i]))
	}
	return top
}

// sum returns the sum of the exponentials of a thread's elements.
func (r *plainRow[T, F]) sum(me int, top float32) (sum float32) {
	for i := me; i < len(r.x); i += row.Lanes {
		sum += math32.FastExp(r.format.Float32(r.x[i]) - top)
	}
	return sum
}

// store stores the derivatives of a thread's elements, as if none were that of the label.
func (r *plainRow[T, F]) store(me int, top, factor float32) {
	for i := me; i < len(r.x); i += row.Lanes {
		r.dx[i] = r.format.Of(math32.FastExp(r.format.Float32(r.x[i])-top) * factor)
	}
}

// clear stores zeros in a thread's elements.
func (r *plainRow[T, F]) clear(me int) {
	for i := me; i < len(r.dx); i += row.Lanes {
		r.dx[i] = r.format.Of(0)
	}
}
