package quant

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	warpSize    = gpu.WarpSize
	chunkSize   = 8 // blocks that a warp copies and multiplies at once
	depth       = 3 // chunks of a warp in shared memory
	factorQuads = chunkSize * tileRows / 8
)

// Of blocks with groups, a chunk has the scales, the minima and the groups of a superblock in the place of scales and minima.
const (
	superQuads  = tileRows / 8               // scales of a superblock
	groupsAfter = factorQuads                // from the scales on
	groupPairs  = superBlocks * tileRows / 2 // groups of two neighbouring rows
)

// ringQuads returns the size of a warp's ring, after which, of blocks with groups, a quad of factors follows for each two rows of a block.
func ringQuads(planes int, grouped bool) int {
	n := depth * chunkQuads(planes)
	if grouped {
		n += groupPairs
	}
	return n
}

// chunkQuads returns the size of a chunk of 16 rows: planes of its blocks, scales and minima.
func chunkQuads(planes int) int { return planeQuads(planes) + 2*factorQuads }

// planeQuads returns the size of the planes of a chunk.
func planeQuads(planes int) int { return chunkSize * planes * tileRows / 4 }

// planesOf returns the number of planes of a block.
func planesOf[Q coding]() int { var q Q; return int(q.planes(fields{})) }

// source is a matrix in memory, in units of 16 bytes.
type source struct{ planes, scales, minima, groups []quad }

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
	size := ringQuads(planesOf[Q](), q.grouped())
	r.source = from
	r.near = gpu.DynamicShared[quad](t)[t.Warp()*size:][:size]
	r.pairs = gpu.DynamicShared[pair](t)[t.Warp()*2*size:][:2*size]
	r.words = gpu.DynamicShared[uint32](t)[t.Warp()*4*size:][:4*size]
	r.next.tile = int32(t.BlockX())
	return r
}

