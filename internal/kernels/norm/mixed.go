package norm

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// LayerNormNarrow is LayerNorm of float32 rows with results rounded to bfloat16. It has one form, for GPUs, which runs on all devices. Rows
// are whole vectors: see FitsNarrow.
func LayerNormNarrow(s *device.Stream, shape Shape, epsilon float32, x Narrowed) error {
	n := shape.Rows * shape.Columns
	if shape.Rows < 0 || x.X.Len() != n || x.Y.Len() != n || x.Weight.Len() != shape.Columns || x.Bias.Len() != shape.Columns || n > 0 && !FitsNarrow(shape, x.X, x.Weight, x.Bias) {
		return fmt.Errorf("%w: a matrix of %d x %d; X has %d elements, Y %d, Weight %d, Bias %d", ErrShape, shape.Rows, shape.Columns, x.X.Len(), x.Y.Len(), x.Weight.Len(), x.Bias.Len())
	}
	if n == 0 {
		return nil
	}
	c, four := function{shape, epsilon, true}.config(), device.View[[4]float32, float32]
	return NarrowRows(s, teams(s, shape), device.View[row.Words](x.X), device.View[[2]uint32](x.Y), four(x.Weight), four(x.Bias), c)
}

// FitsNarrow reports whether rows of float32 fit LayerNormNarrow, and the derivatives of norms given DYHalf: whether slices are aligned, and the
// number of columns is a multiple of 4.
func FitsNarrow(shape Shape, slices ...device.Slice[float32]) bool {
	return row.Fits(shape.Columns, slices...) && shape.Columns > 0 && shape.Rows <= math.MaxInt32/mostTeam
}

// mostTeam is at least the number of threads for a row.
const mostTeam = 1024

// teams returns the grid for rows of float32.
func teams(s *device.Stream, shape Shape) device.Grid {
	return row.Teams(shape.Rows, shape.Columns/4, row.Limits{Shared: s.Device().Info().Limits.SharedDynamic})
}

// config returns the argument of kernels.
func (f function) config() config {
	return config{Rows: uint32(f.Rows), Columns: uint32(f.Columns), Inverse: 1 / float32(f.Columns), Epsilon: f.epsilon, Centred: f.centred}
}

// narrowRows is wide for LayerNorm of float32 with results of bfloat16.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
func narrowRows(t gpu.Thread, x []row.Words, y [][2]uint32, weight, bias [][4]float32, c config) {
	parts := gpu.Shared[[2]row.Parts[float32]](t)
	held := gpu.DynamicShared[row.Words](t)
	team := row.TeamOf(t)
	at, n := min(team.Row, int(c.Rows)-1), int(c.Columns)/4
	first := at * n
	r := wideRow[[4]float32, row.F32]{Stage: row.NewStage(t, team, x[first:first+n], held)}
	if at < team.Row {
		r.X = r.X[:0]
	}
	r.Load(t)
	r.mean = team.Sum(t, &parts[0], r.sum()) * c.Inverse
	r.factor = math32.Rsqrt(team.Sum(t, &parts[1], r.squares())*c.Inverse + c.Epsilon)
	y, weight, bias = y[first:first+n], weight[:n], bias[:n]
	for i, slot := r.Me, r.Slot; i < uint32(len(r.X)); i, slot = i+r.Size, slot+r.Step {
		a, w, b := r.format.Unpack(r.At(i, slot)), weight[i], bias[i]
		for k := range len(a) {
			a[k] = (a[k]-r.mean)*r.factor*w[k] + b[k]
		}
		y[i] = fourHalves{}.Pack(a)
	}
}

//gpu:instance wideBackNarrow = wideBack[[4]float32, row.F32, [2]uint32, fourHalves]

// narrowRows computes DX of float32 rows given DYHalf, and stores the factor and the mean of each row in lines if there are some.
func (x Gradients[T]) narrowRows(s *device.Stream, c config, lines device.Slice[[2]float32]) error {
	if x.Add.Len() == 0 {
		x.Add = device.None[T]()
	}
	v := device.View[row.Words, T]
	grid := teams(s, Shape{int(c.Rows), int(c.Columns)})
	return wideBackNarrow(s, grid, v(x.X), device.View[[2]uint32](x.DYHalf), v(x.Add), v(x.DX), device.View[[4]float32](x.Weight), lines, c)
}

// fitsNarrow reports whether the operands fit a derivative given DYHalf.
func (x Gradients[T]) fitsNarrow(shape Shape) bool {
	_, single := any(x).(Gradients[float32])
	v := device.View[float32, T]
	return single && x.DY.Len() == 0 && (shape.Rows == 0 || FitsNarrow(shape, v(x.X), v(x.DX), v(x.Add), x.Weight))
}
