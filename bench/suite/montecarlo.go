package suite

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// throws is the number of points that a thread of monteCarlo throws.
const throws = 1024

// monteCarlo chooses random points in a square, and adds to hits[0] how many are in the inscribed
// quarter of a circle. Four times the share of hits is about pi.
//
//gpu:kernel
//gpu:block 256
func monteCarlo(t gpu.Thread, hits []uint64, seed uint32) {
	counts := gpu.Shared[[width]uint32](t)
	state := scramble(seed ^ uint32(t.GlobalX()))
	mine := uint32(0)
	for range throws {
		state = xorshift(state)
		x := float32(state>>8) * (1.0 / (1 << 24))
		state = xorshift(state)
		y := float32(state>>8) * (1.0 / (1 << 24))
		if x*x+y*y < 1 {
			mine++
		}
	}
	me := t.ThreadX()
	counts[me] = mine
	t.Sync()
	for half := width / 2; half > 0; half /= 2 {
		if me < half {
			counts[me] += counts[me+half]
		}
		t.Sync()
	}
	if me == 0 {
		gpu.AtomicAdd(&hits[0], uint64(counts[0]))
	}
}

// xorshift returns the number after s of a sequence that has all numbers but 0: Marsaglia,
// Xorshift RNGs (2003).
func xorshift(s uint32) uint32 {
	s ^= s << 13
	s ^= s >> 17
	s ^= s << 5
	return s
}

// scramble turns neighbouring numbers into ones that have nothing to do with each other and
// are not 0.
func scramble(s uint32) uint32 {
	s = (s ^ s>>16) * 0x45d9f3b
	s = (s ^ s>>16) * 0x45d9f3b
	return s ^ s>>16 | 1
}

// newMonteCarlo prepares that many threads, a multiple of the block.
func newMonteCarlo(b *harness.Bench, threads int) harness.Work {
	hits := harness.Result[uint64](b, 1, 0)
	seed := uint32(b.Seed())
	run := harness.Of("monteCarlo", MonteCarlo, device.Cover(threads, width), hits, harness.ByValue(seed))
	return harness.Work{
		Ours: []harness.Launch{run},
		Best: []harness.Launch{run.Best(run.Grid)},
		Check: func() error {
			points := float64(threads * throws)
			want := sumOf(threads, func(i int) float64 { return hitsOf(seed ^ uint32(i)) })
			// A product and a sum that are rounded once decide otherwise for points on the circle.
			if got := float64(hits.Host[0]); math.Abs(got-want) > points*1e-6 {
				return fmt.Errorf("%v hits of %v points, want %v", got, points, want)
			}
			if pi, sigma := 4*want/points, 1.65/math.Sqrt(points); math.Abs(pi-math.Pi) > 6*sigma {
				return fmt.Errorf("pi is %v: the random numbers are not random", pi)
			}
			return nil
		},
	}
}

// hitsOf counts the hits of the thread with a seed.
func hitsOf(seed uint32) (hits float64) {
	state := scramble(seed)
	for range throws {
		state = xorshift(state)
		x := float32(state>>8) / (1 << 24)
		state = xorshift(state)
		y := float32(state>>8) / (1 << 24)
		if x*x+y*y < 1 {
			hits++
		}
	}
	return hits
}
