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
func wideBack[A [4]float32 | [8]float32, F row.Vectors[A], D any, G unpacker[D, A]](t gpu.Thread, x []row.Words, dy []D, add, dx []row.Words, weight []A, lines [][2]float32, c config) {
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
	m := momentsOf[A, F, D, G](&r, g)
	l := c.lineOf(r.mean, moments{team.Sum(t, &parts[1], m.squares), team.Sum(t, &parts[2], m.products), team.Sum(t, &parts[3], m.sum)})
	if len(lines) > 0 && team.Me == 0 && at == team.Row {
		lines[at] = [2]float32{l.factor, l.mean}
	}
	if len(add) > 0 {
		add = add[first : first+n]
	}
	storeBack[A, F, D, G](&r, l, g, add)
}

// unpacker converts vectors of elements to float32 numbers.
type unpacker[D any, A [4]float32 | [8]float32] interface{ Unpack(d D) A }

// fourHalves is four elements of bfloat16.
type fourHalves struct{}

// Unpack returns the elements of d.
func (fourHalves) Unpack(d [2]uint32) [4]float32 {
	w := row.BF16{}.Unpack(row.Words{d[0], d[1]})
	return [4]float32{w[0], w[1], w[2], w[3]}
}

// Pack returns the numbers of a, rounded to elements.
func (fourHalves) Pack(a [4]float32) [2]uint32 {
	w := row.BF16{}.Pack([8]float32{a[0], a[1], a[2], a[3]})
	return [2]uint32{w[0], w[1]}
}

// momentsOf returns the sums of a thread's elements.
func momentsOf[A [4]float32 | [8]float32, F row.Vectors[A], D any, G unpacker[D, A]](r *wideRow[A, F], dy []D) (m moments) {
	var format G
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, b, w := r.format.Unpack(r.At(i, slot)), format.Unpack(dy[i]), r.weight[i]
		for k := range len(a) {
			d, g := a[k]-r.mean, b[k]*w[k]
			m.squares, m.products, m.sum = math32.FMA(d, d, m.squares), math32.FMA(g, d, m.products), m.sum+g
		}
	}
	return m
}

// storeBack stores a thread's derivatives, plus others if there are some.
func storeBack[A [4]float32 | [8]float32, F row.Vectors[A], D any, G unpacker[D, A]](r *wideRow[A, F], l line, dy []D, add []row.Words) {
	var format G
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, b, w := r.format.Unpack(r.At(i, slot)), format.Unpack(dy[i]), r.weight[i]
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
