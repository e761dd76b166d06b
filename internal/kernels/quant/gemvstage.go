package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// piece8 is a lane's elements of a chunk of the vector: those that the plane lane%4 has weights for, of block lane/4.
type piece8 = [2]numbers

// at returns where the lane's elements of a chunk are in the vector, in units of four, and whether they count: the last chunk may overlap its
// predecessor, whose blocks count once.
func (f *gemvState[Q, P]) at(t gpu.Thread, slot int32) (at int32, counts bool) {
	chunk := slot*int32(t.BlockDimX()/warpSize) + int32(t.Warp())
	block := f.stream.block(chunk) + int32(t.Lane()/4)
	return block*(BlockSize/4) + int32(t.Lane()%4), block >= chunk*chunkSize
}

// stageBrief stores what the lane needs of a bfloat16 vector. It requests the elements of several chunks at once.
func (f *gemvState[Q, P]) stageBrief(t gpu.Thread, from []halves) {
	for first := int32(0); first < f.Before; first += briefSlots {
		var h [briefSlots][2]halves
		for k := range h {
			at, _ := f.at(t, first+int32(k))
			h[k] = [2]halves{from[at], from[at+4]}
		}
		for k, h := range h {
			var x piece8
			for i, h := range h {
				x[i] = numbers{h[0].Float32(), h[1].Float32(), h[2].Float32(), h[3].Float32()}
			}
			_, counts := f.at(t, first+int32(k))
			f.stage(t, first+int32(k), x, counts)
		}
	}
}

// load loads the lane's elements of a short vector.
func (f *gemvState[Q, P]) load(t gpu.Thread, from []numbers) (x [normSlots]piece8) {
	for k := range x {
		at, _ := f.at(t, int32(k))
		x[k] = piece8{from[at], from[at+4]}
	}
	return x
}

// stageNormalized stores what the lane needs of the normalized vector. It loads the gain before it waits for the preceding kernel.
func (f *gemvState[Q, P]) stageNormalized(t gpu.Thread, from, gain []numbers) {
	g := f.load(t, gain)
	t.AwaitPrevious()
	x := f.load(t, from)
	var counts [normSlots]bool
	var squares float32
	for k := range x {
		if _, counts[k] = f.at(t, int32(k)); counts[k] {
			squares = dot(x[k][1], x[k][1], dot(x[k][0], x[k][0], squares))
		}
	}
	factor := 1 / math32.Sqrt(f.total(t, squares)/float32(f.Columns)+f.Epsilon)
	for k := range x {
		for i := range x[k] {
			for j := range x[k][i] {
				x[k][i][j] *= factor * g[k][i][j]
			}
		}
		f.stage(t, int32(k), x[k], counts[k])
	}
}

// total returns the sum of what the threads of a block have.
func (f *gemvState[Q, P]) total(t gpu.Thread, v float32) (sum float32) {
	v = gpu.WarpReduceAdd(t, v)
	if t.Lane() == 0 {
		f.rows[t.Warp()] = v
	}
	t.Sync()
	for w := range t.BlockDimX() / warpSize {
		sum += f.rows[w]
	}
	t.Sync()
	return sum
}

// stage stores the elements of a chunk, if there is one, or zeros if they do not count.
func (f *gemvState[Q, P]) stage(t gpu.Thread, slot int32, x piece8, counts bool) {
	var p P
	if !counts {
		x = piece8{}
	}
	parts := partsOf[P](&x)
	sums := f.sumsOf(t, x)
	if slot >= f.Before {
		return
	}
	at := slot*int32(t.BlockDimX()) + int32(t.ThreadX())
	f.sums[at] = sums
	for j := range p.parts() {
		f.quads[int32(j)*f.Before*int32(t.BlockDimX())+at] = parts[j]
	}
}

// sumsOf returns what the sums of the elements contribute to the products of the block that the lane has in the end.
func (f *gemvState[Q, P]) sumsOf(t gpu.Thread, x piece8) (sums [2]float32) {
	var q Q
	own := (t.Lane()%4*pairBlocks + t.Lane()/16) * 4
	for i, x := range x {
		sums[i] = x[0] + x[1] + x[2] + x[3]
	}
	if q.halves() == 1 {
		sums[0] += sums[1]
	}
	for i := range q.halves() {
		sums[i] += gpu.ShuffleXor(t, sums[i], 1)
		sums[i] += gpu.ShuffleXor(t, sums[i], 2)
		sums[i] = gpu.Shuffle(t, sums[i], own)
	}
	if q.halves() == 1 {
		return [2]float32{q.start() * sums[0], f.Minimum / q.unit() * sums[0]}
	}
	return [2]float32{q.start() * sums[0], q.start() * sums[1]}
}

// partsOf returns the parts of the elements, and replaces the elements by their sums.
func partsOf[P precision](x *piece8) (parts [maxParts]quad) {
	var p P
	rest := *x
	for part := range p.parts() {
		to := &parts[part]
		for i := range rest {
			var h [4]dtype.BF16
			for j, v := range rest[i] {
				h[j] = dtype.BF16From32(v)
				rest[i][j] -= h[j].Float32()
			}
			to[2*i], to[2*i+1] = uint32(h[0])|uint32(h[2])<<16, uint32(h[1])|uint32(h[3])<<16
		}
	}
	if p.parts() > 1 {
		for i := range x {
			for j := range x[i] {
				x[i][j] -= rest[i][j]
			}
		}
	}
	return parts
}
