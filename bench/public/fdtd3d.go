package public

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The block of fdtd3d, and the points on each side of a point that it adds up.
const (
	volumeX      = 32
	volumeY      = 16
	volumeRadius = 4
)

// volumeShape has the distances between rows and between planes, and the number of planes that are computed.
type volumeShape struct{ row, plane, planes int }

// fdtd3d computes a step of finite differences with four points along each axis and direction: the kernel of CUDA's
// FDTD3d sample (Micikevicius 2009). A block of 32 x 16 threads computes plane after plane, with points of the planes
// before and after in registers, and its part of the plane in shared memory. The volume has a border of four points.
//
//gpu:kernel
//gpu:block 32,16
func fdtd3d(t gpu.Thread, from, to []float32, weights [volumeRadius + 1]float32, s volumeShape) {
	tile := gpu.Shared[[volumeY + 2*volumeRadius][volumeX + 2*volumeRadius]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	tx, ty := x+volumeRadius, y+volumeRadius
	in := (t.GlobalY()+volumeRadius)*s.row + t.GlobalX() + volumeRadius
	var before, after [volumeRadius]float32
	for i := volumeRadius - 2; i >= 0; i-- {
		before[i] = from[in]
		in += s.plane
	}
	current := from[in]
	out := in
	in += s.plane
	for i := range volumeRadius {
		after[i] = from[in]
		in += s.plane
	}
	for range s.planes {
		for i := volumeRadius - 1; i > 0; i-- {
			before[i] = before[i-1]
		}
		before[0] = current
		current = after[0]
		for i := range volumeRadius - 1 {
			after[i] = after[i+1]
		}
		after[volumeRadius-1] = from[in]
		in += s.plane
		out += s.plane
		t.Sync()
		if y < volumeRadius {
			tile[y][tx] = from[out-volumeRadius*s.row]
			tile[y+volumeY+volumeRadius][tx] = from[out+volumeY*s.row]
		}
		if x < volumeRadius {
			tile[ty][x] = from[out-volumeRadius]
			tile[ty][x+volumeX+volumeRadius] = from[out+volumeX]
		}
		tile[ty][tx] = current
		t.Sync()
		value := weights[0] * current
		for i := 1; i <= volumeRadius; i++ {
			value += weights[i] * (after[i-1] + before[i-1] + tile[ty-i][tx] + tile[ty+i][tx] + tile[ty][tx-i] + tile[ty][tx+i])
		}
		to[out] = value
	}
}

// newFDTD3D prepares two steps of a volume of n x n x n points; n is a multiple of 32.
func newFDTD3D(b *harness.Bench, n int) harness.Work {
	const steps = 2
	pitch := n + 2*volumeRadius
	size := pitch * pitch * pitch
	weights := [volumeRadius + 1]float32{0.4, 0.04, 0.03, 0.02, 0.01}
	first := harness.Input(b, harness.Random(b, size, harness.Signed))
	even, odd := harness.Result(b, size, harness.NaN[float32]()), harness.Scratch[float32](b, size)
	g := plane(n, n, device.Dim{X: volumeX, Y: volumeY})
	var ls []harness.Launch
	from, to := even, odd
	for range steps {
		ls = append(ls, harness.Of("fdtd3d", Fdtd3d, g, from, to, harness.ByValue(weights), harness.ByValue(volumeShape{pitch, pitch * pitch, n})))
		from, to = to, from
	}
	want := sync.OnceValue(func() []float32 {
		x := first.Host
		for range steps {
			x = differences(x, weights, pitch)
		}
		return x
	})
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			if err := restore(even, first)(s); err != nil {
				return err
			}
			return restore(odd, first)(s) // for its border
		},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 1}, even.Host, func(i int) float64 { return float64(want()[i]) })
		},
	}
}

// differences returns a volume with its border after a step.
func differences(from []float32, weights [volumeRadius + 1]float32, pitch int) []float32 {
	to := append([]float32(nil), from...)
	harness.InParallel(len(from), func(_, start, end int) {
		for at := start; at < end; at++ {
			x, y, z := at%pitch, at/pitch%pitch, at/(pitch*pitch)
			if min(x, y, z) < volumeRadius || max(x, y, z) >= pitch-volumeRadius {
				continue
			}
			sum := float64(weights[0]) * float64(from[at])
			for i := 1; i <= volumeRadius; i++ {
				for _, d := range [...]int{i, i * pitch, i * pitch * pitch} {
					sum += float64(weights[i]) * (float64(from[at-d]) + float64(from[at+d]))
				}
			}
			to[at] = float32(sum)
		}
	})
	return to
}
