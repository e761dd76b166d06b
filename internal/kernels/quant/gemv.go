package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	pairBlocks = 2                      // blocks whose planes a warp loads at once
	chunkPairs = chunkSize / pairBlocks // of a chunk
	stageSlots = 4                      // chunks of the vector that a warp has requested when it begins
)

// fragment is a lane's share of a chunk. Of its planes, it is quads, four rows, of one block of each pair: the plane lane%4 and one with
// upper bits, of the rows from lane/4%4*4 on, of block lane/16. It has the scales of the same rows, and the groups of block lane/16 of
// pair lane%4, whose product a lane has in the end.
type fragment struct {
	lower, upper [chunkPairs]quad
	scales       pair
	groups       pair
}

// stream is the chunks of a warp: of the tiles from BlockX on, every n-th chunk.
type stream struct {
	planes         []quad
	scales, groups []pair
	slice
	next walk // the chunk to request next
}

// request loads the warp's next chunk, if there is one.
func (s *stream) request(t gpu.Thread, z size) (b fragment) {
	tile, chunk := s.next.tile, s.next.chunk
	if tile*tileRows >= z.Rows || !s.has(chunk) {
		return b
	}
	if s.next.chunk += int32(t.BlockDimX() / warpSize); !s.has(s.next.chunk) {
		s.next = walk{tile + int32(t.GridDimX()), int32(t.Warp())}
	}
	var q sixes
	const rowQuads = tileRows / 4
	quads := int(q.planes(fields{})) * rowQuads
	row, plane, side := t.Lane()/4%4, t.Lane()%4, t.Lane()/16
	first := int(tile*s.count + chunk*chunkSize)
	from := s.planes[first*quads:][:chunkSize*quads]
	for i := range chunkPairs {
		at := (i*pairBlocks + side) * quads
		b.lower[i], b.upper[i] = from[at+plane*rowQuads+row], from[at+q.upper(plane)*rowQuads+row]
	}
	b.groups = s.groups[(first+plane*pairBlocks+side)*rowQuads+row]
	b.scales = s.scales[first/superBlocks*rowQuads+row]
	return b
}

// gemvState is the state of a thread of the kernel gemv. In shared memory, a thread has a quad of each of its chunks of the vector and one
// of zeros, and the sums of the halves of a block of each chunk.
type gemvState struct {
	size
	slice
	quads  []quad
	halves [][2]float32
	totals numbers // of the thread's four rows
}

// stage stores what the lane needs of the vector in each chunk: the elements that the plane lane%4 has weights for, of block lane/4, and
// the sums of the halves of the block whose product the lane has in the end. Blocks beyond the row are zero.
func (f *gemvState) stage(t gpu.Thread, from []halves) {
	warps := int32(t.BlockDimX() / warpSize)
	own := (t.Lane()%4*pairBlocks + t.Lane()/16) * 4
	for slot := int32(0); slot < f.Before; slot += stageSlots {
		var x [stageSlots][2]halves
		var inside [stageSlots]bool
		for k := range x {
			block := ((slot+int32(k))*warps+int32(t.Warp()))*chunkSize + int32(t.Lane()/4)
			at := min(block, f.count-1)*(BlockSize/4) + int32(t.Lane()%4)
			x[k], inside[k] = [2]halves{from[at], from[at+4]}, block < f.count
		}
		for k, x := range x {
			if !inside[k] {
				x = [2]halves{}
			}
			var to quad
			var sums [2]float32
			for i, x := range x {
				to[2*i], to[2*i+1] = uint32(x[0])|uint32(x[2])<<16, uint32(x[1])|uint32(x[3])<<16
				sum := x[0].Float32() + x[1].Float32() + x[2].Float32() + x[3].Float32()
				sum += gpu.ShuffleXor(t, sum, 1)
				sum += gpu.ShuffleXor(t, sum, 2)
				sums[i] = gpu.Shuffle(t, sum, own)
			}
			if slot+int32(k) < f.Before {
				at := (slot+int32(k))*int32(t.BlockDimX()) + int32(t.ThreadX())
				f.quads[at], f.halves[at] = to, sums
			}
		}
	}
	f.quads[f.Before*int32(t.BlockDimX())+int32(t.ThreadX())] = quad{}
}

