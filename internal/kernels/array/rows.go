package array

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// taking says how takeRows finds rows.
type taking struct {
	N, Width uint32 // Words in all, and in a row
	Step     uint32 // Words from a row of the source to the next
	Apart    uint32 // indices from one to the next
	Wide     bool   // indices are int64, and not int32
	Limit    int64  // indices are from 0 to Limit-1
}

// takeRows copies rows with the given numbers, 16 bytes at a time, for GPUs. Rows of other numbers become 0. It has two rows in flight.
//
//gpu:kernel
//gpu:twin off
//gpu:block 128
func takeRows(t gpu.Thread, x, out []row.Words, i32 []int32, i64 []int64, how taking) {
	next := uint32(t.GridDimX()) * block
	for i := first(t); i < how.N; i += 2 * next {
		k := i + next
		a := how.words(x, i32, i64, i)
		if k < how.N {
			b := how.words(x, i32, i64, k)
			out[k] = b
		}
		out[i] = a
	}
}

// words returns Words i of the result.
func (how *taking) words(x []row.Words, i32 []int32, i64 []int64, i uint32) (w row.Words) {
	at, column := i/max(how.Width, 1), i%max(how.Width, 1)
	index := int64(0)
	if how.Wide {
		index = i64[at*how.Apart]
	} else {
		index = int64(i32[at*how.Apart])
	}
	if index >= 0 && index < how.Limit {
		w = x[index*int64(how.Step)+int64(column)]
	}
	return w
}

// moving says how moveRows copies rows of Width Words.
type moving struct{ N, Width, From, To uint32 } // Words in all, in a row, and from a row to the next in the source and in the result

// moveRows copies rows, 16 bytes at a time, for GPUs.
//
//gpu:kernel
//gpu:twin off
//gpu:block 128
func moveRows(t gpu.Thread, x, out []row.Words, how moving) {
	width := max(how.Width, 1)
	for i := first(t); i < how.N; i += uint32(t.GridDimX()) * block {
		at, column := i/width, i%width
		out[at*how.To+column] = x[at*how.From+column]
	}
}

// moveRows launches moveRows if the elements are rows of whole Words, and reports whether they are.
func (how indexing) moveRows(s *device.Stream, p places, a [3]*Array) (bool, error) {
	x, out := a[0], a[2]
	size, count := x.Type.Size(), max(p.Count, 1)
	if p.Count == 1 {
		p.Size[1], p.A[1], p.C[1] = 1, p.Size[0], p.Size[0]
	}
	if row.FormFor(s) == row.Plain || how.Limit > 0 || count > 2 || p.Count == 0 || p.A[0] != 1 || p.C[0] != 1 || !x.Bytes.Aligned(row.VectorBytes) || !out.Bytes.Aligned(row.VectorBytes) ||
		(int(p.Size[0])*size|int(p.A[1])*size|int(p.C[1])*size|x.Offset*size|out.Offset*size)%row.VectorBytes != 0 {
		return false, nil
	}
	per := uint32(row.VectorBytes / size)
	last := func(step uint32) uint32 { return (p.Size[1]-1)*step + p.Size[0] }
	m := moving{N: p.N / per, Width: p.Size[0] / per, From: p.A[1] / per, To: p.C[1] / per}
	return true, MoveRows(s, blocksFor(s, m.N), words(x, last(p.A[1])), words(out, last(p.C[1])), m)
}

// count stores each element's number.
//
//gpu:kernel
//gpu:block 128
func count(t gpu.Thread, out []int64) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = int64(i)
	}
}

// Numbers stores the numbers from 0 on.
func Numbers(s *device.Stream, out device.Slice[int64]) error {
	if out.Len() == 0 {
		return nil
	}
	return Count(s, blocks(uint32(out.Len())), out)
}

// takeRows launches takeRows if the elements are rows of whole Words, and reports whether they are.
func (how indexing) takeRows(s *device.Stream, p places, a [3]*Array) (bool, error) {
	x, at, out := a[0], a[1], a[2]
	size := x.Type.Size()
	rows := how.Limit > 0 && p.Count == 2 && p.A == [MaxDims]uint32{1} && p.B[0] == 0 && p.C == [MaxDims]uint32{1, p.Size[0]}
	if row.FormFor(s) == row.Plain || !rows || !x.Bytes.Aligned(row.VectorBytes) || !out.Bytes.Aligned(row.VectorBytes) || how.Step > math.MaxInt32 ||
		(int(p.Size[0])*size|int(how.Step)*size|x.Offset*size|out.Offset*size)%row.VectorBytes != 0 {
		return false, nil
	}
	per := uint32(row.VectorBytes / size)
	t := taking{N: p.N / per, Width: p.Size[0] / per, Step: uint32(how.Step) / per, Apart: p.B[1], Wide: how.Wide, Limit: how.Limit}
	i32, i64 := device.None[int32](), device.None[int64]()
	if at.Type == dtype.Int32 {
		i32 = elements[int32](at)
	} else {
		i64 = elements[int64](at)
	}
	i32, i64 = from(i32, at.Offset), from(i64, at.Offset)
	n := (x.Bytes.Len()/size - x.Offset) / int(per) * int(per)
	return true, TakeRows(s, blocksFor(s, (t.N+1)/2), words(x, uint32(n)), words(out, p.N), i32, i64, t)
}

// from returns the elements of x from an index on, or x if it is nil in the kernel.
func from[T any](x device.Slice[T], at int) device.Slice[T] {
	if x.Len() == 0 {
		return x
	}
	return x.Slice(at, x.Len())
}
