package suite

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// width is the number of threads in a block of the reductions, a power of two.
const width = 256

// blockSum32 returns the sum of the block's v to every thread: a tree in shared memory.
func blockSum32(t gpu.Thread, sums *[width]float32, v float32) float32 {
	me := t.ThreadX()
	sums[me] = v
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			sums[me] += sums[me+half]
		}
		t.Sync()
	}
	return sums[0]
}

// blockSum64 is blockSum32 for float64.
func blockSum64(t gpu.Thread, sums *[width]float64, v float64) float64 {
	me := t.ThreadX()
	sums[me] = v
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			sums[me] += sums[me+half]
		}
		t.Sync()
	}
	return sums[0]
}

// dot32 stores in partial, for each block, the sum of the products of the elements of a and b that
// its threads read, in strides of the grid: BabelStream's dot.
//
//gpu:kernel
//gpu:block 256
func dot32(t gpu.Thread, a, b, partial []float32) {
	sums := gpu.Shared[[width]float32](t)
	var sum float32
	for i := t.GlobalX(); i < len(a); i += t.GridDimX() * width {
		sum += a[i] * b[i]
	}
	sum = blockSum32(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// dot64 is like dot32 for float64.
//
//gpu:kernel
//gpu:block 256
func dot64(t gpu.Thread, a, b, partial []float64) {
	sums := gpu.Shared[[width]float64](t)
	var sum float64
	for i := t.GlobalX(); i < len(a); i += t.GridDimX() * width {
		sum += a[i] * b[i]
	}
	sum = blockSum64(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// sum32 stores in partial, for each block, the sum of the elements of x that its threads read, in
// strides of the grid. A second launch of one block adds the partial sums.
//
//gpu:kernel
//gpu:block 256
func sum32(t gpu.Thread, x, partial []float32) {
	sums := gpu.Shared[[width]float32](t)
	var sum float32
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * width {
		sum += x[i]
	}
	sum = blockSum32(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// sum64 is like sum32 for float64.
//
//gpu:kernel
//gpu:block 256
func sum64(t gpu.Thread, x, partial []float64) {
	sums := gpu.Shared[[width]float64](t)
	var sum float64
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * width {
		sum += x[i]
	}
	sum = blockSum64(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// reduceBlocks is how many blocks at most a reduction starts.
const reduceBlocks = 2048

// reduction is a case that sums: kernel leaves a partial sum for each block, and total sums
// them in one block.
type reduction struct {
	name          string
	kernel, total any // launchers
	totalName     string
	inputs        int
	// tuned and tunedTotal take arrays of 16 bytes.
	tuned, tunedTotal any
}

func newDot32(b *harness.Bench, n int) harness.Work {
	return newReduction[float32, [4]float32](b, n, reduction{"dot32", Dot32, Sum32, "sum32", 2, Dot32Best, Sum32Best})
}

func newDot64(b *harness.Bench, n int) harness.Work {
	return newReduction[float64, [2]float64](b, n, reduction{"dot64", Dot64, Sum64, "sum64", 2, Dot64Best, Sum64Best})
}

func newSum(b *harness.Bench, n int) harness.Work {
	return newReduction[float32, [4]float32](b, n, reduction{"sum32", Sum32, Sum32, "sum32", 1, Sum32Best, Sum32Best})
}

// newReduction prepares a reduction of n small whole numbers: every partial sum is exact. A
// vector V is 16 bytes of T; n and the number of blocks are multiples of their number in it.
func newReduction[T harness.Float, V any](b *harness.Bench, n int, r reduction) harness.Work {
	x := harness.Input(b, harness.Random(b, n, harness.Whole[T]))
	args, wide := []harness.Argument{x}, []harness.Argument{harness.As[V](x)}
	value := func(i int) float64 { return float64(x.Host[i]) }
	if r.inputs == 2 {
		y := harness.Input(b, harness.Random(b, n, harness.Whole[T]))
		args, wide = append(args, y), append(wide, harness.As[V](y))
		value = func(i int) float64 { return float64(x.Host[i]) * float64(y.Host[i]) }
	}
	grid := device.Cover(n, width)
	grid.Blocks.X = min(grid.Blocks.X, reduceBlocks)
	partial, sum := harness.Scratch[T](b, grid.Blocks.X), harness.Result(b, 1, harness.NaN[T]())
	parts := harness.Of(r.name, r.kernel, grid, append(args, partial)...)
	total := harness.Of(r.totalName, r.total, device.Cover(1, width), partial, sum)
	tuned := []harness.Launch{harness.Of(r.name, r.tuned, grid, append(wide, partial)...), harness.Of(r.totalName, r.tunedTotal, total.Grid, harness.As[V](partial), sum)}
	return harness.Work{
		Bytes: float64(r.inputs * n * harness.SizeOf[T]()),
		Ours:  []harness.Launch{parts, total},
		Tuned: tuned,
		Best:  []harness.Launch{parts.Best(parts.Grid), total.Best(total.Grid)},
		Check: func() error {
			return harness.Exactly(sum.Host, func(int) T { return T(sumOf(n, value)) })
		},
	}
}

// sumOf returns the sum of f(0) to f(n-1), which is exact.
func sumOf(n int, f func(i int) float64) float64 {
	var mu sync.Mutex
	var sum float64
	harness.InParallel(n, func(_, start, end int) {
		var part float64
		for i := start; i < end; i++ {
			part += f(i)
		}
		mu.Lock()
		sum += part
		mu.Unlock()
	})
	return sum
}