// request copies the next chunk, if there is one.
func (r *ring[Q]) request(t gpu.Thread, z size, s slice) {
	warps, chunk := int32(t.BlockDimX()/warpSize), r.next.chunk+int32(t.Warp())
	if r.next.tile*tileRows < z.Rows && s.has(chunk) {
		r.copy(t, int(r.next.tile*(z.Columns/BlockSize)+s.first+s.block(chunk)))
	}
	t.CommitCopies()
	if r.next.chunk += warps; !s.has(r.next.chunk) {
		r.next = walk{r.next.tile + int32(t.GridDimX()), 0}
	}
	r.to = following(r.to, int32(chunkQuads(planesOf[Q]())))
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
	planes := planeQuads(planesOf[Q]())
	to := r.near[r.to:][:chunkQuads(planesOf[Q]())]
	from := r.planes[block*(planes/chunkSize):][:planes]
	for i := 0; i < planes; i += warpSize {
		gpu.CopyAsync(t, &to[i+t.Lane()], &from[i+t.Lane()])
	}
	if q.grouped() {
		r.copyGroups(t, to[planes:], block/superBlocks)
		return
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

// copyGroups copies the scales, minima and groups of a superblock of each row.
func (r *ring[Q]) copyGroups(t gpu.Thread, to []quad, super int) {
	var q Q
	lane := t.Lane()
	if lane < 2*factorQuads-groupsAfter {
		gpu.CopyAsync(t, &to[groupsAfter+lane], &r.groups[super*superBlocks*superQuads+lane])
	} else if i := lane - groupsAfter; i < superQuads {
		gpu.CopyAsync(t, &to[i], &r.scales[super*superQuads+i])
	} else if q.offset() && i < 2*superQuads {
		gpu.CopyAsync(t, &to[i], &r.minima[(super-1)*superQuads+i])
	}
}

// await waits for the next chunk. The ring then has room for another one, as all lanes have multiplied the preceding one.
func (r *ring[Q]) await(t gpu.Thread) {
	t.WaitCopies(depth - 2)
	t.SyncWarp()
}

// advance goes on to the next chunk.
func (r *ring[Q]) advance() {
	r.from = following(r.from, int32(chunkQuads(planesOf[Q]())))
}

// part is a lane's share of a chunk in the ring: of rows 2g and 2g+1 of a tile, where g is lane/4, the integers lane%4 of each block and,
// in some formats, a second one.
type part[Q coding] struct {
	pairs         []pair
	words         []uint32
	near          []quad // of blocks with groups
	place, second int
	shift         uint32 // of the second integer
	row           int    // of the scales, after which the minima follow
}

// lane returns the lane's share of the chunk to multiply next. The scales and minima of the first skip blocks become zero.
func (r *ring[Q]) lane(t gpu.Thread, skip int32) (p part[Q]) {
	var q Q
	factor, size := 4*planeQuads(planesOf[Q]()), chunkQuads(planesOf[Q]())
	p.pairs = r.pairs[2*r.from:][:2*size]
	p.words = r.words[4*r.from:][:4*size]
	i, g := t.Lane()%4, t.Lane()/4
	p.place, p.second, p.shift, p.row = i*(tileRows/2)+g, q.upper(i)*(tileRows/2)+g, q.shift(i), factor+g
	if !q.grouped() && skip > 0 { // chunks of superblocks do not overlap
		for i := t.Lane(); i < 4*factorQuads; i += warpSize {
			if i < int(skip)*(tileRows/2) {
				p.words[factor+i], p.words[factor+4*factorQuads+i] = 0, 0
			}
		}
		t.SyncWarp()
	}
	if q.grouped() {
		p.near = r.near[depth*size:][:groupPairs]
		p.convert(t)
		p.near = p.near[g:]
	}
	return p
}

// convert computes the factors of a superblock. A lane computes those of two rows of two blocks, and reads those of eight.
func (p *part[Q]) convert(t gpu.Thread) {
	var q Q
	row := p.row - t.Lane()/4 + t.Lane()%8
	d := twoOf(p.words[row])
	var m [2]float32
	if q.offset() {
		m = twoOf(p.words[row+4*superQuads])
	}
	for i := t.Lane(); i < groupPairs; i += warpSize {
		f := q.scale(d, m, p.words[row-t.Lane()%8+4*groupsAfter+i])
		p.near[i] = quad{math.Float32bits(f[0]), math.Float32bits(f[1]), math.Float32bits(f[2]), math.Float32bits(f[3])}
	}
	t.SyncWarp()
}

// weights returns the integers of block k.
func (p *part[Q]) weights(k int) (w [2]pair) {
	var q Q
	block := k * planesOf[Q]() * (tileRows / 2)
	w[0] = p.pairs[block+p.place]
	if q.words() == 2 {
		w[1] = p.pairs[block+p.second]
		w[1][0] >>= p.shift
		w[1][1] >>= p.shift
	}
	return w
}

// factors are the scales of a block or of its halves, and the minima of the block, for rows 2g and 2g+1.
type factors struct {
	d [2][2]float32
	m [2]float32
}

// factors returns those of block k.
func (p *part[Q]) factors(k int) (f factors) {
	var q Q
	if q.grouped() {
		x := p.near[k*(tileRows/2)]
		first, second := [2]float32{math.Float32frombits(x[0]), math.Float32frombits(x[1])}, [2]float32{math.Float32frombits(x[2]), math.Float32frombits(x[3])}
		f.d[0] = first
		if q.halves() == 2 {
			f.d[1] = second
		} else {
			f.m = second
		}
		return f
	}
	f.d[0] = twoOf(p.words[p.row+k*tileRows/2])
	if q.offset() {
		f.m = twoOf(p.words[p.row+4*factorQuads+k*tileRows/2])
	}
	return f
}

// twoOf returns two float16 numbers.
func twoOf(x uint32) [2]float32 {
	return [2]float32{dtype.F16(x).Float32(), dtype.F16(x >> 16).Float32()}
}
