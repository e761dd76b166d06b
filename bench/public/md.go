package public

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// ljNeighbours is the number of neighbours of an atom.
const ljNeighbours = 128

// ljForce are the constants of the force of Lennard-Jones.
type ljForce struct{ cutoff2, lj1, lj2 float32 }

// md stores the force on each atom by its neighbours, for the potential of Lennard-Jones. It is the kernel of SHOC's md,
// with a thread for each atom and blocks of 256. The list has the first neighbour of each atom, then the second of each, and so
// on. A place is x, y, z and an unused number.
//
//gpu:kernel
//gpu:block 256
func md(t gpu.Thread, places [][4]float32, list []int32, forces [][4]float32, c ljForce) {
	i := t.GlobalX()
	if i >= len(places) {
		return
	}
	me := places[i]
	var fx, fy, fz float32
	for j := range ljNeighbours {
		other := places[list[j*len(places)+i]]
		dx, dy, dz := me[0]-other[0], me[1]-other[1], me[2]-other[2]
		r2 := dx*dx + dy*dy + dz*dz
		if r2 < c.cutoff2 {
			r2 = 1 / r2
			r6 := r2 * r2 * r2
			force := r2 * r6 * (c.lj1*r6 - c.lj2)
			fx += dx * force
			fy += dy * force
			fz += dz * force
		}
	}
	forces[i] = [4]float32{fx, fy, fz, 0}
}

// newMD prepares side x side x side atoms near the points of a grid. The neighbours of an atom are those less than
// three points away along each axis, and four more.
func newMD(b *harness.Bench, side int) harness.Work {
	n := side * side * side
	places := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, i int) [4]float32 {
		at := func(k int) float32 { return float32(k) + 0.2*r.Float32() }
		return [4]float32{at(i % side), at(i / side % side), at(i / (side * side))}
	}))
	list := harness.Input(b, ljList(side))
	nan := harness.NaN[float32]()
	forces, c := harness.Result(b, n, [4]float32{nan, nan, nan, nan}), ljForce{9, 1.5, 2}
	return harness.Work{
		Ours: []harness.Launch{harness.Of("md", Md, device.Cover(n, 256), places, list, forces, harness.ByValue(c))},
		Check: func() error {
			return harness.Examine(n, 1<<14, func(i int) error {
				want, border := c.on(places.Host, list.Host, i)
				for axis, w := range want {
					if got := float64(forces.Host[i][axis]); !(math.Abs(got-w) <= 1e-4*max(1, math.Abs(w))+border) {
						return fmt.Errorf("force %d along axis %d is %v, want %v", i, axis, got, w)
					}
				}
				return nil
			})
		},
	}
}

// ljList returns the list of neighbours.
func ljList(side int) []int32 {
	offsets := make([][3]int, 0, ljNeighbours)
	for i := range 125 {
		if i != 62 {
			offsets = append(offsets, [3]int{i%5 - 2, i/5%5 - 2, i/25 - 2})
		}
	}
	offsets = append(offsets, [3]int{3, 0, 0}, [3]int{-3, 0, 0}, [3]int{0, 3, 0}, [3]int{0, -3, 0})
	n := side * side * side
	list := make([]int32, ljNeighbours*n)
	for j, o := range offsets {
		for i := range n {
			x, y, z := (i%side+o[0]+side)%side, (i/side%side+o[1]+side)%side, (i/(side*side)+o[2]+side)%side
			list[j*n+i] = int32((z*side+y)*side + x)
		}
	}
	return list
}

// on returns the force on atom i in float64, and how much the neighbours contribute at most whose distance is the
// cutoff but for rounding: a kernel may include them or not.
func (c ljForce) on(places [][4]float32, list []int32, i int) (f [3]float64, border float64) {
	for j := range ljNeighbours {
		other, r2 := places[list[j*len(places)+i]], 0.0
		var d [3]float64
		for k := range d {
			d[k] = float64(places[i][k]) - float64(other[k])
			r2 += d[k] * d[k]
		}
		r6 := 1 / (r2 * r2 * r2)
		force := r6 / r2 * (float64(c.lj1)*r6 - float64(c.lj2))
		cutoff := float64(c.cutoff2)
		if math.Abs(r2-cutoff) < 1e-5*cutoff {
			border += math.Abs(force) * math.Sqrt(r2)
		}
		if r2 < cutoff {
			for k := range f {
				f[k] += d[k] * force
			}
		}
	}
	return f, border
}
