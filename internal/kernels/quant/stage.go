package quant

import "github.com/gopherwarp/gopherwarp/gpu"

// stageQuads is the number of quads that a thread has requested when a block of threads copies a vector.
const stageQuads = 4

// stage copies the vectors to shared memory. They pass through registers, because a wait for asynchronous copies is also one for the
// weights that were requested before.
func (f *fewState[Q, N]) stage(t gpu.Thread, from elements) {
	var n N
	quads, threads := f.strip.count*(BlockSize/4), int32(t.BlockDimX())
	for v := range n.vectors() {
		at := min(int32(v), f.Vectors-1)*(f.Columns/4) + f.strip.first*(BlockSize/4)
		for first := int32(t.ThreadX() - t.Lane()); first < quads; first += stageQuads * threads {
			where := places(t, first)
			f.keep(t, int32(v), where, from.several(where, at, quads-1))
		}
	}
	t.Sync()
}

// places returns the quads that a thread copies at once, given the first one of its warp.
func places(t gpu.Thread, first int32) (where [stageQuads]int32) {
	for k := range where {
		where[k] = first + int32(k*t.BlockDimX()+t.Lane())
	}
	return where
}

// several returns quads with numbers up to last, all of which it requests at once.
func (s elements) several(where [stageQuads]int32, first, last int32) (x [stageQuads]numbers) {
	if len(s.half) == 0 {
		for k := range x {
			x[k] = s.single[first+min(where[k], last)]
		}
		return x
	}
	var h [stageQuads]halves
	for k := range x {
		h[k] = s.half[first+min(where[k], last)]
	}
	for k := range x {
		x[k] = numbers{h[k][0].Float32(), h[k][1].Float32(), h[k][2].Float32(), h[k][3].Float32()}
	}
	return x
}

// keep stores quads of a vector, and the sums that the minima need.
func (f *fewState[Q, N]) keep(t gpu.Thread, vector int32, where [stageQuads]int32, x [stageQuads]numbers) {
	var q Q
	var sums [stageQuads]float32
	if q.offset() {
		sums = overQuads(t, x, BlockSize/4/q.halves())
	}
	for k := range x {
		f.store(vector, where[k], x[k], sums[k])
	}
}

// store stores four elements of a vector, and the sum over a block or over half a block.
func (f *fewState[Q, N]) store(vector, i int32, x numbers, sum float32) {
	var q Q
	per := int32(q.quads())
	if i >= f.strip.units*per {
		return
	}
	to := f.near[(vector*f.strip.units+i/per)*(per+1):][:per+1]
	to[i%per] = x
	quads, half := per/int32(q.halves()), int32(0)
	if q.halves() == 2 {
		half = i % per / quads
	}
	if q.offset() && i%quads == 0 {
		to[per][half] = sum * f.Minimum
	}
}

// overQuads returns sums over n lanes, which have a block or half a block.
func overQuads(t gpu.Thread, x [stageQuads]numbers, n int) (sums [stageQuads]float32) {
	for k := range x {
		sums[k] = x[k][0] + x[k][1] + x[k][2] + x[k][3]
	}
	for distance := 1; distance < n; distance *= 2 {
		for k := range sums {
			sums[k] += gpu.ShuffleXor(t, sums[k], distance)
		}
	}
	return sums
}
