package suite

import (
	"math/rand/v2"
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// bins is the number of values that a byte has.
const bins = 256

// histogram adds to counts how often each value occurs in data. A block counts in shared memory the
// bytes that its threads read, in strides of the grid, and adds its counts at the end.
//
//gpu:kernel
//gpu:block 256
func histogram(t gpu.Thread, data []uint8, counts []uint32) {
	own := gpu.Shared[[bins]uint32](t)
	me := t.ThreadX()
	own[me] = 0
	t.Sync()
	for i := t.GlobalX(); i < len(data); i += t.GridDimX() * bins {
		gpu.AtomicAdd(&own[data[i]], 1)
	}
	t.Sync()
	gpu.AtomicAdd(&counts[me], own[me])
}

// newHistogram prepares the histogram of n bytes.
func newHistogram(b *harness.Bench, n int) harness.Work {
	data := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) uint8 { return uint8(r.Uint32()) }))
	counts := harness.Result[uint32](b, bins, 0)
	grid := device.Cover(n, bins)
	grid.Blocks.X = min(grid.Blocks.X, reduceBlocks)
	run := harness.Of("histogram", Histogram, grid, data, counts)
	return harness.Work{
		Bytes: float64(n),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{harness.Of("histogramBest", HistogramBest, grid, harness.As[[16]uint8](data), counts)},
		Best:  []harness.Launch{run.Best(grid)},
		Check: func() error {
			want := countBytes(data.Host)
			return harness.Exactly(counts.Host, func(i int) uint32 { return want[i] })
		},
	}
}

func countBytes(data []uint8) (counts [bins]uint32) {
	var mu sync.Mutex
	harness.InParallel(len(data), func(_, start, end int) {
		var part [bins]uint32
		for _, v := range data[start:end] {
			part[v]++
		}
		mu.Lock()
		for i, n := range part {
			counts[i] += n
		}
		mu.Unlock()
	})
	return counts
}
