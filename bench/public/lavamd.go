package public

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// lavaParticles is the number of particles in a box.
const lavaParticles = 100

// lavaThreads is the number of threads in a block.
const lavaThreads = 128

// lavaPoint is a place, or a force, with a fourth component.
type lavaPoint struct{ v, x, y, z float64 }

// lavaNeighbour is a box that touches another.
type lavaNeighbour struct {
	x, y, z, number int32
	offset          int64 // of its first particle
}

// lavaBox is a cube that contains particles.
type lavaBox struct {
	x, y, z, number int32
	offset          int64 // of its first particle
	count           int32
	neighbours      [26]lavaNeighbour
}

// lavaMD adds to the force on each particle the forces of the particles in its box and in neighbouring boxes. A block
// computes a box, and loads the neighbouring boxes to shared memory, one after another. It is the kernel of Rodinia's
// lavaMD, in float64, with blocks of 128 threads and 100 particles a box.
//
//gpu:kernel
//gpu:block 128
func lavaMD(t gpu.Thread, boxes []lavaBox, places []lavaPoint, charges []float64, forces []lavaPoint, alpha float64) {
	own := gpu.Shared[[lavaParticles]lavaPoint](t)
	other := gpu.Shared[[lavaParticles]lavaPoint](t)
	charge := gpu.Shared[[lavaParticles]float64](t)
	box := t.BlockX()
	a2 := 2 * alpha * alpha
	first := int(boxes[box].offset)
	for i := t.ThreadX(); i < lavaParticles; i += lavaThreads {
		own[i] = places[first+i]
	}
	t.Sync()
	for k := range 1 + int(boxes[box].count) {
		from := first
		if k > 0 {
			from = int(boxes[box].neighbours[k-1].offset)
		}
		for i := t.ThreadX(); i < lavaParticles; i += lavaThreads {
			other[i] = places[from+i]
			charge[i] = charges[from+i]
		}
		t.Sync()
		for i := t.ThreadX(); i < lavaParticles; i += lavaThreads {
			for j := range lavaParticles {
				r2 := own[i].v + other[j].v - (own[i].x*other[j].x + own[i].y*other[j].y + own[i].z*other[j].z)
				vij := math.Exp(-a2 * r2)
				fs := 2 * vij
				dx, dy, dz := own[i].x-other[j].x, own[i].y-other[j].y, own[i].z-other[j].z
				f := &forces[first+i]
				f.v += charge[j] * vij
				f.x += charge[j] * (fs * dx)
				f.y += charge[j] * (fs * dy)
				f.z += charge[j] * (fs * dz)
			}
		}
		t.Sync()
	}
}

// newLavaMD prepares n x n x n boxes.
func newLavaMD(b *harness.Bench, n int) harness.Work {
	const alpha = 0.5
	boxes := harness.Input(b, lavaBoxes(n))
	size := len(boxes.Host) * lavaParticles
	tenths := func(r *rand.Rand) float64 { return float64(1+r.IntN(10)) / 10 }
	places := harness.Input(b, harness.Random(b, size, func(r *rand.Rand, _ int) lavaPoint {
		return lavaPoint{tenths(r), tenths(r), tenths(r), tenths(r)}
	}))
	charges := harness.Input(b, harness.Random(b, size, func(r *rand.Rand, _ int) float64 { return tenths(r) }))
	zeros, forces := harness.Scratch[lavaPoint](b, size), harness.Result(b, size, lavaPoint{})
	particles := lavaSet{places.Host, charges.Host, alpha}
	g := device.Grid{Blocks: device.Dim{X: len(boxes.Host)}, Block: device.Dim{X: lavaThreads}}
	return harness.Work{
		Ours:    []harness.Launch{harness.Of("lavaMD", LavaMD, g, boxes, places, charges, forces, harness.ByValue(float64(alpha)))},
		Restore: restore(forces, zeros),
		Check: func() error {
			return harness.Examine(size, 1<<13, func(i int) error {
				want := particles.force(boxes.Host[i/lavaParticles], places.Host[i])
				got := forces.Host[i]
				c := harness.Comparison{Relative: 1e-9, Scale: 1}
				return harness.Compare(c, []float64{got.v, got.x, got.y, got.z}, func(k int) float64 { return want[k] })
			})
		},
	}
}

// lavaBoxes returns n x n x n boxes with their neighbours.
func lavaBoxes(n int) []lavaBox {
	boxes := make([]lavaBox, n*n*n)
	for i := range boxes {
		x, y, z := i%n, i/n%n, i/(n*n)
		box := lavaBox{x: int32(x), y: int32(y), z: int32(z), number: int32(i), offset: int64(i * lavaParticles)}
		for j := range 27 {
			nx, ny, nz := x+j%3-1, y+j/3%3-1, z+j/9-1
			if j == 13 || min(nx, ny, nz) < 0 || max(nx, ny, nz) >= n {
				continue
			}
			number := (nz*n+ny)*n + nx
			box.neighbours[box.count] = lavaNeighbour{int32(nx), int32(ny), int32(nz), int32(number), int64(number * lavaParticles)}
			box.count++
		}
		boxes[i] = box
	}
	return boxes
}

// lavaSet is all particles, for plain Go.
type lavaSet struct {
	places  []lavaPoint
	charges []float64
	alpha   float64
}

// force returns the force on a particle of a box.
func (s lavaSet) force(box lavaBox, me lavaPoint) (f [4]float64) {
	add := func(offset int64) {
		for j := range lavaParticles {
			p, q := s.places[int(offset)+j], s.charges[int(offset)+j]
			r2 := me.v + p.v - (me.x*p.x + me.y*p.y + me.z*p.z)
			v := math.Exp(-2 * s.alpha * s.alpha * r2)
			f[0] += q * v
			f[1] += q * 2 * v * (me.x - p.x)
			f[2] += q * 2 * v * (me.y - p.y)
			f[3] += q * 2 * v * (me.z - p.z)
		}
	}
	add(box.offset)
	for _, n := range box.neighbours[:box.count] {
		add(n.offset)
	}
	return f
}
