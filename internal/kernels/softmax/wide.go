package softmax

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// wide computes a row with each team: the greatest element and the sum of the exponentials together (Milakov and Gimelshein,
// "Online normalizer calculation for softmax"), then the quotients. Elements are multiplied by the logarithm of e to base 2, for
// powers of 2.
//
//gpu:kernel
//gpu:twin off
func wide[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, y []row.Words, lengths []int32, c config) {
	parts := gpu.Shared[row.Parts[partial]](t)
	held := gpu.DynamicShared[row.Words](t)
	team := row.TeamOf(t)
	r := newRow[A, F](t, team, memory{x, y, held}, c.row(lengths, team.Row))
	r.store(r.partial().total(t, team, parts))
}

// spread is wide for rows that the blocks of a cluster share. Each block sends its partial to all of them. It makes no write to memory
// visible to the others before it stores the result: a thread would wait until other blocks in its multiprocessor have stored theirs.
//
//gpu:kernel
//gpu:twin off
func spread[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, y []row.Words, lengths []int32, c config) {
	parts := gpu.Shared[row.Parts[partial]](t)
	sent, full := gpu.Shared[[row.MostBlocks]uint64](t), gpu.Shared[gpu.Barrier](t)
	held := gpu.DynamicShared[row.Words](t)
	if t.ThreadX() == 0 {
		full.Init(t, 1)
		full.Expect(t, 8*t.ClusterSize())
	}
	t.ArriveCluster()
	team := row.ClusterOf(t)
	r := newRow[A, F](t, team, memory{x, y, held}, c.row(lengths, team.Row))
	all := r.partial().total(t, team, parts)
	t.WaitCluster()
	if to := t.ThreadX(); to < t.ClusterSize() {
		full.Send(t, &sent[t.ClusterRank()], all.word(), to)
	}
	full.Wait(t, 0)
	all = none()
	if t.Lane() < t.ClusterSize() {
		all = partialOf(sent[t.Lane()])
	}
	r.store(all.warp(t, team))
}

// rowConfig is what a row needs of a config.
type rowConfig struct {
	at, columns int
	limit       int32
	exists, log bool
	scale       float32
}

// row returns the configuration of a row, or of the last if there is no such row.
func (c *config) row(lengths []int32, at int) rowConfig {
	r := rowConfig{min(at, int(c.Rows)-1), int(c.Columns), 0, at < int(c.Rows), c.Log, c.Scale * math.Log2E}
	r.limit = c.limit(lengths, r.at)
	return r
}

// wideRow is a row of a team.
type wideRow[A [4]float32 | [8]float32, F row.Vectors[A]] struct {
	row.Stage
	rowConfig
	y      []row.Words
	format F
}

// memory is the matrices of a kernel, and the shared memory of a block.
type memory struct{ x, y, held []row.Words }

// newRow returns a row whose beginning is in shared memory.
func newRow[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, team row.Team, m memory, c rowConfig) wideRow[A, F] {
	var v A
	n := c.columns / len(v)
	first := c.at * n
	r := wideRow[A, F]{Stage: row.NewStage(t, team, m.x[first:first+n], m.held), rowConfig: c, y: m.y[first : first+n]}
	if some := (int(c.limit) + len(v) - 1) / len(v); some < n {
		r.X = r.X[:some]
	}
	if !c.exists {
		r.X, r.y = r.X[:0], r.y[:0]
	}
	r.Load(t)
	return r
}

// partial is the greatest of some elements, which are above negative infinity, and the sum of the exponentials of their differences
// to it.
type partial struct{ top, sum float32 }

// none is the partial of no elements. No difference to its top is NaN.
func none() partial { return partial{-math.MaxFloat32, 0} }

// word returns the bits of a partial.
func (l partial) word() uint64 {
	return uint64(math.Float32bits(l.sum))<<32 | uint64(math.Float32bits(l.top))
}

// partialOf is the inverse of word.
func partialOf(w uint64) partial {
	return partial{math.Float32frombits(uint32(w)), math.Float32frombits(uint32(w >> 32))}
}

// partial returns the partial of a thread's elements: first of pairs of Words in shared memory that have no masked elements, so that few
// instructions are executed for each and those of the two can overlap, then of the others.
func (r *wideRow[A, F]) partial() partial {
	l, whole := none(), r.whole()
	i, slot := r.Me, r.Slot
	for ; i+r.Size < whole && slot+r.Step < uint32(len(r.Held)); i, slot = i+2*r.Size, slot+2*r.Step {
		l = withPair(l, scaled(r.format.Unpack(r.Held[slot]), r.scale), scaled(r.format.Unpack(r.Held[slot+r.Step]), r.scale))
	}
	for ; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		l = with(l, r.masked(scaled(r.format.Unpack(r.At(i, slot)), r.scale), i, math32.Inf(-1)))
	}
	return l
}

