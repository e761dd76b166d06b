package suite

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// span is the number of elements that a block of scanBlocks scans, a thread one.
const span = 1024

// scanBlocks stores in y the running sums of x within each block of span elements, and in sums the
// sum of each block. Each step adds the element twice as far away as the step before: Hillis and
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

// scanSums turns sums into the running sums before each element. A single block runs it; each
// thread takes a stretch.
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

// addOffsets adds to each element of y the sum of all blocks before its own.
//
//gpu:kernel
//gpu:block 1024
func addOffsets(t gpu.Thread, y, offsets []int32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] += offsets[t.BlockX()]
	}
}

// newScan prepares the running sums of n numbers, which wrap around.
func newScan(b *bench, n int) work {
	x := input(b, random(b, n, func(r *rand.Rand, _ int) int32 { return int32(r.Uint32()) }))
	y := result[int32](b, n, 0x5ca1ab1e)
	grid := device.Cover(n, span)
	sums := scratch[int32](b, grid.Blocks.X)
	blocks := launch{"scanBlocks", ScanBlocks, grid, []argument{x, y, sums}}
	offsets := launch{"scanSums", ScanSums, device.Cover(1, span), []argument{sums}}
	add := launch{"addOffsets", AddOffsets, grid, []argument{y, sums}}
	groups := as[[4]int32](y)
	quarter := device.Grid{Blocks: grid.Blocks, Block: device.Dim{X: span / 4}}
	return work{
		bytes: float64(8 * n),
		ours:  []launch{blocks, offsets, add},
		tuned: []launch{
			{"scanBlocks", ScanBlocksBest, quarter, []argument{as[[4]int32](x), groups, sums}},
			{"scanSums", ScanSumsBest, offsets.grid, offsets.args},
			{"addOffsets", AddOffsetsBest, quarter, []argument{groups, sums}},
		},
		best: []launch{blocks.twin("scanBlocks_best", quarter), offsets.twin("scanSums_best", offsets.grid), add.twin("addOffsets_best", quarter)},
		check: func() error {
			want := make([]int32, n)
			var sum int32
			for i, v := range x.host {
				sum += v
				want[i] = sum
			}
			return exactly(y.host, func(i int) int32 { return want[i] })
		},
	}
}
