package suite

import (
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// sgemm32 stores the product of the n x n matrices a and b in c. A block computes 32 x 32 elements from tiles in shared
// memory; a thread computes one element. n is a multiple of 32.
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

// sgemm64 is like sgemm32 with 64 x 64 elements a block and 4 x 4 a thread, in registers. n is a multiple of 64.
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

func newSGEMM32(b *harness.Bench, n int) harness.Work {
	w := newSGEMM(b, n, harness.Launch{Name: "sgemm32", Launcher: Sgemm32, Grid: device.Cover2(n, n, device.Dim{X: tile, Y: tile})})
	w.Tuned[0].Launcher, w.Tuned[0].Grid = Sgemm32Best, device.Grid{Blocks: w.Ours[0].Grid.Blocks, Block: device.Dim{X: 8, Y: tile}}
	w.Best = []harness.Launch{w.Ours[0].Best(w.Tuned[0].Grid)}
	return w
}

func newSGEMM64(b *harness.Bench, n int) harness.Work {
	grid := device.Grid{Blocks: device.CoverBlocks(n, n, device.Dim{X: side, Y: side}), Block: device.Dim{X: 16, Y: 16}}
	w := newSGEMM(b, n, harness.Launch{Name: "sgemm64", Launcher: Sgemm64, Grid: grid})
	w.Tuned[0].Launcher, w.Tuned[0].Grid = Sgemm64Best, grid
	for i := range 2 {
		w.Tuned[0].Args[i] = harness.As[[2]float32](w.Ours[0].Args[i].(*harness.Array[float32]))
	}
	w.Best = []harness.Launch{w.Ours[0].Best(grid)}
	return w
}

// newSGEMM prepares the product of two n x n matrices, all but kernels and grids of the tuned one and the best twin.
func newSGEMM(b *harness.Bench, n int, run harness.Launch) harness.Work {
	x, y := harness.Input(b, harness.Random(b, n*n, harness.Signed)), harness.Input(b, harness.Random(b, n*n, harness.Signed))
	z := harness.Result(b, n*n, harness.NaN[float32]())
	run.Args = []harness.Argument{x, y, z, harness.ByValue(n)}
	tuned := harness.Launch{Name: run.Name, Args: []harness.Argument{harness.As[[4]float32](x), harness.As[[4]float32](y), harness.As[[4]float32](z), harness.ByValue(n)}}
	return harness.Work{
		Bytes: 12 * float64(n) * float64(n),
		Flops: 2 * float64(n) * float64(n) * float64(n),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{tuned},
		Check: func() error {
			c := harness.Comparison{Relative: 1e-5, Scale: math.Sqrt(float64(n)), Most: 1 << 17}
			return harness.Compare(c, z.Host, func(i int) (sum float64) {
				for k := range n {
					sum += float64(x.Host[i/n*n+k]) * float64(y.Host[k*n+i%n])
				}
				return sum
			})
		},
	}
}
