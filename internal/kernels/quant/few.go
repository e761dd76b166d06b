package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	laneQuads = 4                    // quads of a unit that a lane loads: of four rows, and each fourth part of the columns
	laneRows  = tileRows / laneQuads // rows of a lane
	warpUnits = warpSize / laneQuads // units that a warp multiplies at once
	stepUnits = 2 * warpUnits        // units that a warp has requested
)

// width is how many vectors a kernel multiplies.
type width interface{ vectors() int }

// The numbers of vectors.
type (
	oneVector   struct{}
	twoVectors  struct{}
	fourVectors struct{}
)

func (oneVector) vectors() int   { return 1 }
func (twoVectors) vectors() int  { return 2 }
func (fourVectors) vectors() int { return 4 }

const maxVectors = 4

// totals are a lane's sums: by vector, then by row.
type totals [maxVectors * laneRows]float32

// fewState is the state of a thread of the kernel few.
type fewState[Q scalar, N width] struct {
	size
	of     fields
	strip  strip[Q]
	near   []numbers // vectors, each unit after the other, with the sums of its elements times the factor of the minima
	sums   []float32 // two times, the sums of the warps
	totals totals
	output output
}

// step multiplies the units that are requested, and requests the next ones. It has no loop, because batches are in registers.
func (f *fewState[Q, N]) step(t gpu.Thread, unit int32) {
	f.multiply(f.strip.ahead[0], unit)
	f.strip.request(t, f.size, f.of, 0)
	f.multiply(f.strip.ahead[1], unit+warpUnits)
	f.strip.request(t, f.size, f.of, 1)
	f.strip.advance(t)
}

// multiply adds the products of a batch, unless the slice has no such unit.
func (f *fewState[Q, N]) multiply(b share, unit int32) {
	var q Q
	var n N
	span := q.quads() + 1
	var x [maxVectors][]numbers
	for v := range n.vectors() {
		x[v] = f.near[(int32(v)*f.strip.units+min(unit, f.strip.units-1))*int32(span):][:span]
	}
	for half := range q.halves() {
		var dots totals
		for j := range b.planes {
			for k := range q.quads() / 4 / q.halves() {
				for r := range laneRows {
					w := q.numbers(&b, weightsOf{wordOf{j, half + k}, r}, f.Casts, f.of)
					for v := range n.vectors() {
						dots[v*laneRows+r] = dot(w, x[v][(half+k)*4+j], dots[v*laneRows+r])
					}
				}
			}
		}
		if unit >= f.strip.units { // here, because a test of what is loaded waits for it
			b.d, b.m = pair{}, pair{}
		}
		d, m := q.factors(&b, half, f.of)
		for v := range n.vectors() {
			for r := range laneRows {
				i := v*laneRows + r
				f.totals[i] = math32.FMA(d[r], dots[i], f.totals[i])
				if q.offset() {
					f.totals[i] = math32.FMA(m[r], x[v][span-1][half], f.totals[i])
				}
			}
		}
	}
}

// dot adds the products of the elements to a sum.
func dot(w, x numbers, sum float32) float32 {
	for i := range w {
		sum = math32.FMA(w[i], x[i], sum)
	}
	return sum
}

// fourOf returns four float16 numbers.
func fourOf(x pair) numbers {
	a, b := twoOf(x[0]), twoOf(x[1])
	return numbers{a[0], a[1], b[0], b[1]}
}

// few multiplies a matrix by up to four vectors. The next kernel's blocks may start at once, and request weights while they wait for this
// kernel.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:instance FewQ4Four = few[nibbles, fourVectors]
//gpu:instance FewQ8Two = few[bytes, twoVectors]
//gpu:instance FewQ8Four = few[bytes, fourVectors]
//gpu:instance FewMixedFour = few[mixed, fourVectors]
func few[Q scalar, N width](t gpu.Thread, planes []quad, scales, minima, groups []pair, x []numbers, half []halves, gain []numbers, y []float32, brief []dtype.BF16, z size, of fields) {
	t.StartNext()
	multiplyFew[Q, N](t, strip[Q]{planes: planes, scales: scales, minima: minima, groups: groups}, fewOperands{elements{x, half}, gain, output{y: y, half: brief}}, fewState[Q, N]{size: z, of: of})
}

