package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	pairBlocks = 2                      // blocks whose planes a warp loads at once
	chunkPairs = chunkSize / pairBlocks // of a chunk
	briefSlots = 4                      // chunks of a bfloat16 vector that a warp requests at once
	normSlots  = 2                      // chunks of a vector that a warp normalizes
	aheadOf    = 2                      // chunks of the matrix that a warp has requested
)

// precision is the number of bfloat16 numbers whose sum is an element of the vector in the kernel gemv.
type precision interface{ parts() int }

// The precisions: of a bfloat16 vector, and of a vector in the kernel gemvNorm.
type (
	brief1 struct{}
	fine2  struct{}
)

func (brief1) parts() int { return 1 }
func (fine2) parts() int  { return 2 }

const maxParts = 2

// fragment is a lane's share of a chunk. Of its planes, it is quads, four rows, of one block of each pair: the plane lane%4 and, in some
// formats, one with upper bits, of the rows from lane/4%4*4 on, of block lane/16. It has the scales and minima of the same rows: of the
// superblock or, without groups, of block lane/16 of pair lane%4, whose product a lane has in the end. The groups are those of that block.
type fragment struct {
	lower, upper           [chunkPairs]quad
	scales, minima, groups pair
}

// stream is the chunks of a warp: every n-th chunk of the tiles of its block of threads.
type stream[Q coding] struct {
	planes                 []quad
	scales, minima, groups []pair
	slice
	next        walk  // the first of the chunks to request next
	left        int32 // tiles of which chunks are to be requested
	step, other int32 // from the next tile to its successor, and from there on
	ahead       [aheadOf]fragment
}

// request loads a fragment of the warp's next chunks, if there is one.
func (s *stream[Q]) request(t gpu.Thread, k int) {
	chunk := s.next.chunk + int32(k*t.BlockDimX()/warpSize)
	if s.left <= 0 || !s.has(chunk) {
		return
	}
	var q Q
	const rowQuads = tileRows / 4
	quads := int(q.planes(fields{})) * rowQuads
	row, plane, side := t.Lane()/4%4, t.Lane()%4, t.Lane()/16
	first := int(s.next.tile*s.count + s.block(chunk))
	from := s.planes[first*quads:][:chunkSize*quads]
	b := &s.ahead[k]
	for i := range chunkPairs {
		at := (i*pairBlocks + side) * quads
		b.lower[i] = from[at+plane*rowQuads+row]
		if q.words() == 2 {
			b.upper[i] = from[at+q.upper(plane)*rowQuads+row]
		}
	}
	own := (first+plane*pairBlocks+side)*rowQuads + row
	if q.grouped() {
		b.groups = s.groups[own]
		own = first/superBlocks*rowQuads + row
	}
	b.scales = s.scales[own]
	if q.offset() {
		b.minima = s.minima[own]
	}
}

// advance goes on to the warp's next chunks.
func (s *stream[Q]) advance(t gpu.Thread) {
	s.next.chunk += aheadOf * int32(t.BlockDimX()/warpSize)
	if !s.has(s.next.chunk) {
		s.next = walk{s.next.tile + s.step, int32(t.Warp())}
		s.step, s.other = s.other, s.step
		s.left--
	}
}

// gemvState is the state of a thread of the kernel gemv. In shared memory, a thread has the parts of a quad of each of its chunks of the
// vector, and two numbers for each, which the sums of the block need whose product the lane has in the end: those of its halves times what
// makes the integers positive or, if the block has one scale, that of the block, and times the factor of the minima.
type gemvState[Q coding, P precision] struct {
	size
	stream stream[Q]
	quads  []quad
	sums   [][2]float32
	tiles  int32     // of the block of threads
	rows   []float32 // by tile, then by warp: the sums of 16 rows
	totals numbers   // of the thread's four rows
	output output
}

