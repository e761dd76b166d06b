package selftest

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// width is the block of blockSums.
const width = 128

// blockSums stores in sums the sum of each block's elements of x.
//
//gpu:kernel
//gpu:block 128
func blockSums(t gpu.Thread, x, sums []int32) {
	part := gpu.Shared[[width]int32](t)
	i := t.ThreadX()
	part[i] = 0
	if g := t.GlobalX(); g < len(x) {
		part[i] = x[g]
	}
	for half := width / 2; half > 0; half /= 2 {
		t.Sync()
		if i < half {
			part[i] += part[i+half]
		}
	}
	if i == 0 {
		sums[t.BlockX()] = part[0]
	}
}

func checkReduce(s *session) error {
	x := make([]int32, 1000)
	want := make([]int32, 8)
	for i := range x {
		x[i] = int32(i*i - 700*i)
		want[i/width] += x[i]
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	sums, err := upload(s, make([]int32, len(want)))
	if err != nil {
		return err
	}
	if err := BlockSums(s.stream, device.Blocks{X: len(want)}, dx, sums); err != nil {
		return err
	}
	return expect(s, sums, want)
}

// tile is the block of transpose in both directions.
const tile = 16

// transpose stores the n x n matrix src in dst with rows and columns exchanged.
//
//gpu:kernel
//gpu:block 16,16
func transpose(t gpu.Thread, dst, src []float32, n int) {
	cell := gpu.Shared[[tile][tile + 1]float32](t)
	x, y := t.GlobalX(), t.GlobalY()
	if x < n && y < n {
		cell[t.ThreadY()][t.ThreadX()] = src[y*n+x]
	}
	t.Sync()
	x, y = t.BlockY()*tile+t.ThreadX(), t.BlockX()*tile+t.ThreadY()
	if x < n && y < n {
		dst[y*n+x] = cell[t.ThreadX()][t.ThreadY()]
	}
}

func checkTranspose(s *session) error {
	const n = 50
	src, want := make([]float32, n*n), make([]float32, n*n)
	for i := range src {
		src[i] = float32(i)
		want[i%n*n+i/n] = src[i]
	}
	dsrc, err := upload(s, src)
	if err != nil {
		return err
	}
	dst, err := upload(s, make([]float32, n*n))
	if err != nil {
		return err
	}
	if err := Transpose(s.stream, device.CoverBlocks(n, n, device.Dim{X: tile, Y: tile}), dst, dsrc, n); err != nil {
		return err
	}
	return expect(s, dst, want)
}

// histogram counts the bytes of x by their values, and adds them up.
//
//gpu:kernel
func histogram(t gpu.Thread, x []uint8, counts []uint32, sum []float64) {
	if i := t.GlobalX(); i < len(x) {
		gpu.AtomicAdd(&counts[x[i]], 1)
		gpu.AtomicAdd(&sum[0], float64(x[i]))
	}
}

func checkHistogram(s *session) error {
	x, want := make([]uint8, 5000), make([]uint32, 256)
	var total float64
	for i := range x {
		x[i] = uint8(i * i / 7)
		want[x[i]]++
		total += float64(x[i])
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	counts, err := upload(s, make([]uint32, 256))
	if err != nil {
		return err
	}
	sum, err := upload(s, make([]float64, 1))
	if err != nil {
		return err
	}
	if err := Histogram(s.stream, device.Cover(len(x), 256), dx, counts, sum); err != nil {
		return err
	}
	if err := expect(s, counts, want); err != nil {
		return err
	}
	return expect(s, sum, []float64{total})
}