// multiply adds the products of a chunk. The rows of the tensor cores' matrices are eight rows of a pair's first block and the same eight of
// its second block. The other operand has the columns of the pair's two blocks in two of its columns, and zeros in the other six. After
// all pairs, each block has a column of sums.
func (f *gemvState) multiply(t gpu.Thread, b *fragment, slot int32) {
	var q sixes
	var acc [2][2]numbers // by pair of rows, then by half of the blocks
	shift := q.shift(t.Lane() % 4)
	zero, own := f.Before*int32(t.BlockDimX())+int32(t.ThreadX()), slot*int32(t.BlockDimX())+int32(t.ThreadX())
	for i := range chunkPairs {
		at := zero
		if t.Lane()/(4*pairBlocks) == i {
			at = own
		}
		x := f.quads[at]
		for r := range acc {
			a := q.parts([2]pair{{b.lower[i][2*r], b.lower[i][2*r+1]}, {b.upper[i][2*r] >> shift, b.upper[i][2*r+1] >> shift}}, f.Masks)
			for half := range acc[r] {
				acc[r][half] = gpu.MMA(t, a[half], columns(x, half), acc[r][half])
			}
		}
	}
	f.scale(t, b, f.halves[own], acc)
}

// scale adds the products of a block's sums and its factors, given the sums of the halves of the vector.
func (f *gemvState) scale(t gpu.Thread, b *fragment, sums [2]float32, acc [2][2]numbers) {
	var q sixes
	for r := range acc {
		factors := q.scale(twoOf(b.scales[r]), [2]float32{}, b.groups[r])
		for i := range 2 {
			for half := range acc[r] {
				dot := acc[r][half][2*i]
				if t.Lane() >= warpSize/2 {
					dot = acc[r][half][2*i+1]
				}
				f.totals[2*r+i] = math32.FMA(factors[2*half+i], dot-q.start()*sums[half], f.totals[2*r+i])
			}
		}
	}
}

// gemv multiplies a matrix in the format Q6_K by a bfloat16 vector with tensor cores, whose operands come from memory without a detour. A
// block of threads takes the tiles of 16 rows from BlockX on. The next kernel's blocks may start at once, and request weights while they
// wait for this kernel.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:target sm_80
func gemv(t gpu.Thread, planes []quad, scales, groups []pair, x []halves, y []float32, brief []dtype.BF16, z size) {
	t.StartNext()
	warps := int32(t.BlockDimX() / warpSize)
	s := stream{planes: planes, scales: scales, groups: groups, slice: slice{count: z.Columns / BlockSize}, next: walk{int32(t.BlockX()), int32(t.Warp())}}
	b := s.request(t, z)
	used := (z.Before + 1) * int32(t.BlockDimX())
	f := gemvState{size: z, slice: s.slice, quads: gpu.DynamicShared[quad](t)[:used], halves: gpu.DynamicShared[[2]float32](t)[2*used:][:used]}
	o := output{y: y, half: brief}
	t.AwaitPrevious()
	f.stage(t, x)
	for tile := int32(t.BlockX()); tile*tileRows < z.Rows; tile += int32(t.GridDimX()) {
		o.begin(t, z, tile)
		f.totals = numbers{}
		for slot := int32(0); s.has(slot*warps + int32(t.Warp())); slot++ {
			next := s.request(t, z)
			f.multiply(t, &b, slot)
			b = next
		}
		f.finish(t, &o)
	}
}

// finish adds up what the warps have and stores it.
func (f *gemvState) finish(t gpu.Thread, o *output) {
	warps := int32(t.BlockDimX() / warpSize)
	all := gpu.DynamicShared[float32](t)[6*(f.Before+1)*int32(t.BlockDimX())+o.odd*warps*tileRows:][:warps*tileRows]
	o.odd ^= 1
	sum := overBlocks(t, f.totals)
	if t.Lane()&1 == 0 {
		all[int32(t.Warp())*tileRows+int32(t.Lane()/4%4*4+t.Lane()/16*2+t.Lane()/2%2)] = sum
	}
	t.Sync()
	sum = 0
	if o.at >= 0 {
		for w := int32(t.ThreadX()) & (f.Lanes - 1); w < warps; w += f.Lanes {
			sum += all[w*tileRows+int32(uint32(t.ThreadX())/uint32(f.Lanes))]
		}
	}
	o.store(t, sum, f.size)
}

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