// multiply adds the products of a chunk. The rows of the tensor cores' matrices are eight rows of a pair's first block and the same eight of
// its second block. The other operand has the columns of the pair's two blocks in two of its columns, and zeros in the other six. After
// all pairs, each block has a column of sums.
func (f *gemvState[Q, P]) multiply(t gpu.Thread, b *fragment, slot int32) {
	var q Q
	var p P
	var acc [2][2]numbers // by pair of rows, then by half of the blocks that have two scales
	shift := q.shift(t.Lane() % 4)
	at := slot*int32(t.BlockDimX()) + int32(t.ThreadX())
	var own [maxParts]quad
	for j := range p.parts() {
		own[j] = f.quads[int32(j)*f.Before*int32(t.BlockDimX())+at]
	}
	for i := range chunkPairs {
		var x [maxParts]quad
		for j := range p.parts() {
			if t.Lane()/(4*pairBlocks) == i {
				x[j] = own[j]
			}
		}
		for r := range acc {
			w := [2]pair{{b.lower[i][2*r], b.lower[i][2*r+1]}, {b.upper[i][2*r] >> shift, b.upper[i][2*r+1] >> shift}}
			a := q.parts(w, f.Masks)
			for j := range p.parts() {
				for k := range q.count() {
					half := q.half(k)
					to := &acc[r][half*(q.halves()-1)]
					*to = gpu.MMA(t, a[k], columns(x[j], half), *to)
				}
			}
		}
	}
	f.scale(t, b, f.sums[at], acc)
}

// scale adds the products of a block's sums and its factors, given what the sums of the vector contribute.
func (f *gemvState[Q, P]) scale(t gpu.Thread, b *fragment, sums [2]float32, acc [2][2]numbers) {
	var q Q
	for r := range acc {
		d, m := twoOf(b.scales[r]), twoOf(b.minima[r])
		factors := numbers{d[0], d[1], m[0], m[1]}
		if q.grouped() {
			factors = q.scale(d, m, b.groups[r])
		}
		for i := range 2 {
			total := &f.totals[2*r+i]
			for half := range q.halves() {
				dot := acc[r][half][2*i]
				if t.Lane() >= warpSize/2 {
					dot = acc[r][half][2*i+1]
				}
				*total = math32.FMA(factors[2*half+i], dot-sums[half], *total)
			}
			if q.offset() {
				*total = math32.FMA(factors[2+i], sums[1], *total)
			}
		}
	}
}

// gemv multiplies a matrix by a bfloat16 vector with tensor cores, to which weights come through registers. A block of threads takes every n-th
// tile of 16 rows, and has the sums of its tiles in shared memory until it has multiplied all, or one for each
// 16 threads. The next kernel's blocks may start at once, and request weights while they wait for this kernel.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:instance GemvQ4 = gemv[nibbles]
//gpu:instance GemvQ4K = gemv[grouped]
//gpu:instance GemvQ6K = gemv[sixes]
func gemv[Q coding](t gpu.Thread, planes []quad, scales, minima, groups []pair, x []halves, y []float32, brief []dtype.BF16, z size) {
	t.StartNext()
	f := gemvState[Q, brief1]{size: z, stream: streamOf[Q](t, stream[Q]{planes: planes, scales: scales, minima: minima, groups: groups}, z)}
	f.tiles = f.stream.left
	f.stream.begin(t)
	used := z.Before * int32(t.BlockDimX())
	f.quads = gpu.DynamicShared[quad](t)[:used]
	f.sums = gpu.DynamicShared[[2]float32](t)[2*used:][:used]
	f.rows = gpu.DynamicShared[float32](t)[6*used:][:t.BlockDimX()/warpSize*t.BlockDimX()]
	f.output = output{y: y, half: brief}
	t.AwaitPrevious()
	f.stageBrief(t, x)
	f.run(t)
}

// normThreads is the number of threads in a block of the kernel gemvNorm.
const normThreads = 256

// gemvNorm is gemv of a float32 vector that it normalizes.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
//gpu:block 256
//gpu:resident 2
//gpu:instance GemvNormQ4 = gemvNorm[nibbles]
//gpu:instance GemvNormQ4K = gemvNorm[grouped]
//gpu:instance GemvNormQ6K = gemvNorm[sixes]
func gemvNorm[Q coding](t gpu.Thread, planes []quad, scales, minima, groups []pair, x, gain []numbers, y []dtype.BF16, z size) {
	t.StartNext()
	f := gemvState[Q, fine2]{size: z, stream: streamOf[Q](t, stream[Q]{planes: planes, scales: scales, minima: minima, groups: groups}, z)}
	f.tiles = f.stream.left
	f.stream.begin(t)
	f.quads = gpu.Shared[[2 * normSlots * normThreads]quad](t)[:]
	f.sums = gpu.Shared[[normSlots * normThreads][2]float32](t)[:]
	f.rows = gpu.Shared[[normThreads / warpSize * normThreads]float32](t)[:]
	f.output = output{half: y}
	f.stageNormalized(t, x, gain)
	f.run(t)
}

