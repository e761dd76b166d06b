package public

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The lattice of cutcp: cubes of coulombSide points along each side, which are coulombSpacing apart. A bin has the
// atoms of a cube.
const (
	coulombSide    = 8
	coulombSpacing = 0.5
	coulombCutoff  = 12
	coulombBin     = 8  // atoms
	coulombBins    = 16 // in shared memory
	coulombMargin  = 3  // bins around the lattice
)

// cutcp stores the Coulomb potential of the atoms within a cutoff at the points of a lattice, smoothed to be 0 at the
// cutoff: the kernel of Parboil's cutcp (Rodrigues and others 2008). A block of 8 x 8 x 2 threads computes a cube of 8
// x 8 x 8 points, four a thread. It loads 16 neighbouring bins of atoms at a time to shared memory. An atom is x, y, z
// and a charge. Offsets of bins are relative to the block's bin.
//
//gpu:kernel
//gpu:block 8,8,2
func cutcp(t gpu.Thread, atoms [][4]float32, offsets []int32, potential []float32, cubes int) {
	near := gpu.Shared[[coulombBins * coulombBin][4]float32](t)
	const cutoff2 = coulombCutoff * coulombCutoff
	side := cubes + 2*coulombMargin
	bin := ((t.BlockZ()+coulombMargin)*side+t.BlockY()+coulombMargin)*side + t.BlockX() + coulombMargin
	me := (t.ThreadZ()*8+t.ThreadY())*8 + t.ThreadX()
	x, y := t.BlockX()*coulombSide+t.ThreadX(), t.BlockY()*coulombSide+t.ThreadY()
	z := t.BlockZ()*coulombSide + t.ThreadZ()
	px, py, pz := coulombSpacing*float32(x), coulombSpacing*float32(y), coulombSpacing*float32(z)
	var sum [4]float32
	for first := 0; first < len(offsets); first += coulombBins {
		if k := first + me/coulombBin; k < len(offsets) {
			near[me] = atoms[(bin+int(offsets[k]))*coulombBin+me%coulombBin]
		}
		t.Sync()
		count := min(len(offsets)-first, coulombBins) * coulombBin
		for k := 0; k < count; k++ {
			a := near[k]
			dx, dy, dz := a[0]-px, a[1]-py, a[2]-pz
			plane := dx*dx + dy*dy
			for j := range sum {
				r2 := plane + dz*dz
				if r2 < cutoff2 {
					s := 1 - r2*(1.0/cutoff2)
					sum[j] += a[3] * math32.FastRsqrt(r2) * s * s
				}
				dz -= 2 * coulombSpacing
			}
		}
		t.Sync()
	}
	points := cubes * coulombSide
	for j := range sum {
		potential[((z+2*j)*points+y)*points+x] = sum[j]
	}
}

// newCutcp prepares a lattice of n x n x n cubes.
func newCutcp(b *harness.Bench, n int) harness.Work {
	const length = coulombSide * coulombSpacing
	side, points := n+2*coulombMargin, n*coulombSide
	atoms := harness.Input(b, harness.Random(b, side*side*side*coulombBin, func(r *rand.Rand, i int) [4]float32 {
		bin := i / coulombBin
		at := func(k int) float32 { return length * (float32(k-coulombMargin) + r.Float32()) }
		return [4]float32{at(bin % side), at(bin / side % side), at(bin / (side * side)), harness.Signed(r, 0)}
	}))
	offsets := harness.Input(b, coulombOffsets(side, length))
	potential := harness.Result(b, points*points*points, harness.NaN[float32]())
	g := device.Grid{Blocks: device.Dim{X: n, Y: n, Z: n}, Block: device.Dim{X: 8, Y: 8, Z: 2}}
	return harness.Work{
		Ours: []harness.Launch{harness.Of("cutcp", Cutcp, g, atoms, offsets, potential, harness.ByValue(n))},
		Check: func() error {
			c := harness.Comparison{Relative: 1e-4, Scale: 10, Most: 1 << 11}
			return harness.Compare(c, potential.Host, func(i int) (sum float64) {
				x, y, z := i%points, i/points%points, i/(points*points)
				bin := ((z/coulombSide+coulombMargin)*side+y/coulombSide+coulombMargin)*side + x/coulombSide + coulombMargin
				for _, o := range offsets.Host {
					for _, a := range atoms.Host[(bin+int(o))*coulombBin:][:coulombBin] {
						sum += coulomb(a, [3]float64{float64(x) * coulombSpacing, float64(y) * coulombSpacing, float64(z) * coulombSpacing})
					}
				}
				return sum
			})
		},
	}
}

// coulomb returns the potential of an atom at a place.
func coulomb(a [4]float32, place [3]float64) float64 {
	var r2 float64
	for k, v := range place {
		r2 += (float64(a[k]) - v) * (float64(a[k]) - v)
	}
	s := max(1-r2/(coulombCutoff*coulombCutoff), 0)
	return float64(a[3]) / math.Sqrt(r2) * s * s
}

// coulombOffsets returns the offsets of the bins, of some length, that are within the cutoff of a cube's.
func coulombOffsets(side int, length float64) (offsets []int32) {
	gap := func(k int) float64 { return length * float64(max(k, -k, 1)-1) }
	for z := -coulombMargin; z <= coulombMargin; z++ {
		for y := -coulombMargin; y <= coulombMargin; y++ {
			for x := -coulombMargin; x <= coulombMargin; x++ {
				if gap(x)*gap(x)+gap(y)*gap(y)+gap(z)*gap(z) < coulombCutoff*coulombCutoff {
					offsets = append(offsets, int32((z*side+y)*side+x))
				}
			}
		}
	}
	return offsets
}
