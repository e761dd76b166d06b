package quant

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// record is a block of the vectors in shared memory: for each part of each vector, four quads, and for each pair of columns, the sums of
// the first and of the second half of the block, negated.
//
// Columns are those of the tensor cores' matrices, which have eight. There are several tiles of columns, and passes over them, whose
// products have the same sum. If there are several passes, a column has all parts of a vector, one for each pass; otherwise each part has
// its own column.
type record interface {
	one | eight | sixteen | thrice
	tiles() uint32
	passes() uint32
	columns() uint32
}

// The records, by the number of columns.
type (
	one     [3*4 + 2]quad
	eight   [8*4 + 4]quad
	sixteen [16*4 + 8]quad
	thrice  [16*floatParts*4 + 8]quad
)

func (one) tiles() uint32       { return 1 }
func (one) passes() uint32      { return 1 }
func (one) columns() uint32     { return 3 }
func (eight) tiles() uint32     { return 1 }
func (eight) passes() uint32    { return 1 }
func (eight) columns() uint32   { return 8 }
func (sixteen) tiles() uint32   { return 2 }
func (sixteen) passes() uint32  { return 1 }
func (sixteen) columns() uint32 { return 16 }
func (thrice) tiles() uint32    { return 2 }
func (thrice) passes() uint32   { return floatParts }
func (thrice) columns() uint32  { return 16 }

const (
	maxTiles   = 2
	floatParts = 3 // bfloat16 numbers whose sum is a float32
)

// quad is eight bfloat16 numbers of a block of a vector, in the order in which a thread's share of a part has its columns, or four
// float32 numbers.
type quad = [4]uint32

// numbers and halves are four neighbouring elements of a vector.
type (
	numbers = [4]float32
	halves  = [4]dtype.BF16
)

// vectors are the vectors in shared memory, split into parts, for the blocks of a slice, and where a lane finds its columns in a record.
// Lanes without a column take those of another one.
type vectors[R record] struct {
	records   []R
	part, sum [maxTiles]uint32
}

// sumsOf returns where the sums of a pair of columns are in a record.
func sumsOf[R record](pair uint32) uint32 {
	var r R
	return r.columns()*r.passes()*4 + pair
}

// placed lays out the vectors in what is left of the shared memory.
func placed[R record](t gpu.Thread, z size, near []R) (v vectors[R]) {
	var r R
	used := uint32(z.Vectors)
	if r.passes() == 1 {
		used *= uint32(z.Parts)
	}
	v.records = near
	group, place := uint32(t.Lane()/4), uint32(t.Lane()%4)
	for i := range r.tiles() {
		v.part[i] = min(8*i+group, used-1, r.columns()-1)*r.passes()*4 + place
		v.sum[i] = sumsOf[R](min(4*i+place, (used-1)/2, (r.columns()-1)/2))
	}
	return v
}

// elements is what vectors are loaded from: one of two element types.
type elements struct {
	single []numbers
	half   []halves
}

// load returns the elements 4i to 4i+3.
func (s elements) load(i int32) numbers {
	if len(s.half) == 0 {
		return s.single[i]
	}
	h := s.half[i]
	return numbers{h[0].Float32(), h[1].Float32(), h[2].Float32(), h[3].Float32()}
}

// stage splits the vectors. A thread takes the columns of a quad.
func (v *vectors[R]) stage(t gpu.Thread, from elements, z size, s slice) {
	units, width := s.count*4, int32(t.BlockDimX())
	for i := range z.Vectors {
		for first := int32(t.ThreadX() - t.Lane()); first < units; first += width {
			u := min(first+int32(t.Lane()), units-1) // all lanes take part in the sums
			at := i*(z.Columns/4) + (s.first+u/4)*(BlockSize/4) + u%4
			v.split(t, z, piece{uint32(i), u, [2]numbers{from.load(at), from.load(at + 4)}})
		}
	}
	t.Sync()
}

// piece is the columns of a quad, of a number in a slice, of a vector.
type piece struct {
	vector uint32
	quad   int32
	x      [2]numbers
}

// split stores the parts of a piece, and the sum over the block.
func (v *vectors[R]) split(t gpu.Thread, z size, from piece) {
	var r R
	to := &v.records[from.quad/4]
	parts := uint32(z.Parts)
	var total [2]float32
	for p := range parts {
		var sum [2]float32
		var q quad
		for k := range 2 {
			h := upper(from.x[k])
			q[2*k], q[2*k+1] = both(h[0], h[2]), both(h[1], h[3])
			for j := range h {
				sum[k] += h[j]
				from.x[k][j] -= h[j]
			}
		}
		(*to)[(from.vector*parts+p)*4+uint32(from.quad%4)] = q
		total[0] += sum[0]
		total[1] += sum[1]
		if r.passes() == 1 {
			setSum(t, to, columnOf{from.vector*parts + p, uint32(z.Vectors) * parts, from.quad % 4}, sum)
		}
	}
	if r.passes() > 1 {
		setSum(t, to, columnOf{from.vector, uint32(z.Vectors), from.quad % 4}, total)
	}
}

// columnOf is a column, the number of columns, and the number of the thread among the four that have parts of a column of a block.
type columnOf struct {
	column, count uint32
	thread        int32
}

// setSum stores the sums over the halves of a block for a column.
func setSum[R record](t gpu.Thread, r *R, c columnOf, sum [2]float32) {
	for k := range sum {
		sum[k] += gpu.ShuffleXor(t, sum[k], 1)
		sum[k] += gpu.ShuffleXor(t, sum[k], 2)
	}
	if c.thread != 0 {
		return
	}
	to := &(*r)[sumsOf[R](c.column/2)]
	to[c.column%2], to[2+c.column%2] = math.Float32bits(-sum[0]), math.Float32bits(-sum[1])
	if c.column%2 == 0 && c.column == c.count-1 {
		to[1], to[3] = 0, 0
	}
}

// upper returns the numbers with the upper 8 bits of the mantissas, so that what remains is exact.
func upper(x numbers) (h numbers) {
	for i := range x {
		h[i] = math.Float32frombits(math.Float32bits(x[i]) & 0xffff0000)
	}
	return h
}

// both returns two numbers as bfloat16, which is exact.
func both(low, high float32) uint32 {
	return math.Float32bits(low)>>16 | math.Float32bits(high)&0xffff0000
}