// streamOf returns the stream of the thread's warp, of a matrix. A block of threads takes every n-th tile or, if z.Gated is set, every n-th tile
// of the first half of the rows, each followed by that of the second half.
func streamOf[Q coding](t gpu.Thread, s stream[Q], z size) stream[Q] {
	tiles, first, blocks := (z.Rows+tileRows-1)/tileRows, int32(t.BlockX()), int32(t.GridDimX())
	s.slice = slice{count: z.Columns / BlockSize}
	s.next, s.step, s.other = walk{first, int32(t.Warp())}, blocks, blocks
	if z.Gated {
		tiles /= 2
		s.step, s.other = tiles, blocks-tiles
	}
	if s.left = (tiles - first + blocks - 1) / blocks; z.Gated {
		s.left *= 2
	}
	return s
}

// begin requests the first chunks.
func (s *stream[Q]) begin(t gpu.Thread) {
	for k := range s.ahead {
		s.request(t, k)
	}
	s.advance(t)
}

// run multiplies the tiles of the block of threads.
func (f *gemvState[Q, P]) run(t gpu.Thread) {
	warps, kept := int32(t.BlockDimX()/warpSize), int32(t.BlockDimX()/tileRows)
	for first := int32(0); first < f.tiles; first += kept {
		f.begin(t, first)
		for k := range min(kept, f.tiles-first) {
			f.totals = numbers{}
			for slot := int32(0); f.stream.has(slot*warps + int32(t.Warp())); slot += aheadOf {
				f.multiply(t, &f.stream.ahead[0], slot)
				f.stream.request(t, 0)
				if f.stream.has((slot+1)*warps + int32(t.Warp())) {
					f.multiply(t, &f.stream.ahead[1], slot+1)
				}
				f.stream.request(t, 1)
				f.stream.advance(t)
			}
			f.keep(t, k)
		}
		f.finish(t)
	}
}

// begin finds the thread's element of the results of the tiles whose sums are kept, given how many tiles there were before, and loads what
// is added to it.
func (f *gemvState[Q, P]) begin(t gpu.Thread, before int32) {
	o, i, end := &f.output, int32(t.ThreadX()/tileRows), f.Rows
	if f.Gated {
		before, end = before/2, end/2
	}
	row := (int32(t.BlockX())+(before+i)*int32(t.GridDimX()))*tileRows + int32(t.ThreadX()%tileRows)
	o.at, o.was = -1, 0
	if row < end && (!f.Gated || i < int32(t.BlockDimX()/tileRows/2)) {
		o.at = row
		o.load(f.size)
	}
}

// keep stores a tile's sums of the warp, given the number of the tile among those that are kept.
func (f *gemvState[Q, P]) keep(t gpu.Thread, tile int32) {
	sum := overBlocks(t, f.totals)
	if t.Lane()&1 == 0 {
		at := (tile*int32(t.BlockDimX()/warpSize) + int32(t.Warp())) * tileRows
		f.rows[at+int32(t.Lane()/4%4*4+t.Lane()/16*2+t.Lane()/2%2)] = sum
	}
}

// finish adds up what the warps have and stores it.
func (f *gemvState[Q, P]) finish(t gpu.Thread) {
	t.Sync()
	var sum float32
	if i := int32(t.ThreadX() / tileRows); f.output.at < 0 {
	} else if f.Gated {
		sum = silu(f.sum(t, 2*i)) * f.sum(t, 2*i+1)
	} else {
		sum = f.sum(t, i)
	}
	f.output.store(t, sum, f.size)
	t.Sync()
}

// sum returns the product of a row, given the number of its tile among those that are kept.
func (f *gemvState[Q, P]) sum(t gpu.Thread, tile int32) (sum float32) {
	var q Q
	warps := int32(t.BlockDimX() / warpSize)
	for w := range warps {
		sum += f.rows[(tile*warps+w)*tileRows+int32(t.ThreadX()%tileRows)]
	}
	return sum * q.unit()
}

// silu returns x*sigmoid(x).
func silu(x float32) float32 { return x / (1 + math32.Exp(-x)) }

// overBlocks returns the sum over the eight lanes that have the rows of the lane: of row lane/16*2 + lane/2%2 of the four. The first two
// exchanges halve the number of sums.
func overBlocks(t gpu.Thread, sums numbers) float32 {
	if t.Lane()&16 != 0 {
		sums = numbers{sums[2], sums[3], sums[0], sums[1]}
	}
	a, b := sums[0]+gpu.ShuffleXor(t, sums[2], 16), sums[1]+gpu.ShuffleXor(t, sums[3], 16)
	if t.Lane()&2 != 0 {
		a, b = b, a
	}
	a += gpu.ShuffleXor(t, b, 2)
	return a + gpu.ShuffleXor(t, a, 1)
}
