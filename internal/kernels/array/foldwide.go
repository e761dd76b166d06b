package array

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

const (
	foldThreads = 256  // of a block of foldRows and foldColumns
	foldBlocks  = 2048 // of a reduction of few long lines
	foldColumn  = 32   // groups of columns of a block of foldColumns, whose threads are foldThreads/foldColumn rows of them
)

// groups is a reduction of groups of elements.
type groups struct {
	Fold    Fold
	X, Out  dtype.Type
	Length  uint32 // of foldRows in groups, of foldColumns in elements: of each result
	Parts   uint32 // of each result: neighbouring elements
	Step    uint32 // groups from a result to the next in foldRows, and from an element to the next in foldColumns
	Results uint32 // of foldColumns in groups
	Lanes   uint32 // threads of foldRows for each part: those of a warp or of a block
	Divisor float32
}

// foldRows reduces lines of neighbouring elements, for GPUs. Some threads take each part of a result.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func foldRows(t gpu.Thread, x []row.Words, out16 []uint16, out32 []float32, f groups) {
	warps := gpu.Shared[[foldThreads / gpu.WarpSize]float32](t)
	lanes := max(f.Lanes, 1)
	team := uint32(t.BlockX())*(foldThreads/lanes) + uint32(t.ThreadX())/lanes
	result, part := team/max(f.Parts, 1), team%max(f.Parts, 1)
	if result >= f.Results {
		return // a warp, whose block has no barrier
	}
	size := (f.Length + f.Parts - 1) / max(f.Parts, 1)
	me := uint32(t.ThreadX()) % lanes
	from, end := part*size+me, min(part*size+size, f.Length)
	at, v := result*f.Step, repeat(identity(f.Fold))
	for ; from+3*lanes < end; from += 4 * lanes {
		a, b := loadGroup(x, f.X, at+from), loadGroup(x, f.X, at+from+lanes)
		c, d := loadGroup(x, f.X, at+from+2*lanes), loadGroup(x, f.X, at+from+3*lanes)
		v = foldGroups(f.Fold, foldGroups(f.Fold, v, foldGroups(f.Fold, a, b)), foldGroups(f.Fold, c, d))
	}
	for ; from < end; from += lanes {
		v = foldGroups(f.Fold, v, loadGroup(x, f.X, at+from))
	}
	sum := foldWarp(t, f.Fold, foldGroup(f.Fold, v))
	if lanes > gpu.WarpSize {
		if t.Lane() == 0 {
			warps[t.Warp()] = sum
		}
		t.Sync()
		sum = warps[0]
		for i := 1; i < len(warps); i++ {
			sum = fold(f.Fold, sum, warps[i])
		}
	}
	if me == 0 {
		(&floats{out16, out32}).store(f.Out, team, sum/f.Divisor)
	}
}

// foldColumns reduces lines whose first elements are neighbours, for GPUs. A thread takes some rows of eight columns.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func foldColumns(t gpu.Thread, x []row.Words, out16 []uint16, out32 []float32, f groups) {
	const rows = foldThreads / foldColumn
	sums := gpu.Shared[[rows][group][foldColumn]float32](t)
	column, me := uint32(t.ThreadX())%foldColumn, uint32(t.ThreadX())/foldColumn
	at, part := uint32(t.BlockX())*foldColumn+column, uint32(t.BlockY())
	size := (f.Length + f.Parts - 1) / max(f.Parts, 1)
	from, end := part*size+me, min(part*size+size, f.Length)
	if at >= f.Results {
		end = 0
	}
	v := repeat(identity(f.Fold))
	for ; from+3*rows < end; from += 4 * rows {
		a, b := loadGroup(x, f.X, at+from*f.Step), loadGroup(x, f.X, at+(from+rows)*f.Step)
		c, d := loadGroup(x, f.X, at+(from+2*rows)*f.Step), loadGroup(x, f.X, at+(from+3*rows)*f.Step)
		v = foldGroups(f.Fold, foldGroups(f.Fold, v, foldGroups(f.Fold, a, b)), foldGroups(f.Fold, c, d))
	}
	for ; from < end; from += rows {
		v = foldGroups(f.Fold, v, loadGroup(x, f.X, at+from*f.Step))
	}
	for k := range len(v) {
		sums[me][k][column] = v[k]
	}
	t.Sync()
	// Thread i stores element i/foldColumn of column i%foldColumn: rows is the number of elements of a group.
	sum := sums[0][me][column]
	for i := 1; i < rows; i++ {
		sum = fold(f.Fold, sum, sums[i][me][column])
	}
	if at < f.Results {
		(&floats{out16, out32}).store(f.Out, (at*group+me)*f.Parts+part, sum/f.Divisor)
	}
}