// lone is few for one vector. GPUs without tensor cores for bfloat16, and GPUs of Vulkan, have it, too.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:instance FewQ4One = lone[nibbles]
//gpu:instance FewQ8One = lone[bytes]
//gpu:instance FewQ4KOne = lone[grouped]
//gpu:instance FewMixedOne = lone[mixed]
func lone[Q scalar](t gpu.Thread, planes []quad, scales, minima, groups []pair, x []numbers, half []halves, gain []numbers, y []float32, brief []dtype.BF16, z size, of fields) {
	t.StartNext()
	multiplyFew[Q, oneVector](t, strip[Q]{planes: planes, scales: scales, minima: minima, groups: groups}, fewOperands{elements{x, half}, gain, output{y: y, half: brief}}, fewState[Q, oneVector]{size: z, of: of})
}

// fewOperands are the vectors of the kernel few, with the gain of their norm, and its results.
type fewOperands struct {
	from elements
	gain []numbers
	output
}

// multiplyFew multiplies with weights that it converts to float32 in registers. A block of threads takes the tiles of 16 rows from BlockX on,
// and the slice BlockY of their columns, as dots does.
func multiplyFew[Q scalar, N width](t gpu.Thread, s strip[Q], x fewOperands, f fewState[Q, N]) {
	z := f.size
	s.all = z.Columns / BlockSize
	s.first = int32(t.BlockY()) * z.Share
	s.count = min(z.Share, s.all-s.first)
	s.units = s.count * perUnit[Q]()
	s.next = walk{int32(t.BlockX()), int32(t.Warp()) * stepUnits}
	for k := range s.ahead {
		s.request(t, z, f.of, k)
	}
	s.advance(t)
	f.strip = s
	f.output = x.output
	f.output.first = int32(t.BlockY()) * z.Vectors * z.Rows
	f.near = gpu.DynamicShared[numbers](t)[:z.Sums]
	f.sums = gpu.DynamicShared[float32](t)[4*z.Sums:]
	var n N
	if n.vectors() == 1 && len(x.gain) > 0 {
		f.stageNormalized(t, x.from.single, x.gain, z.Epsilon)
	} else {
		t.AwaitPrevious()
		f.stage(t, x.from)
	}
	for tile := int32(t.BlockX()); tile*tileRows < z.Rows; tile += int32(t.GridDimX()) {
		f.output.begin(t, z, tile)
		f.totals = totals{}
		for unit := int32(t.Warp()) * stepUnits; unit < s.units; unit += int32(t.BlockDimX()/warpSize) * stepUnits {
			f.step(t, unit+int32(t.Lane()/laneQuads))
		}
		f.finish(t)
	}
}

// overUnits returns the sum over the eight lanes that have the rows of the lane: of row lane/16*2 + lane/8%2 of the four. The first two
// exchanges halve the number of sums.
func overUnits(t gpu.Thread, sums numbers) float32 {
	if t.Lane()&16 != 0 {
		sums = numbers{sums[2], sums[3], sums[0], sums[1]}
	}
	a, b := sums[0]+gpu.ShuffleXor(t, sums[2], 16), sums[1]+gpu.ShuffleXor(t, sums[3], 16)
	if t.Lane()&8 != 0 {
		a, b = b, a
	}
	a += gpu.ShuffleXor(t, b, 8)
	return a + gpu.ShuffleXor(t, a, laneQuads)
}

// finish adds up what the warps have and stores it.
func (f *fewState[Q, N]) finish(t gpu.Thread) {
	var n N
	o := &f.output
	warps, span := int32(t.BlockDimX()/warpSize), int32(n.vectors()*tileRows)
	all := f.sums[o.odd*warps*span:][:warps*span]
	o.odd ^= 1
	to := all[int32(t.Warp())*span:][:span]
	row := t.Lane()%laneQuads*laneRows + t.Lane()/16*2 + t.Lane()/8%2
	for v := range n.vectors() {
		sum := overUnits(t, numbers(f.totals[v*laneRows:]))
		if t.Lane()&laneQuads == 0 {
			to[v*tileRows+row] = sum
		}
	}
	t.Sync()
	var sum float32
	if o.at >= 0 {
		for w := int32(t.ThreadX()) & (f.Lanes - 1); w < warps; w += f.Lanes {
			sum += all[w*span+int32(uint32(t.ThreadX())/uint32(f.Lanes))]
		}
	}
	o.store(t, sum, f.size)
}
