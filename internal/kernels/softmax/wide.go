package softmax

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// wide computes a row with each team: first the greatest element and the sum of the exponentials together (Milakov and
// Gimelshein, "Online normalizer calculation for softmax"), then the quotients. Elements are multiplied by the logarithm of e to
// base 2, for powers of 2. Between its two uses, a row that fits is kept in dynamic shared memory.
//
//gpu:kernel
//gpu:twin off
func wide[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]](t gpu.Thread, x, y []V, lengths []int32, c config) {
	parts := gpu.Shared[[2]row.Parts](t)
	held := gpu.DynamicShared[V](t)
	team := row.TeamOf(t, c.Team)
	if team.Row >= int(c.Rows) {
		return
	}
	var v V
	n := int(c.Columns) / len(v)
	first := team.Row * n
	r := wideRow[T, V, A, F]{y: y[first : first+n], scale: c.Scale * math.Log2E, limit: c.limit(lengths, team.Row)}
	some := (r.limit + len(v) - 1) / len(v)
	r.x, r.held = x[first : first+n][:some], held[:min(some, len(held))]
	own, part := r.online(team)
	top := team.Max(t, &parts[0], own)
	if own != math32.Inf(-1) {
		part *= math32.FastExp2(own - top)
	}
	r.store(team, c.Log, line{top, team.Sum(t, &parts[1], part)})
}

// wideRow is a row of a team.
type wideRow[T any, V [4]T | [8]T, A [4]float32 | [8]float32, F row.Format[T]] struct {
	x, y, held []V // x is the vectors up to the limit; held is as long, or empty
	scale      float32
	limit      int // in elements
}

// scaled returns the elements of vector i, v, times the scale. Those from the limit on are negative infinity.
func (r *wideRow[T, V, A, F]) scaled(v V, i int) A {
	a := row.Unpack[T, V, A, F](v)
	left := r.limit - i*len(a)
	for k := range len(a) {
		a[k] *= r.scale
		if k >= left {
			a[k] = math32.Inf(-1)
		}
	}
	return a
}

// online returns the greatest of a thread's elements, and the sum of the exponentials of their differences to it.
func (r *wideRow[T, V, A, F]) online(team row.Team) (top, sum float32) {
	top = math32.Inf(-1)
	for i := team.Me; i < len(r.x); i += team.Size {
		v := r.x[i]
		if i < len(r.held) {
			r.held[i] = v
		}
		a := r.scaled(v, i)
		was := top
		for k := range len(a) {
			top = max(top, a[k])
		}
		if top == math32.Inf(-1) {
			continue
		}
		sum *= math32.FastExp2(was - top)
		for k := range len(a) {
			sum += math32.FastExp2(a[k] - top)
		}
	}
	return top, sum
}

// store stores a thread's elements of the result, given the greatest of the row and the sum of the exponentials.
func (r *wideRow[T, V, A, F]) store(team row.Team, log bool, l line) {
	factor, masked := 1/l.factor, float32(0)
	if log {
		factor, masked = l.top+math32.Log2(l.factor), math32.Inf(-1)
	}
	for i := team.Me; i < len(r.y); i += team.Size {
		var a A
		if i < len(r.x) && l.top != math32.Inf(-1) {
			if i < len(r.held) {
				a = r.scaled(r.held[i], i)
			} else {
				a = r.scaled(r.x[i], i)
			}
			for k := range len(a) {
				if log {
					a[k] = (a[k] - factor) * math.Ln2
				} else {
					a[k] = math32.FastExp2(a[k]-l.top) * factor
				}
			}
		} else {
			for k := range len(a) {
				a[k] = masked
			}
		}
		r.y[i] = row.Pack[T, V, A, F](a)
	}
}
