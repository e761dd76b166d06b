package softmax

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// plain computes a row with each block: the greatest element, the sum of the exponentials, the quotients.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func plain[T any, F row.Format[T]](t gpu.Thread, x, y []T, lengths []int32, c config) {
	parts := gpu.Shared[[2][row.Lanes]float32](t)
	me, at, n := t.ThreadX(), t.BlockX(), int(c.Columns)
	r := plainRow[T, F]{x: x[at*n : at*n+n], y: y[at*n : at*n+n], scale: c.Scale}
	limit := int(c.limit(lengths, at))
	t.Sync() // regions that assign nothing that is the same for the block are vector code
	parts[0][me] = r.greatest(me, limit)
	t.Sync()
	top := math32.Inf(-1)
	for i := range row.Lanes {
		top = max(top, parts[0][i])
	}
	if top == math32.Inf(-1) {
		limit, top = 0, 0
	}
	t.Sync()
	parts[1][me] = r.sum(me, limit, top)
	t.Sync()
	sum := row.SumLanes(&parts[1])
	if c.Log {
		r.storeLog(me, limit, top+math32.Log(sum))
	} else {
		r.store(me, limit, line{top, 1 / sum})
	}
}

// limit returns the number of columns of a row.
func (c *config) limit(lengths []int32, at int) int32 {
	n := int32(c.Columns)
	if q := c.Queries; q > 0 {
		n = min(n, n-int32(q)+int32(uint32(at)%q)+1)
	}
	if len(lengths) > 0 {
		n = min(n, lengths[at])
	}
	return max(n, 0)
}

// plainRow is a row of which each of 16 threads takes every sixteenth element.
type plainRow[T any, F row.Format[T]] struct {
	x, y   []T
	scale  float32
	format F
}

// greatest returns the greatest of a thread's elements up to a limit, which is NaN if one is.
func (r *plainRow[T, F]) greatest(me, limit int) float32 {
	top := math32.Inf(-1)
	x := r.x[:limit]
	for i := me; i < len(x); i += row.Lanes {
		top = max(top, r.format.Float32(x[i])*r.scale)
	}
	return top
}

// sum returns the sum of the exponentials of a thread's elements up to a limit.
func (r *plainRow[T, F]) sum(me, limit int, top float32) (sum float32) {
	x := r.x[:limit]
	for i := me; i < len(x); i += row.Lanes {
		sum += math32.FastExp(r.format.Float32(x[i])*r.scale - top)
	}
	return sum
}

// line is the greatest element of a row and the factor of its exponentials.
type line struct{ top, factor float32 }

// store stores a thread's elements up to a limit, and zeros from there on.
func (r *plainRow[T, F]) store(me, limit int, l line) {
	for i := me; i < len(r.x); i += row.Lanes {
		v := float32(0)
		if i < limit {
			v = math32.FastExp(r.format.Float32(r.x[i])*r.scale-l.top) * l.factor
		}
		r.y[i] = r.format.Of(v)
	}
}

// storeLog stores the logarithms of a thread's elements up to a limit, and negative infinities from there on.
func (r *plainRow[T, F]) storeLog(me, limit int, top float32) {
	for i := me; i < len(r.x); i += row.Lanes {
		v := math32.Inf(-1)
		if i < limit {
			v = r.format.Float32(r.x[i])*r.scale - top
		}
		r.y[i] = r.format.Of(v)
	}
}