// whole returns the number of Words without masked elements.
func (r *wideRow[A, F]) whole() uint32 {
	var a A
	return min(uint32(r.limit)/uint32(len(a)), uint32(len(r.X)))
}

// scaled returns a times scale.
func scaled[A [4]float32 | [8]float32](a A, scale float32) A {
	for k := range len(a) {
		a[k] *= scale
	}
	return a
}

// with returns the partial of the elements of l and of a.
func with[A [4]float32 | [8]float32](l partial, a A) partial {
	top := l.top
	for k := range len(a) {
		top = max(top, a[k])
	}
	l.sum *= math32.FastExp2(l.top - top)
	for k := range len(a) {
		l.sum += math32.FastExp2(a[k] - top)
	}
	l.top = top
	return l
}

// withPair returns the partial of the elements of l, a and b.
func withPair[A [4]float32 | [8]float32](l partial, a, b A) partial {
	top := l.top
	for k := range len(a) {
		top = max(top, max(a[k], b[k]))
	}
	l.sum *= math32.FastExp2(l.top - top)
	for k := range len(a) {
		l.sum += math32.FastExp2(a[k]-top) + math32.FastExp2(b[k]-top)
	}
	l.top = top
	return l
}

// masked returns a, vector i, with a mask in place of the elements from the limit on.
func (r *wideRow[A, F]) masked(a A, i uint32, mask float32) A {
	return masked(a, r.limit-int32(i)*int32(len(a)), mask)
}

// masked returns a with a mask in place of the elements from number left on.
func masked[A [4]float32 | [8]float32](a A, left int32, mask float32) A {
	if left < int32(len(a)) {
		for k := range len(a) {
			if int32(k) >= left {
				a[k] = mask
			}
		}
	}
	return a
}

// total returns the partial of the block's elements, or the team's if it is smaller, given those of each thread.
func (l partial) total(t gpu.Thread, team row.Team, parts *row.Parts[partial]) partial {
	l = l.warp(t, team)
	if team.Size <= gpu.WarpSize {
		return l
	}
	return parts.Exchange(t, l, none()).warp(t, team)
}

// warp returns the partial of the elements of the team in this warp.
func (l partial) warp(t gpu.Thread, team row.Team) partial {
	top := team.WarpMax(t, l.top)
	return partial{top, team.WarpSum(t, l.sum*math32.FastExp2(l.top-top))}
}

// store stores a thread's elements of the result, given the partial of the row.
func (r *wideRow[A, F]) store(all partial) {
	factor, offset, mask := math32.FastRcp(all.sum), all.top, float32(0)
	if r.log {
		factor, offset, mask = math.Ln2, all.top+math32.Log2(all.sum), math32.Inf(-1)
	}
	if all.sum == 0 {
		r.limit = 0
	}
	i, slot := r.Me, r.Slot
	if !r.log {
		whole, e := min(r.whole(), uint32(len(r.y))), exponential{r.scale, offset, factor}
		for ; i+r.Size < whole && slot+r.Step < uint32(len(r.Held)); i, slot = i+2*r.Size, slot+2*r.Step {
			a, b := r.format.Unpack(r.Held[slot]), r.format.Unpack(r.Held[slot+r.Step])
			r.y[i], r.y[i+r.Size] = r.format.Pack(exponentials(a, e)), r.format.Pack(exponentials(b, e))
		}
	}
	for ; i < uint32(len(r.y)); i, slot = i+r.Size, slot+r.Step {
		var a A
		if i < uint32(len(r.X)) {
			a = scaled(r.format.Unpack(r.At(i, slot)), r.scale)
		}
		for k := range len(a) {
			a[k] -= offset
		}
		if !r.log {
			for k := range len(a) {
				a[k] = math32.FastExp2(a[k])
			}
		}
		r.y[i] = r.format.Pack(r.masked(scaled(a, factor), i, mask))
	}
}

// exponential is a function: the power of 2 of a multiple of a number less an offset, times a factor.
type exponential struct{ scale, offset, factor float32 }

// exponentials returns e of each element of a.
func exponentials[A [4]float32 | [8]float32](a A, e exponential) A {
	for k := range len(a) {
		a[k] = math32.FastExp2(math32.FMA(a[k], e.scale, -e.offset)) * e.factor
	}
	return a
}
