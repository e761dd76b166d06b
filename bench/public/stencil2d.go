package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The sizes of the part of a grid that a block computes: a thread for each column.
const (
	nineRows    = 8
	nineColumns = 256
)

// nineWeights are those of a point and of its neighbours along the axes and the diagonals.
type nineWeights struct{ center, cardinal, diagonal float32 }

// stencil2d computes the weighted sum of each point of a grid and its eight neighbours, like SHOC's stencil2d: a block
// of 256 threads holds 8 rows of 256 points and those around them in shared memory. The grid has a border of one point,
// which stays as it is.
//
//gpu:kernel
//gpu:block 256
func stencil2d(t gpu.Thread, from, to []float32, pitch int, w nineWeights) {
	tile := gpu.Shared[[nineRows + 2][nineColumns + 2]float32](t)
	x, row := t.ThreadX(), t.BlockY()*nineRows
	column := t.BlockX() * nineColumns
	for y := range nineRows + 2 {
		tile[y][x+1] = from[(row+y)*pitch+column+x+1]
	}
	if x == 0 {
		for y := range nineRows + 2 {
			tile[y][0] = from[(row+y)*pitch+column]
		}
	}
	if x == nineColumns-1 {
		for y := range nineRows + 2 {
			tile[y][nineColumns+1] = from[(row+y)*pitch+column+nineColumns+1]
		}
	}
	t.Sync()
	for y := range nineRows {
		center := tile[y+1][x+1]
		cardinal := tile[y][x+1] + tile[y+2][x+1] + tile[y+1][x] + tile[y+1][x+2]
		diagonal := tile[y][x] + tile[y][x+2] + tile[y+2][x] + tile[y+2][x+2]
		to[(row+y+1)*pitch+column+x+1] = w.center*center + w.cardinal*cardinal + w.diagonal*diagonal
	}
}

// newStencil2D prepares four steps of a grid of n x n points; n is a multiple of 256.
func newStencil2D(b *harness.Bench, n int) harness.Work {
	const steps = 4
	pitch := n + 2
	first := harness.Input(b, harness.Random(b, pitch*pitch, harness.Signed))
	even, odd := harness.Result(b, pitch*pitch, harness.NaN[float32]()), harness.Scratch[float32](b, pitch*pitch)
	w := nineWeights{0.25, 0.15, 0.05}
	g := device.Grid{Blocks: device.Dim{X: n / nineColumns, Y: n / nineRows}, Block: device.Dim{X: nineColumns}}
	var ls []harness.Launch
	from, to := even, odd
	for range steps {
		ls = append(ls, harness.Of("stencil2d", Stencil2d, g, from, to, harness.ByValue(pitch), harness.ByValue(w)))
		from, to = to, from
	}
	want := sync.OnceValue(func() []float64 {
		x := widened(first.Host)
		for range steps {
			x = w.step(x, pitch)
		}
		return x
	})
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			if err := restore(even, first)(s); err != nil {
				return err
			}
			return restore(odd, first)(s) // for its border
		},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 1}, even.Host, func(i int) float64 { return want()[i] })
		},
	}
}

// step returns a grid with its border after a step, in float64.
func (w nineWeights) step(from []float64, pitch int) []float64 {
	to := append([]float64(nil), from...)
	for y := 1; y < pitch-1; y++ {
		for x := 1; x < pitch-1; x++ {
			i := y*pitch + x
			to[i] = float64(w.center)*from[i] + float64(w.cardinal)*(from[i-1]+from[i+1]+from[i-pitch]+from[i+pitch]) +
				float64(w.diagonal)*(from[i-pitch-1]+from[i-pitch+1]+from[i+pitch-1]+from[i+pitch+1])
		}
	}
	return to
}
