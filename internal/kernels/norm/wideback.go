package norm

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// wideBack computes the derivative of a row's norm with each team. Rows of x are in shared memory; those of dy are read twice, the second
// time from a cache.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
func wideBack[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, dy, add, dx []row.Words, weight []A, lines [][2]float32, c config) {
	parts := gpu.Shared[[4]row.Parts[float32]](t)
	held := gpu.DynamicShared[row.Words](t)
	team := row.TeamOf(t)
	at := min(team.Row, int(c.Rows)-1)
	var v A
	n := int(c.Columns) / len(v)
	first := at * n
	r := wideRow[A, F]{Stage: row.NewStage(t, team, x[first:first+n], held), y: dx[first : first+n], weight: weight[:n]}
	if at < team.Row {
		r.X, r.y = r.X[:0], r.y[:0]
	}
	r.Load(t)
	if c.Centred {
		r.mean = team.Sum(t, &parts[0], r.sum()) * c.Inverse
	}
	g := dy[first : first+n]
	m := r.moments(g)
	l := c.lineOf(r.mean, moments{team.Sum(t, &parts[1], m.squares), team.Sum(t, &parts[2], m.products), team.Sum(t, &parts[3], m.sum)})
	if len(lines) > 0 && team.Me == 0 && at == team.Row {
		lines[at] = [2]float32{l.factor, l.mean}
	}
	if len(add) > 0 {
		add = add[first : first+n]
	}
	r.storeBack(l, g, add)
}

// moments returns the sums of a thread's elements.
func (r *wideRow[A, F]) moments(dy []row.Words) (m moments) {
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, b, w := r.format.Unpack(r.At(i, slot)), r.format.Unpack(dy[i]), r.weight[i]
		for k := range len(a) {
			d, g := a[k]-r.mean, b[k]*w[k]
			m.squares, m.products, m.sum = math32.FMA(d, d, m.squares), math32.FMA(g, d, m.products), m.sum+g
		}
	}
	return m
}

// storeBack stores a thread's derivatives, plus others if there are some.
func (r *wideRow[A, F]) storeBack(l line, dy, add []row.Words) {
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, b, w := r.format.Unpack(r.At(i, slot)), r.format.Unpack(dy[i]), r.weight[i]
		for k := range len(a) {
			a[k] = l.of(a[k], b[k]*w[k])
		}
		if i < uint32(len(add)) {
			b = r.format.Unpack(add[i])
			for k := range len(a) {
				a[k] += b[k]
			}
		}
		r.y[i] = r.format.Pack(a)
	}
}
