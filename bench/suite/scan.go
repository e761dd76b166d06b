package suite

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// span is the number of elements that a block of scanBlocks scans, a thread one.
const span = 1024

// scanBlocks stores in y the running sums of x within each block of span elements, and in sums the
// sum of each block. Each step adds elements at twice the distance of the previous step: Hillis and
// Steele, Data parallel algorithms (1986).
//
//gpu:kernel
//gpu:block 1024
func scanBlocks(t gpu.Thread, x, y, sums []int32) {
	part := gpu.Shared[[span]int32](t)
	me, i := t.ThreadX(), t.GlobalX()
	var v int32
	if i < len(x) {
		v = x[i]
	}
	v = blockScan(t, part, v)
	if i < len(y) {
		y[i] = v
	}
	if me == span-1 {
		sums[t.BlockX()] = v
	}
}

// blockScan returns the sum of v of the block's threads up to this one.
func blockScan(t gpu.Thread, part *[span]int32, v int32) int32 {
	me := t.ThreadX()
	part[me] = v
	t.Sync()
	for distance := 1; distance < span; distance *= 2 {
		if me >= distance {
			v += part[me-distance]
		}
		t.Sync()
		part[me] = v
		t.Sync()
	}
	return v
}

// scanSums replaces each element of sums by the sum of the elements before it. A single block runs
// it; each thread adds consecutive elements.
//
//gpu:kernel
//gpu:block 1024
func scanSums(t gpu.Thread, sums []int32) {
	part := gpu.Shared[[span]int32](t)
	stretch := (len(sums) + span - 1) / span
	start := t.ThreadX() * stretch
	end := min(start+stretch, len(sums))
	var total int32
	for i := start; i < end; i++ {
		total += sums[i]
	}
	before := blockScan(t, part, total) - total
	for i := start; i < end; i++ {
		v := sums[i]
		sums[i] = before
		before += v
	}
}

// addOffsets adds to each element of y the sum of all blocks before its block.
//
//gpu:kernel
//gpu:block 1024
func addOffsets(t gpu.Thread, y, offsets []int32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] += offsets[t.BlockX()]
	}
}

// newScan prepares the running sums of n numbers, which wrap around.
func newScan(b *harness.Bench, n int) harness.Work {
	x := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) int32 { return int32(r.Uint32()) }))
	y := harness.Result[int32](b, n, 0x5ca1ab1e)
	grid := device.Cover(n, span)
	sums := harness.Scratch[int32](b, grid.Blocks.X)
	blocks := harness.Of("scanBlocks", ScanBlocks, grid, x, y, sums)
	offsets := harness.Of("scanSums", ScanSums, device.Cover(1, span), sums)
	add := harness.Of("addOffsets", AddOffsets, grid, y, sums)
	groups := harness.As[[4]int32](y)
	quarter := device.Grid{Blocks: grid.Blocks, Block: device.Dim{X: span / 4}}
	return harness.Work{
		Bytes: float64(8 * n),
		Ours:  []harness.Launch{blocks, offsets, add},
		Tuned: []harness.Launch{
			harness.Of("scanBlocksBest", ScanBlocksBest, quarter, harness.As[[4]int32](x), groups, sums),
			harness.Of("scanSumsBest", ScanSumsBest, offsets.Grid, sums),
			harness.Of("addOffsetsBest", AddOffsetsBest, quarter, groups, sums),
		},
		Best: []harness.Launch{blocks.Best(quarter), offsets.Best(offsets.Grid), add.Best(quarter)},
		Check: func() error {
			want := make([]int32, n)
			var sum int32
			for i, v := range x.Host {
				sum += v
				want[i] = sum
			}
			return harness.Exactly(y.Host, func(i int) int32 { return want[i] })
		},
	}
}