// foldGroups returns the results of two groups.
func foldGroups(op Fold, x, y [group]float32) [group]float32 {
	switch op {
	case Sum:
		for k := range len(x) {
			x[k] += y[k]
		}
	case Greatest:
		for k := range len(x) {
			x[k] = greater(x[k], y[k])
		}
	default:
		for k := range len(x) {
			x[k] = smaller(x[k], y[k])
		}
	}
	return x
}

// foldGroup returns the result of a group.
func foldGroup(op Fold, v [group]float32) float32 {
	return fold(op, fold(op, fold(op, v[0], v[1]), fold(op, v[2], v[3])), fold(op, fold(op, v[4], v[5]), fold(op, v[6], v[7])))
}

// foldWarp returns the result of the threads of a warp.
func foldWarp(t gpu.Thread, op Fold, v float32) float32 {
	for d := 1; d < gpu.WarpSize; d *= 2 {
		v = fold(op, v, gpu.ShuffleXor(t, v, d))
	}
	return v
}

// wide returns the reduction of groups that computes the results of r, of which columns says that they are neighbours, if there is one.
func (r *Reduction) wide(s *device.Stream, p places) (f groups, columns, ok bool) {
	if row.FormFor(s) == row.Plain || ClassOf(r.X.Type) != Single || !r.X.Bytes.Aligned(row.VectorBytes) || p.Offset[0]%group != 0 || p.Count > 1 {
		return f, false, false
	}
	next := p.A[0]
	f = groups{Fold: r.Fold, X: r.X.Type, Length: uint32(r.Line.Length), Divisor: 1, Results: p.N, Parts: 1}
	switch {
	case r.Line.Step == 1 && f.Length%group == 0 && (next%group == 0 || p.N == 1):
		f.Length, f.Step, f.Lanes = f.Length/group, next/group, gpu.WarpSize
		if f.Length > 2*foldThreads {
			f.Lanes = foldThreads
			f.Parts = max(min(foldBlocks/p.N, f.Length/(4*foldThreads)), 1)
		}
		return f, false, true
	case r.Line.Step%group == 0 && next == 1 && p.N%group == 0:
		f.Results, f.Step = p.N/group, uint32(r.Line.Step)/group
		f.Parts = max(min(foldBlocks/4/((f.Results+foldColumn-1)/foldColumn), f.Length/64), 1)
		return f, true, true
	}
	return f, false, false
}

// launchWide launches foldRows or foldColumns.
func (r *Reduction) launchWide(s *device.Stream, f groups, columns bool) error {
	from := r.X.Offset * r.X.Type.Size()
	n := (r.X.Bytes.Len() - from) / row.VectorBytes * row.VectorBytes
	x := device.View[row.Words](r.X.Bytes.Slice(from, from+n))
	out16, out32 := elements[uint16](&r.Out), elements[float32](&r.Out)
	f.Out, f.Divisor = r.Out.Type, float32(r.Divisor)
	if columns {
		return FoldColumns(s, device.Blocks{X: int(f.Results+foldColumn-1) / foldColumn, Y: int(f.Parts)}, x, out16, out32, f)
	}
	teams, perBlock := int(f.Results)*int(f.Parts), foldThreads/int(f.Lanes)
	return FoldRows(s, device.Blocks{X: (teams + perBlock - 1) / perBlock}, x, out16, out32, f)
}
