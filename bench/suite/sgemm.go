package suite

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// sgemm32 stores the product of the n x n matrices a and b in c: a block computes a tile of
// 32 x 32, a thread one element, from tiles in shared memory. n is a multiple of 32.
//
//gpu:kernel
//gpu:block 32,32
func sgemm32(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[tile][tile]float32](t)
	bs := gpu.Shared[[tile][tile]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	row, col := t.GlobalY(), t.GlobalX()
	var sum float32
	for start := 0; start < n; start += tile {
		as[y][x] = a[row*n+start+x]
		bs[y][x] = b[(start+y)*n+col]
		t.Sync()
		for k := range tile {
			sum += as[y][k] * bs[k][x]
		}
		t.Sync()
	}
	c[row*n+col] = sum
}

// The tiles of sgemm64: a block computes side x side elements from depth columns of a and
// rows of b at a time, a thread own x own of them.
const (
	side  = 64
	depth = 8
	own   = 4
)

// sgemm64 does the same with 64 x 64 elements a block and 4 x 4 a thread, which stay in
// registers. n is a multiple of 64.
//
//gpu:kernel
//gpu:block 16,16
func sgemm64(t gpu.Thread, a, b, c []float32, n int) {
	as := gpu.Shared[[depth][side]float32](t)
	bs := gpu.Shared[[depth][side]float32](t)
	tx, ty := t.ThreadX(), t.ThreadY()
	me := ty*16 + tx
	top, left := t.BlockY()*side, t.BlockX()*side
	var sums [own][own]float32
	for start := 0; start < n; start += depth {
		for i := me; i < side*depth; i += 256 {
			as[i%depth][i/depth] = a[(top+i/depth)*n+start+i%depth]
			bs[i/side][i%side] = b[(start+i/side)*n+left+i%side]
		}
		t.Sync()
		for k := range depth {
			var column, row [own]float32
			for i := range own {
				column[i] = as[k][ty*own+i]
				row[i] = bs[k][tx*own+i]
			}
			for i := range own {
				for j := range own {
					sums[i][j] += column[i] * row[j]
				}
			}
		}
		t.Sync()
	}
	for i := range own {
		for j := range own {
			c[(top+ty*own+i)*n+left+tx*own+j] = sums[i][j]
		}
	}
}

func newSGEMM32(b *bench, n int) work {
	w := newSGEMM(b, n, launch{name: "sgemm32", kernel: Sgemm32, grid: device.Cover2(n, n, device.Dim{X: tile, Y: tile})})
	w.tuned[0].kernel, w.tuned[0].grid = Sgemm32Best, device.Grid{Blocks: w.ours[0].grid.Blocks, Block: device.Dim{X: 8, Y: tile}}
	w.best = []launch{w.ours[0].twin("sgemm32_best", w.tuned[0].grid)}
	return w
}

func newSGEMM64(b *bench, n int) work {
	grid := device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: side, Y: side}), Block: device.Dim{X: 16, Y: 16}}
	w := newSGEMM(b, n, launch{name: "sgemm64", kernel: Sgemm64, grid: grid})
	w.tuned[0].kernel, w.tuned[0].grid = Sgemm64Best, grid
	for i := range 2 {
		w.tuned[0].args[i] = as[[2]float32](w.ours[0].args[i].(*array[float32]))
	}
	w.best = []launch{w.ours[0].twin("sgemm64_best", grid)}
	return w
}

// newSGEMM prepares the product of two n x n matrices, all but kernels and grids of the tuned one and the best twin.
func newSGEMM(b *bench, n int, run launch) work {
	x, y := input(b, random(b, n*n, signed)), input(b, random(b, n*n, signed))
	z := result(b, n*n, nan[float32]())
	run.args = []argument{x, y, z, byValue(n)}
	tuned := launch{name: run.name, args: []argument{as[[4]float32](x), as[[4]float32](y), as[[4]float32](z), byValue(n)}}
	return work{
		bytes: 12 * float64(n) * float64(n),
		flops: 2 * float64(n) * float64(n) * float64(n),
		ours:  []launch{run},
		tuned: []launch{tuned},
		check: func() error {
			c := comparison{relative: 1e-5, scale: math.Sqrt(float64(n)), most: 1 << 17}
			return compare(c, z.host, func(i int) (sum float64) {
				for k := range n {
					sum += float64(x.host[i/n*n+k]) * float64(y.host[k*n+i%n])
				}
				return sum
			})
		},
	}
}
