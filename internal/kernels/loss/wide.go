package loss

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const threads = 512 // of a block of wide

// partial is the greatest of some scores as exponents of 2, above negative infinity, and the sum of the exponentials relative to it.
type partial struct{ top, sum float32 }

// wide computes a row with each block: the greatest score and the sum of the exponentials together (Milakov and Gimelshein, "Online normalizer
// calculation for softmax"), then the derivative.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 512
func wide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, dx []row.Words, labels []int32, losses []float32, columns uint32, scale float32) {
	parts := gpu.Shared[row.Parts[partial]](t)
	at, n := t.BlockX(), int(columns)
	first := at * n
	r := wideRow[A, F]{x: x[first : first+n], dx: dx[first : first+n]}
	label := int(labels[at])
	var v A
	if label < 0 || label >= n*len(v) {
		for i := t.ThreadX(); i < n; i += threads {
			r.dx[i] = row.Words{}
		}
		if t.ThreadX() == 0 {
			losses[at] = 0
		}
		return
	}
	team := row.Team{Row: at, Me: t.ThreadX(), Size: threads}
	all := parts.Exchange(t, r.partial(t.ThreadX()).warp(t, team), partial{-math.MaxFloat32, 0}).warp(t, team)
	r.store(t.ThreadX(), label, all, scale)
	if i := label / len(v); t.ThreadX() == i%threads {
		losses[at] = (all.top+math32.Log2(all.sum))*math.Ln2 - r.own
	}
}

// wideRow is a row of a block.
type wideRow[A [4]float32 | [8]float32, F row.Vectors[A]] struct {
	x, dx  []row.Words
	own    float32 // the score of the label, if it is one of the thread's
	format F
}

// partial returns the partial of a thread's elements.
func (r *wideRow[A, F]) partial(me int) partial {
	l := partial{-math.MaxFloat32, 0}
	for i := me; i < len(r.x); i += threads {
		a := r.format.Unpack(r.x[i])
		top := l.top
		for k := range len(a) {
			a[k] *= math.Log2E
			top = max(top, a[k])
		}
		l.sum *= math32.FastExp2(l.top - top)
		for k := range len(a) {
			l.sum += math32.FastExp2(a[k] - top)
		}
		l.top = top
	}
	return l
}

// warp returns the partial of the elements of a warp.
func (l partial) warp(t gpu.Thread, team row.Team) partial {
	top := team.WarpMax(t, l.top)
	return partial{top, team.WarpSum(t, l.sum*math32.FastExp2(l.top-top))}
}

// store stores the derivatives of a thread's elements, given the partial of the row.
func (r *wideRow[A, F]) store(me, label int, all partial, scale float32) {
	factor := scale / all.sum
	for i := me; i < len(r.x); i += threads {
		a := r.format.Unpack(r.x[i])
		for k := range len(a) {
			score := a[k]
			a[k] = math32.FastExp2(score*math.Log2E-all.top) * factor
			if i*len(a)+k == label {
				r.own = score
				a[k] -= scale
			}
		}
		r.dx[i] = r.format.Pack(a)
	}
}
