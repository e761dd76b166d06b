package public

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The sizes of tpacf.
const (
	tpacfThreads = 256
	tpacfWarps   = tpacfThreads / 32
	tpacfBins    = 22 // the first and the last are for what is out of range
	tpacfSets    = 32 // random sets of points
)

// direction is a point on the unit sphere.
type direction struct{ x, y, z float32 }

// tpacf counts the pairs of directions by their angle, for the angular correlation function of galaxies: the kernel
// of Parboil's tpacf. Block 0 compares the first set of n directions with itself. There are two more blocks for each
// random set: one compares the random set with itself, and one compares it with the first set. Blocks have 256 threads, a
// tile of one set in shared memory, and a histogram for each warp.
//
//gpu:kernel
//gpu:block 256
func tpacf(t gpu.Thread, sets []direction, bounds []float32, histograms []uint32, n int) {
	tile := gpu.Shared[[tpacfThreads]direction](t)
	counts := gpu.Shared[[tpacfBins * tpacfWarps]uint32](t)
	me, block := t.ThreadX(), t.BlockX()
	for i := me; i < tpacfBins*tpacfWarps; i += tpacfThreads {
		counts[i] = 0
	}
	self, one := block <= tpacfSets, sets[:n]
	var two []direction
	if self {
		one = sets[block*n : block*n+n]
		two = one
	} else {
		two = sets[(block-tpacfSets)*n : (block-tpacfSets)*n+n]
	}
	t.Sync()
	for i := 0; i < n; i += tpacfThreads {
		if i+me < n {
			tile[me] = one[i+me]
		}
		t.Sync()
		first := 0
		if self {
			first = i + 1
		}
		for j := first; j < n; j += tpacfThreads {
			if j+me >= n {
				continue
			}
			d := two[j+me]
			for k := 0; k < tpacfThreads && k+i < n; k++ {
				if self && k+i >= j+me {
					continue
				}
				dot := d.x*tile[k].x + d.y*tile[k].y + d.z*tile[k].z
				low, high := 0, tpacfBins-2
				for high > low+1 {
					middle := (low + high) / 2
					if dot >= bounds[middle] {
						high = middle
					} else {
						low = middle
					}
				}
				bin := high
				if dot >= bounds[low] {
					bin = low
				} else if dot < bounds[high] {
					bin = high + 1
				}
				gpu.AtomicAdd(&counts[bin*tpacfWarps+me/32], 1)
			}
		}
		t.Sync()
	}
	if me < tpacfBins {
		var sum uint32
		for w := range tpacfWarps {
			sum += counts[me*tpacfWarps+w]
		}
		histograms[block*tpacfBins+me] = sum
	}
}

// newTPACF prepares a set and 32 random sets of n directions. The bounds of the bins are cosines of logarithmic
// angles.
func newTPACF(b *harness.Bench, n int) harness.Work {
	sets := harness.Input(b, harness.Random(b, (tpacfSets+1)*n, func(r *rand.Rand, _ int) direction {
		z, angle := 2*r.Float64()-1, 2*math.Pi*r.Float64()
		side := math.Sqrt(1 - z*z)
		return direction{float32(side * math.Cos(angle)), float32(side * math.Sin(angle)), float32(z)}
	}))
	limits := make([]float32, tpacfBins-1)
	for i := range limits {
		limits[i] = float32(math.Cos(math.Pow(10, -1+float64(i)*0.1)))
	}
	bounds, blocks := harness.Input(b, limits), 2*tpacfSets+1
	histograms := harness.Result(b, blocks*tpacfBins, ^uint32(0))
	g := device.Grid{Blocks: device.Dim{X: blocks}, Block: device.Dim{X: tpacfThreads}}
	return harness.Work{
		Ours: []harness.Launch{harness.Of("tpacf", Tpacf, g, sets, bounds, histograms, harness.ByValue(n))},
		Check: func() error {
			return harness.Examine(blocks, 8, func(block int) error {
				one, two := sets.Host[block%(tpacfSets+1)*n:][:n], sets.Host[:n]
				if block <= tpacfSets {
					two = nil
				} else {
					one = sets.Host[(block-tpacfSets)*n:][:n]
				}
				return compareAngles(histograms.Host[block*tpacfBins:][:tpacfBins], angles(one, two, limits))
			})
		},
	}
}

// compareAngles compares histograms, in which few pairs may be in a neighbouring bin because of rounding.
func compareAngles(got []uint32, want []int) error {
	var total, moved int
	for bin, w := range want {
		total += w
		moved += max(int(got[bin])-w, w-int(got[bin]))
	}
	for _, g := range got {
		total -= int(g)
	}
	if total != 0 || moved > 16 {
		return fmt.Errorf("the histogram is %d, want %d", got, want)
	}
	return nil
}

// angles returns the histogram of the pairs of one set, or of two.
func angles(one, two []direction, bounds []float32) []int {
	counts := make([]int, len(bounds)+1)
	for i, a := range one {
		others := two
		if two == nil {
			others = one[i+1:]
		}
		for _, b := range others {
			dot := float64(a.x)*float64(b.x) + float64(a.y)*float64(b.y) + float64(a.z)*float64(b.z)
			bin := 0
			for bin < len(bounds) && dot < float64(bounds[bin]) {
				bin++
			}
			counts[bin]++
		}
	}
	return counts
}
