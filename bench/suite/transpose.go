package suite

import (
	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// tile is the width and height of a tile of a matrix in shared memory.
const tile = 32

// transposeNaive stores the transpose of the n x n matrix a in b. Each thread moves one element,
// and neighbouring threads write to different rows.
//
//gpu:kernel
//gpu:block 32,8
func transposeNaive(t gpu.Thread, a, b []float32, n int) {
	x, y := t.GlobalX(), t.GlobalY()
	if x < n && y < n {
		b[x*n+y] = a[y*n+x]
	}
}

// transposeTiled is like transposeNaive, but moves tiles through shared memory. The rows of a tile have
// an unused element, so that the elements of a column are in different banks.
//
//gpu:kernel
//gpu:block 32,8
func transposeTiled(t gpu.Thread, a, b []float32, n int) {
	part := gpu.Shared[[tile][tile + 1]float32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	x, y := t.BlockX()*tile+tx, t.BlockY()*tile+ty
	for j := 0; j < tile; j += 8 {
		if x < n && y+j < n {
			part[ty+j][tx] = a[(y+j)*n+x]
		}
	}
	t.Sync()
	x, y = t.BlockY()*tile+tx, t.BlockX()*tile+ty
	for j := 0; j < tile; j += 8 {
		if x < n && y+j < n {
			b[(y+j)*n+x] = part[tx][ty+j]
		}
	}
}

func newTransposeNaive(b *harness.Bench, n int) harness.Work {
	w := newTranspose(b, n, harness.Launch{Name: "transposeNaive", Launcher: TransposeNaive})
	run := &w.Ours[0]
	run.Grid = device.Cover2(n, n, device.Dim{X: tile, Y: 8})
	w.Tuned[0].Launcher, w.Tuned[0].Grid = TransposeNaiveBest, device.Cover2(n/4, n/4, device.Dim{X: 8, Y: 32})
	w.Best = []harness.Launch{run.Best(w.Tuned[0].Grid)}
	return w
}

func newTransposeTiled(b *harness.Bench, n int) harness.Work {
	w := newTranspose(b, n, harness.Launch{Name: "transposeTiled", Launcher: TransposeTiled})
	run := &w.Ours[0]
	run.Grid = device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: tile, Y: tile}), Block: device.Dim{X: tile, Y: 8}}
	w.Tuned[0].Launcher = TransposeTiledBest
	w.Tuned[0].Grid = device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: wideTile, Y: wideTile}), Block: device.Dim{X: 16, Y: 16}}
	w.Best = []harness.Launch{run.Best(w.Tuned[0].Grid)}
	return w
}

// newTranspose prepares all but the grids.
func newTranspose(b *harness.Bench, n int, run harness.Launch) harness.Work {
	x, y := harness.Input(b, harness.Random(b, n*n, harness.Signed)), harness.Result(b, n*n, harness.NaN[float32]())
	run.Args = []harness.Argument{x, y, harness.ByValue(n)}
	tuned := harness.Launch{Name: run.Name, Args: []harness.Argument{harness.As[[4]float32](x), harness.As[[4]float32](y), harness.ByValue(n)}}
	return harness.Work{
		Bytes: float64(8 * n * n),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{tuned},
		More:  []harness.Contender{copied(y, x)},
		Check: func() error {
			return harness.Exactly(y.Host, func(i int) float32 { return x.Host[i%n*n+i/n] })
		},
	}
}
