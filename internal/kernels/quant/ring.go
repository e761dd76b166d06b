package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	warpSize    = gpu.WarpSize
	chunkSize   = 8 // blocks that a warp copies and multiplies at once
	depth       = 3 // chunks of a warp in shared memory
	planeQuads  = 4 * tileRows / 4
	factorQuads = chunkSize * tileRows / 8
)

// chunkQuads returns the size of a chunk of 16 rows: planes with 4*words integers of a row of a block, scales and minima.
func chunkQuads(words int) int { return chunkSize*planeQuads*words + 2*factorQuads }

// source is a matrix in memory, in units of 16 bytes.
type source struct{ planes, scales, minima []quad }

// ring holds a warp's next chunks in shared memory, which are copied there asynchronously.
type ring[Q coding] struct {
	source
	near  []quad   // of the warp
	pairs []pair   // the same memory
	words []uint32 // the same memory
	next  walk     // the chunk to request next
	to    int32    // where
	from  int32    // the chunk to multiply next
}

// walk is a position in the chunks that a block of threads multiplies: a tile and, if the warp is the first one, the chunk of the slice.
type walk struct{ tile, chunk int32 }

// slice is the range of a row's blocks that a block of threads multiplies.
type slice struct{ first, count int32 }

// block returns the first block of a chunk in the slice. The last chunk overlaps its predecessor if the slice has a partial chunk.
func (s slice) block(chunk int32) int32 { return min(chunk*chunkSize, s.count-chunkSize) }

// has reports whether there is a chunk with a number.
func (s slice) has(chunk int32) bool { return chunk*chunkSize < s.count }

// ringOf returns the ring of the thread's warp at the beginning of the shared memory.
func ringOf[Q coding](t gpu.Thread, from source) (r ring[Q]) {
	var q Q
	size := depth * chunkQuads(q.words())
	r.source = from
	r.near = gpu.DynamicShared[quad](t)[t.Warp()*size:][:size]
	r.pairs = gpu.DynamicShared[pair](t)[t.Warp()*2*size:][:2*size]
	r.words = gpu.DynamicShared[uint32](t)[t.Warp()*4*size:][:4*size]
	r.next.tile = int32(t.BlockX())
	return r
}

// request copies the next chunk, if there is one.
func (r *ring[Q]) request(t gpu.Thread, z size, s slice) {
	var q Q
	warps, chunk := int32(t.BlockDimX()/warpSize), r.next.chunk+int32(t.Warp())
	if r.next.tile*tileRows < z.Rows && s.has(chunk) {
		r.copy(t, int(r.next.tile*(z.Columns/BlockSize)+s.first+s.block(chunk)))
	}
	t.CommitCopies()
	if r.next.chunk += warps; !s.has(r.next.chunk) {
		r.next = walk{r.next.tile + int32(t.GridDimX()), 0}
	}
	r.to = following(r.to, int32(chunkQuads(q.words())))
}

// following returns the place after a place in the ring.
func following(i, size int32) int32 {
	if i += size; i == depth*size {
		return 0
	}
	return i
}

// copy copies the chunk that begins with a block.
func (r *ring[Q]) copy(t gpu.Thread, block int) {
	var q Q
	planes := chunkSize * planeQuads * q.words()
	to := r.near[r.to:][:chunkQuads(q.words())]
	from := r.planes[block*planeQuads*q.words():][:planes]
	for i := 0; i < planes; i += warpSize {
		gpu.CopyAsync(t, &to[i+t.Lane()], &from[i+t.Lane()])
	}
	i := block * (tileRows / 8)
	factor := &r.scales[i:][:factorQuads][t.Lane()%factorQuads]
	if q.offset() {
		if minimum := &r.minima[i:][:factorQuads][t.Lane()%factorQuads]; t.Lane() >= factorQuads {
			factor = minimum
		}
	}
	if q.offset() || t.Lane() < factorQuads {
		gpu.CopyAsync(t, &to[planes+t.Lane()], factor)
	}
}

// await waits for the next chunk. The ring then has room for another one, as all lanes have multiplied the preceding one.
func (r *ring[Q]) await(t gpu.Thread) {
	t.WaitCopies(depth - 2)
	t.SyncWarp()
}

// advance goes on to the next chunk.
func (r *ring[Q]) advance() {
	var q Q
	r.from = following(r.from, int32(chunkQuads(q.words())))
}

// part is a lane's share of a chunk in the ring: of rows 2g and 2g+1 of a tile, where g is lane/4, the integers lane%4 of each block and,
// in Q8_0, lane%4 + 4.
type part[Q coding] struct {
	pairs []pair
	words []uint32
	place int
	row   int // of the scales, after which the minima follow
}

// lane returns the lane's share of the chunk to multiply next. The scales and minima of the first skip blocks become zero.
func (r *ring[Q]) lane(t gpu.Thread, skip int32) (p part[Q]) {
	var q Q
	factor := 4 * chunkSize * planeQuads * q.words()
	p.pairs = r.pairs[2*r.from:][:2*chunkQuads(q.words())]
	p.words = r.words[4*r.from:][:4*chunkQuads(q.words())]
	p.place, p.row = t.Lane()%4*(tileRows/2)+t.Lane()/4, factor+t.Lane()/4
	if skip > 0 {
		for i := t.Lane(); i < 4*factorQuads; i += warpSize {
			if i < int(skip)*(tileRows/2) {
				p.words[factor+i], p.words[factor+4*factorQuads+i] = 0, 0
			}
		}
		t.SyncWarp()
	}
	return p
}

// weights returns the integers of block k.
func (p *part[Q]) weights(k int) (w [2]pair) {
	var q Q
	for j := range q.words() {
		w[j] = p.pairs[(k*q.words()+j)*2*planeQuads+p.place]
	}
	return w
}

// factors are the scales and the minima of a block for rows 2g and 2g+1.
type factors struct{ d, m [2]float32 }

// factors returns those of block k.
func (p *part[Q]) factors(k int) (f factors) {
	var q Q
	f.d = twoOf(p.words[p.row+k*tileRows/2])
	if q.offset() {
		f.m = twoOf(p.words[p.row+4*factorQuads+k*tileRows/2])
	}
	return f
}

// twoOf returns two float16 numbers.
func twoOf(x uint32) [2]float32 {
	return [2]float32{dtype.F16(x).Float32(), dtype.F16(x >> 16).Float32()}
}
