package norm

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// line is the derivative of a row's norm: that with respect to x is factor*g + (x-mean)*slope + shift, where g is the derivative with
// respect to the result times the weight.
type line struct{ mean, factor, slope, shift float32 }

// moments are sums over a row of (x-mean)^2, g*(x-mean) and g.
type moments struct{ squares, products, sum float32 }

// lineOf returns the derivative of a row.
func (c *config) lineOf(mean float32, m moments) line {
	factor := 1 / math32.Sqrt(m.squares*c.Inverse+c.Epsilon)
	l := line{mean: mean, factor: factor, slope: -factor * factor * factor * m.products * c.Inverse}
	if c.Centred {
		l.shift = -factor * m.sum * c.Inverse
	}
	return l
}

// plainBack computes the derivative of a row's norm with each block.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func plainBack(t gpu.Thread, x, dy, add, dx, weight []float32, lines [][2]float32, c config) {
	backRow[float32, row.F32](t, backRows[float32]{x, dy, add, dx, weight, lines}, c)
}

// halfBack is plainBack for bfloat16, which has fast code only for GPUs.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 16
func halfBack(t gpu.Thread, x, dy, add, dx []dtype.BF16, weight []float32, lines [][2]float32, c config) {
	backRow[dtype.BF16, row.BF16](t, backRows[dtype.BF16]{x, dy, add, dx, weight, lines}, c)
}

// backRows are the operands of a derivative.
type backRows[T any] struct {
	x, dy, add, dx []T
	weight         []float32
	lines          [][2]float32
}

// backRow computes the derivative of the row of a block.
func backRow[T any, F row.Format[T]](t gpu.Thread, o backRows[T], c config) {
	parts := gpu.Shared[[4][row.Lanes]float32](t)
	n, me, at := len(o.weight), t.ThreadX(), t.BlockX()
	first := at * n
	r := plainRow[T, F]{x: o.x[first : first+n], y: o.dx[first : first+n], weight: o.weight}
	g := o.dy[first : first+n]
	if c.Centred {
		parts[3][me] = r.sum(me)
		t.Sync()
		r.mean = row.SumLanes(&parts[3]) / float32(n)
	}
	m := r.moments(me, g)
	parts[0][me], parts[1][me], parts[2][me] = m.squares, m.products, m.sum
	t.Sync()
	l := c.lineOf(r.mean, moments{row.SumLanes(&parts[0]), row.SumLanes(&parts[1]), row.SumLanes(&parts[2])})
	if me == 0 && len(o.lines) > 0 {
		o.lines[at] = [2]float32{l.factor, l.mean}
	}
	t.Sync()
	r.storeBack(me, l, g, o.add[first:first+n])
}

// moments returns the sums of a thread's elements.
func (r *plainRow[T, F]) moments(me int, dy []T) (m moments) {
	for i := me; i < len(r.weight); i += row.Lanes {
		d, g := r.format.Float32(r.x[i])-r.mean, r.format.Float32(dy[i])*r.weight[i]
		m.squares, m.products, m.sum = math32.FMA(d, d, m.squares), math32.FMA(g, d, m.products), m.sum+g
	}
	return m
}

// of returns the derivative of an element.
func (l *line) of(x, g float32) float32 { return l.factor*g + (x-l.mean)*l.slope + l.shift }

// storeBack stores a thread's derivatives plus others.
func (r *plainRow[T, F]) storeBack(me int, l line, dy, add []T) {
	for i := me; i < len(r.weight); i += row.Lanes {
		r.y[i] = r.format.Of(r.format.Float32(add[i]) + l.of(r.format.Float32(r.x[i]), r.format.Float32(dy[i])*r.weight[i]))
	}
}

const columnThreads = 256 // of a block that adds rows

// sumRows adds the rows of a chunk of dy*(x-mean)*factor, and of dy. A thread has a column. The sums of all chunks of the first follow each
// other in parts, then those of the second.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 256
func sumRows(t gpu.Thread, x, dy []float32, lines [][2]float32, parts []float32, rows, width uint32) {
	sumColumn[float32, row.F32, float32, row.F32](t, columns[float32, float32]{x, dy, lines, parts}, chunk{int(rows), int(width)})
}

// sumHalves is sumRows for bfloat16.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 256
func sumHalves(t gpu.Thread, x, dy []dtype.BF16, lines [][2]float32, parts []float32, rows, width uint32) {
	sumColumn[dtype.BF16, row.BF16, dtype.BF16, row.BF16](t, columns[dtype.BF16, dtype.BF16]{x, dy, lines, parts}, chunk{int(rows), int(width)})
}

// sumMixed is sumRows for float32 rows whose results are bfloat16.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 256
func sumMixed(t gpu.Thread, x []float32, dy []dtype.BF16, lines [][2]float32, parts []float32, rows, width uint32) {
	sumColumn[float32, row.F32, dtype.BF16, row.BF16](t, columns[float32, dtype.BF16]{x, dy, lines, parts}, chunk{int(rows), int(width)})
}

// columns are the operands of sums over rows.
type columns[T, D any] struct {
	x     []T
	dy    []D
	lines [][2]float32
	parts []float32
}

// chunk is the size of a chunk.
type chunk struct{ rows, columns int }

// sumColumn adds a column of a chunk.
func sumColumn[T any, F row.Format[T], D any, G row.Format[D]](t gpu.Thread, o columns[T, D], c chunk) {
	var f F
	var format G
	n, i, number := c.columns, t.GlobalX(), t.BlockY()
	first := number * c.rows
	some := o.lines[first:min(first+c.rows, len(o.lines))]
	weight, bias := o.parts[number*n:][:n], o.parts[(t.GridDimY()+number)*n:][:n]
	if i >= n {
		return
	}
	var w, b float32
	at := first*n + i
	for k := range some {
		g := format.Float32(o.dy[at])
		w += g * ((f.Float32(o.x[at]) - some[k][1]) * some[k][0])
		b += g
		at += n
	}
	weight[i], bias[i] = w, b
}

const (
	sumColumns = 16 // of a block of sumParts
	sumThreads = columnThreads / sumColumns
)

// sumParts adds partial sums, of which each has an element for each one of sums. The threads of a block take some parts of some columns.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 256
func sumParts(t gpu.Thread, parts, sums []float32) {
	shared := gpu.Shared[[sumThreads][sumColumns]float32](t)
	column, me := t.ThreadX()%sumColumns, t.ThreadX()/sumColumns
	i := t.BlockX()*sumColumns + column
	var sum float32
	if i < len(sums) {
		for at := me*len(sums) + i; at < len(parts); at += sumThreads * len(sums) {
			sum += parts[at]
		}
	}
	shared[me][column] = sum
	t.Sync()
	if me > 0 || i >= len(sums) {
		return
	}
	for k := 1; k < sumThreads; k++ {
		sum += shared[k][column]
	}
	sums[i] = sum
}
