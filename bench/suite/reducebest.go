package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// The kernels with Best in their names do what those without do, as someone writes it who wants all
// that the GPU has: slices of arrays of 16 bytes, which a thread loads at once, and sums in a
// warp by shuffles. The twins whose names end with _best do the same.

// warpSum returns the sum of v over the warp to all of its threads.
func warpSum[T float32 | float64 | uint32](t gpu.Thread, v T) T {
	for d := 16; d > 0; d /= 2 {
		v += gpu.ShuffleXor(t, v, d)
	}
	return v
}

// blockSum returns the sum of v over a block of width threads to all of them.
func blockSum[T float32 | float64 | uint32](t gpu.Thread, sums *[width / 32]T, v T) T {
	v = warpSum(t, v)
	me := t.ThreadX()
	if me%32 == 0 {
		sums[me/32] = v
	}
	t.Sync()
	v = 0
	if me%32 < len(sums) {
		v = sums[me%32]
	}
	return warpSum(t, v)
}

// sum32Best is like sum32, four numbers at a time.
//
//gpu:kernel
//gpu:block 256
func sum32Best(t gpu.Thread, x [][4]float32, partial []float32) {
	sums := gpu.Shared[[width / 32]float32](t)
	var sum float32
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * width {
		v := x[i]
		sum += (v[0] + v[1]) + (v[2] + v[3])
	}
	sum = blockSum(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// sum64Best is like sum64, two numbers at a time.
//
//gpu:kernel
//gpu:block 256
func sum64Best(t gpu.Thread, x [][2]float64, partial []float64) {
	sums := gpu.Shared[[width / 32]float64](t)
	var sum float64
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * width {
		v := x[i]
		sum += v[0] + v[1]
	}
	sum = blockSum(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// dot32Best is like dot32, four numbers at a time.
//
//gpu:kernel
//gpu:block 256
func dot32Best(t gpu.Thread, a, b [][4]float32, partial []float32) {
	sums := gpu.Shared[[width / 32]float32](t)
	var sum float32
	for i := t.GlobalX(); i < len(a); i += t.GridDimX() * width {
		x, y := a[i], b[i]
		sum += x[0]*y[0] + x[1]*y[1] + x[2]*y[2] + x[3]*y[3]
	}
	sum = blockSum(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// dot64Best is like dot64, two numbers at a time.
//
//gpu:kernel
//gpu:block 256
func dot64Best(t gpu.Thread, a, b [][2]float64, partial []float64) {
	sums := gpu.Shared[[width / 32]float64](t)
	var sum float64
	for i := t.GlobalX(); i < len(a); i += t.GridDimX() * width {
		x, y := a[i], b[i]
		sum += x[0]*y[0] + x[1]*y[1]
	}
	sum = blockSum(t, sums, sum)
	if t.ThreadX() == 0 {
		partial[t.BlockX()] = sum
	}
}

// histogramBest is like histogram, 16 bytes at a time.
//
//gpu:kernel
//gpu:block 256
func histogramBest(t gpu.Thread, data [][16]uint8, counts []uint32) {
	own := gpu.Shared[[bins]uint32](t)
	me := t.ThreadX()
	own[me] = 0
	t.Sync()
	for i := t.GlobalX(); i < len(data); i += t.GridDimX() * bins {
		v := data[i]
		for k := range v {
			gpu.AtomicAdd(&own[v[k]], 1)
		}
	}
	t.Sync()
	gpu.AtomicAdd(&counts[me], own[me])
}
