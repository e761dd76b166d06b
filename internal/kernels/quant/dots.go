package quant

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// size is the size of a product. Parts is the number of bfloat16 parts of an element: three if it is a float32, otherwise one. A block of
// threads multiplies Share blocks of rows. Lanes threads store an element. In shared memory, sums
// follow after Sums quads, and vectors after Before records (in the kernel few, at the beginning). In the kernel gemv, Before is the number of
// chunks of a warp. Minimum is the factor of the minima. If Add is set, products are added to y. If Gated is set, results are SwiGLU of the
// products of the first half of the rows, the gate, and of the second half.
type size struct {
	Rows, Columns, Vectors, Parts, Share, Lanes, Sums, Before int32
	Minimum, Epsilon                                          float32
	Add, Gated                                                bool
	Masks                                                     masks
	Casts                                                     casts
}

// sums are a thread's sums over blocks: of the products times scales, and of the minima times the negated sums of vectors. They are, by
// tile of columns, for columns 2i and 2i+1 of row 2g, where i is lane%4 and g lane/4, then of row 2g+1.
type sums struct{ dots, minima [maxTiles]numbers }

// product is the state of a thread.
type product[Q coding, R record] struct {
	size
	slice
	ring    ring[Q]
	vectors vectors[R]
	output  output
	sums    sums
}

// multiply adds the products of a chunk to the sums, except of blocks that the preceding chunk has, too.
func (p *product[Q, R]) multiply(t gpu.Thread, chunk int32) {
	first := p.block(chunk)
	near := p.vectors.records[first:][:chunkSize]
	from := p.ring.lane(t, chunk*chunkSize-first)
	var w [chunkSize][2]pair // an array, so that the compiler unrolls the loop
	for k := range w {
		w[k] = from.weights(k)
		p.add(t, w[k], &near[k], from.factors(k))
	}
}

// add adds the products of a block of the rows to the sums.
func (p *product[Q, R]) add(t gpu.Thread, w [2]pair, near *R, f factors) {
	var q Q
	var r R
	a := q.parts(w, p.Masks)
	for i := range r.tiles() {
		var x [floatParts]quad
		for j := range r.passes() {
			x[j] = (*near)[p.vectors.part[i]+4*j]
		}
		minus := p.minus(near, i)
		for half := range q.halves() {
			acc := started[Q](minus[half])
			n := q.count() / q.halves()
			for j := range r.passes() {
				for k := half * n; k < half*n+n; k++ {
					acc = gpu.MMA(t, a[k], columns(x[j], q.half(k)), acc)
				}
			}
			p.sums.add(int(i), half, f, acc)
		}
		if q.offset() {
			p.sums.subtract(int(i), f, minus[0])
		}
	}
}

// minus returns the negated sums of a tile's two columns of a thread: of the whole block, or of each half if halves have scales.
func (p *product[Q, R]) minus(near *R, tile uint32) (m [2][2]float32) {
	var q Q
	if q.start() == 0 {
		return m
	}
	x := (*near)[p.vectors.sum[tile]]
	m = [2][2]float32{{math.Float32frombits(x[0]), math.Float32frombits(x[1])}, {math.Float32frombits(x[2]), math.Float32frombits(x[3])}}
	if q.halves() == 1 {
		m[0][0] += m[1][0]
		m[0][1] += m[1][1]
	}
	return m
}

// started returns what products are added to, so that they are those of parts without what is too large.
func started[Q coding](minus [2]float32) numbers {
	var q Q
	a, b := q.start()*minus[0], q.start()*minus[1]
	return numbers{a, b, a, b}
}

// add adds the products of a block, or half a block, and a tile of columns.
func (s *sums) add(i, half int, f factors, acc numbers) {
	for j := range acc {
		s.dots[i][j] = math32.FMA(f.d[half][j/2], acc[j], s.dots[i][j])
	}
}

// subtract adds the products of the minima and the negated sums.
func (s *sums) subtract(i int, f factors, minus [2]float32) {
	for j := range s.minima[i] {
		s.minima[i][j] = math32.FMA(f.m[j/2], minus[j%2], s.minima[i][j])
	}
}

// dots multiplies a matrix by vectors. A block of threads takes the tiles of 16 rows from BlockX on, and the slice BlockY of their
// columns, of which each warp takes every n-th chunk of blocks. The result of slice i follows those of the slices before it in y.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:target sm_80
//gpu:twin off
//gpu:instance DotsQ4One = dots[nibbles, one]
//gpu:instance DotsQ4Eight = dots[nibbles, eight]
//gpu:instance DotsQ4Sixteen = dots[nibbles, sixteen]
//gpu:instance DotsQ4Thrice = dots[nibbles, thrice]
//gpu:instance DotsQ8One = dots[bytes, one]
//gpu:instance DotsQ8Eight = dots[bytes, eight]
//gpu:instance DotsQ8Sixteen = dots[bytes, sixteen]
//gpu:instance DotsQ8Thrice = dots[bytes, thrice]
//gpu:instance DotsQ4KOne = dots[grouped, one]
//gpu:instance DotsQ4KEight = dots[grouped, eight]
//gpu:instance DotsQ4KSixteen = dots[grouped, sixteen]
//gpu:instance DotsQ4KThrice = dots[grouped, thrice]
//gpu:instance DotsQ6KOne = dots[sixes, one]
//gpu:instance DotsQ6KEight = dots[sixes, eight]
//gpu:instance DotsQ6KSixteen = dots[sixes, sixteen]
//gpu:instance DotsQ6KThrice = dots[sixes, thrice]
func dots[Q coding, R record](t gpu.Thread, planes, scales, minima, groups []quad, x []numbers, half []halves, y []float32, brief []dtype.BF16, z size) {
	t.StartNext()
	p := product[Q, R]{size: z, slice: slice{first: int32(t.BlockY()) * z.Share}, ring: ringOf[Q](t, source{planes, scales, minima, groups})}
	p.count = min(z.Share, z.Columns/BlockSize-p.first)
	for range depth - 1 {
		p.ring.request(t, z, p.slice)
	}
	p.output = output{y: y, half: brief, first: int32(t.BlockY()) * z.Vectors * z.Rows}
	p.vectors = placed(t, z, gpu.DynamicShared[R](t)[z.Before:][:p.count])
	t.AwaitPrevious()
	p.vectors.stage(t, elements{x, half}, z, p.slice)
	for tile := int32(t.BlockX()); tile*tileRows < z.Rows; tile += int32(t.GridDimX()) {
		p.output.begin(t, z, tile)
		p.sums = sums{}
		for step := int32(0); p.has(step); step += int32(t.BlockDimX() / warpSize) {
			p.ring.await(t)
			p.ring.request(t, z, p.slice)
			if chunk := step + int32(t.Warp()); p.has(chunk) {
				p.multiply(t, chunk)
			}
			p.ring.advance()
		}
		p.finish(t)
	}
	t.WaitCopies(0)
}
