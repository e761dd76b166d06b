package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// body is a point with a mass.
type body struct{ x, y, z, mass float32 }

// vector is an acceleration.
type vector struct{ x, y, z float32 }

// softening keeps bodies that meet from an infinite acceleration.
const softening = 1e-3

// nbody stores the acceleration of every body by all bodies. A block reads the bodies in tiles, to shared memory. The
// number of bodies is a multiple of the block's threads.
//
//gpu:kernel
//gpu:block 256
func nbody(t gpu.Thread, bodies []body, result []vector) {
	near := gpu.Shared[[width]body](t)
	i := t.GlobalX()
	me := bodies[i]
	var sum vector
	for start := 0; start < len(bodies); start += width {
		near[t.ThreadX()] = bodies[start+t.ThreadX()]
		t.Sync()
		for j := range width {
			sum = attract(sum, me, near[j])
		}
		t.Sync()
	}
	result[i] = sum
}

// attract adds to sum the acceleration of a by b. The root is the fast one, as rsqrtf is in its twins.
func attract(sum vector, a, b body) vector {
	dx, dy, dz := b.x-a.x, b.y-a.y, b.z-a.z
	inverse := math32.FastRsqrt(dx*dx + dy*dy + dz*dz + softening)
	f := b.mass * inverse * inverse * inverse
	return vector{sum.x + f*dx, sum.y + f*dy, sum.z + f*dz}
}

// newNBody prepares n bodies in a cube, a multiple of the block. An interaction counts as 20
// floating-point operations, as is the custom.
func newNBody(b *harness.Bench, n int) harness.Work {
	bodies := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) body {
		return body{harness.Signed(r, 0), harness.Signed(r, 0), harness.Signed(r, 0), (0.5 + r.Float32()) / float32(n)}
	}))
	none := harness.NaN[float32]()
	sums := harness.Result(b, n, vector{none, none, none})
	run := harness.Of("nbody", Nbody, device.Cover(n, width), bodies, sums)
	return harness.Work{
		Bytes: float64(28 * n),
		Flops: 20 * float64(n) * float64(n),
		Ours:  []harness.Launch{run},
		Best:  []harness.Launch{run.Best(run.Grid)},
		Check: func() error {
			return harness.Examine(n, 1024, func(i int) error {
				want, got := accelerationOf(bodies.Host, i), sums.Host[i]
				for axis, g := range [...]float32{got.x, got.y, got.z} {
					if d := math.Abs(float64(g) - want[axis]); !(d <= 1e-4) {
						return fmt.Errorf("acceleration %d along axis %d is %v, want %v", i, axis, g, want[axis])
					}
				}
				return nil
			})
		},
	}
}

// accelerationOf computes in float64 what the kernel does in float32.
func accelerationOf(bodies []body, i int) (sum [3]float64) {
	me := bodies[i]
	for _, b := range bodies {
		d := [3]float64{float64(b.x) - float64(me.x), float64(b.y) - float64(me.y), float64(b.z) - float64(me.z)}
		f := float64(b.mass) * math.Pow(d[0]*d[0]+d[1]*d[1]+d[2]*d[2]+softening, -1.5)
		for axis := range sum {
			sum[axis] += f * d[axis]
		}
	}
	return sum
}
