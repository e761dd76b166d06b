package suite

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// tile is the width and height of a tile of a matrix in shared memory.
const tile = 32

// transposeNaive stores the transpose of the n x n matrix a in b: each thread moves one
// element, and neighbours write to different rows.
//
//gpu:kernel
//gpu:block 32,8
func transposeNaive(t gpu.Thread, a, b []float32, n int) {
	x, y := t.GlobalX(), t.GlobalY()
	if x < n && y < n {
		b[x*n+y] = a[y*n+x]
	}
}

// transposeTiled does the same a tile at a time, through shared memory whose rows are one
// longer than the tile's, so that a column of it lies in different banks.
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

func newTransposeNaive(b *bench, n int) work {
	w := newTranspose(b, n, launch{name: "transposeNaive", kernel: TransposeNaive})
	run := &w.ours[0]
	run.grid = device.Cover2(n, n, device.Dim{X: tile, Y: 8})
	w.tuned[0].kernel, w.tuned[0].grid = TransposeNaiveBest, device.Cover2(n/4, n/4, device.Dim{X: 8, Y: 32})
	w.best = []launch{run.twin("transposeNaive_best", w.tuned[0].grid)}
	return w
}

func newTransposeTiled(b *bench, n int) work {
	w := newTranspose(b, n, launch{name: "transposeTiled", kernel: TransposeTiled})
	run := &w.ours[0]
	run.grid = device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: tile, Y: tile}), Block: device.Dim{X: tile, Y: 8}}
	w.tuned[0].kernel = TransposeTiledBest
	w.tuned[0].grid = device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: wideTile, Y: wideTile}), Block: device.Dim{X: 16, Y: 16}}
	w.best = []launch{run.twin("transposeTiled_best", w.tuned[0].grid)}
	return w
}

// newTranspose prepares all but the grids.
func newTranspose(b *bench, n int, run launch) work {
	x, y := input(b, random(b, n*n, signed)), result(b, n*n, nan[float32]())
	run.args = []argument{x, y, byValue(n)}
	tuned := launch{name: run.name, args: []argument{as[[4]float32](x), as[[4]float32](y), byValue(n)}}
	return work{
		bytes: float64(8 * n * n),
		ours:  []launch{run},
		tuned: []launch{tuned},
		more:  []contender{copied(y, x)},
		check: func() error {
			return exactly(y.host, func(i int) float32 { return x.host[i%n*n+i/n] })
		},
	}
}
