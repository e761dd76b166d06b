package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// The layout of a gpu.Panel.
const (
	panelRows  = 64
	panelWidth = 128 // bytes of a row
	// panelAlign is the stretch in which 16 bytes change places: eight rows.
	panelAlign = 1024
	// tileAlign is the alignment of what bulk tensor copies write (PTX ISA, cp.async.bulk.tensor).
	tileAlign = 128
	// cornerAlign is that of where tiles lie in the rows of a matrix.
	cornerAlign = 16
)

// gpuType reports whether t is the type of package gpu with the given name, and returns its type argument, where
// it has one.
func gpuType(t types.Type, name string) (arg types.Type, ok bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Name() != name || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != gpuPath {
		return nil, false
	}
	if n.TypeArgs().Len() == 1 {
		arg = n.TypeArgs().At(0)
	}
	return arg, true
}

// panelAlignment returns what a shared variable of type t must be aligned to for the panels in it, 0 if it has
// none. It refuses one that is not a multiple of that away from the variable's start.
func (l *lowerer) panelAlignment(t types.Type) int64 {
	if _, ok := gpuType(t, "Panel"); ok {
		return panelAlign
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		align := l.panelAlignment(u.Elem())
		if align > 0 && l.irType(u.Elem()).Size()%align != 0 {
			l.refusePanel(t)
		}
		return align
	case *types.Struct:
		align := int64(0)
		for i := range u.NumFields() {
			a := l.panelAlignment(u.Field(i).Type())
			if a > 0 && l.irType(t).PartOffset(i)%a != 0 {
				l.refusePanel(t)
			}
			align = max(align, a)
		}
		return align
	}
	return 0
}

func (l *lowerer) refusePanel(t types.Type) {
	l.refuse(diag.LangShared, "put the panels first, or into a separate gpu.Shared",
		"gpu.Shared of %s, in which a gpu.Panel starts at an offset that is not a multiple of %d bytes", types.TypeString(t, shortName), panelAlign)
}

// panelAt lowers Panel.At.
func panelAt(l *lowerer, v *ssa.Call) *ir.Value {
	return l.panelElement(v, l.irType(pointee(v.Type())).Size())
}

// eightAt lowers gpu.EightAt.
func eightAt(l *lowerer, v *ssa.Call) *ir.Value {
	rest := l.emit(ir.OpAnd, ir.I64, l.value(v.Call.Args[2]), l.int64(7))
	l.check(l.emit(ir.OpEq, ir.I1, rest, l.int64(0)), "gpu.EightAt: column is not a multiple of 8")
	return l.panelElement(v, 2)
}

// panelElement returns the address of an element of a panel: v is a call with the panel, a row and a column, and size
// an element's size in bytes.
func (l *lowerer) panelElement(v *ssa.Call, size int64) *ir.Value {
	p := l.value(v.Call.Args[0])
	l.checkNil(v.Call.Args[0], p)
	row := l.checkIndex(v.Call.Args[1], l.int64(panelRows))
	column := l.value(v.Call.Args[2])
	l.check(l.emit(ir.OpULt, ir.I1, column, l.int64(panelWidth/size)), "gpu.Panel: column out of range")
	turn := l.emit(ir.OpShl, ir.I64, l.emit(ir.OpAnd, ir.I64, row, l.int64(7)), l.constant(ir.I32, 4))
	at := l.emit(ir.OpXor, ir.I64, l.emit(ir.OpMul, ir.I64, column, l.int64(size)), turn)
	return l.emitImm(ir.OpIndex, ir.Ptr, 1, l.emitImm(ir.OpIndex, ir.Ptr, panelWidth, p, row), at)
}

// formatOf returns how tensor cores read elements of type t.
func formatOf(t types.Type) ir.Format {
	if e, ok := smallFloat(t); ok {
		return map[dtype.Type]ir.Format{
			dtype.Float16: ir.FormatF16, dtype.BFloat16: ir.FormatBF16,
			dtype.Float8E4M3: ir.FormatE4M3, dtype.Float8E5M2: ir.FormatE5M2,
		}[e]
	}
	return ir.FormatTF32
}

// multiplyAsync lowers gpu.MultiplyAsync. Its accumulator is a variable of the thread that becomes registers: it is
// read and written element by element.
func multiplyAsync(l *lowerer, v *ssa.Call) *ir.Value {
	acc := l.value(v.Call.Args[1])
	l.product(v, acc, l.accumulator(acc, v.Call.Args[1])...)
	return nil
}

// productAsync lowers gpu.ProductAsync, which does not read its accumulator.
func productAsync(l *lowerer, v *ssa.Call) *ir.Value {
	acc := l.value(v.Call.Args[1])
	l.checkNil(v.Call.Args[1], acc)
	l.product(v, acc)
	return nil
}

// product emits the product of the panels that call v names. It is added to the elements, if there are any, and
// stored in the accumulator at acc.
func (l *lowerer) product(v *ssa.Call, acc *ir.Value, elements ...*ir.Value) {
	n := accumulatorLen(v.Call.Args[1])
	product := ir.Product{Format: formatOf(v.Call.StaticCallee().TypeArgs()[1])}
	var left, right *ir.Value
	left, product.LeftDown = l.operand(v, v.Call.Args[2], panelRows)
	right, product.RightDown = l.operand(v, v.Call.Args[3], 2*n)
	args := append([]*ir.Value{left, right}, elements...)
	l.setAccumulator(acc, l.emitImm(ir.OpWGMMA, ir.ArrayOf(n, ir.F32), product.Imm(), args...))
}

// multiplyTilesAsync lowers gpu.MultiplyTilesAsync.
func multiplyTilesAsync(l *lowerer, v *ssa.Call) *ir.Value {
	acc := l.value(v.Call.Args[1])
	elements := l.accumulator(acc, v.Call.Args[1])
	product := ir.Product{Format: formatOf(v.Call.StaticCallee().TypeArgs()[1])}
	tiles := l.value(v.Call.Args[2])
	right, down := l.operand(v, v.Call.Args[3], 2*accumulatorLen(v.Call.Args[1]))
	product.RightDown = down
	args := []*ir.Value{right}
	for i := range tiles.Type.NumParts() {
		args = append(args, l.part(tiles, i))
	}
	args = append(args, elements...)
	l.setAccumulator(acc, l.emitImm(ir.OpWGMMATiles, ir.ArrayOf(int64(len(elements)), ir.F32), product.Imm(), args...))
	return nil
}

func awaitProducts(l *lowerer, v *ssa.Call) *ir.Value {
	acc := l.value(v.Call.Args[1])
	elements := l.accumulator(acc, v.Call.Args[1])
	left := l.left(v, v.Call.Args[2])
	l.setAccumulator(acc, l.emitImm(ir.OpWGMMAWait, ir.ArrayOf(int64(len(elements)), ir.F32), left, elements...))
	return nil
}

// accumulator returns the elements of the array at p.
func (l *lowerer) accumulator(p *ir.Value, v ssa.Value) []*ir.Value {
	l.checkNil(v, p)
	elements := make([]*ir.Value, accumulatorLen(v))
	for i := range elements {
		elements[i] = l.emit(ir.OpLoad, ir.F32, l.offset(p, 4*int64(i)))
	}
	return elements
}

// accumulatorLen returns the number of elements of the accumulator that v points to.
func accumulatorLen(v ssa.Value) int64 {
	return pointee(v.Type()).Underlying().(*types.Array).Len()
}

// setAccumulator stores the elements of x at p.
func (l *lowerer) setAccumulator(p, x *ir.Value) {
	for i := range x.Type.Len {
		l.emit(ir.OpStore, ir.Void, l.offset(p, 4*i), l.part(x, int(i)))
	}
}

// operand returns the address at which operand x begins and whether the sum runs down its columns. n is the extent of
// the other dimension.
func (l *lowerer) operand(v *ssa.Call, x ssa.Value, n int64) (at *ir.Value, down bool) {
	_, down = gpuType(x.Type(), "Down")
	panels, step := l.part(l.value(x), 0), l.part(l.value(x), 1)
	enough := l.emit(ir.OpSLe, ir.I1, l.int64((n+panelRows-1)/panelRows), l.part(panels, 1))
	name := "gpu." + callName(v.Call.StaticCallee())
	l.check(enough, name+": too few panels for the rows or columns of the product")
	l.check(l.emit(ir.OpULt, ir.I1, step, l.int64(4)), name+": step out of range 0 to 3")
	scale := int64(panelWidth / 4)
	if down {
		scale = panelRows / 4 * panelWidth
	}
	return l.emitImm(ir.OpIndex, ir.Ptr, scale, l.part(panels, 0), step), down
}

// registers lowers a change of the warp group's share of the registers.
func registers(name string, sign int64) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		n, ok := constInt(v.Call.Args[1])
		if !ok || n < 24 || n > 256 || n%8 != 0 {
			l.refuse(diag.LangCopy, "write a constant", "t.%s requires a constant argument, a multiple of 8 from 24 to 256", name)
		}
		if l.f.Kernel && l.f.Block == [3]int{} {
			l.refuse(diag.LangCopy, "fix the block size with //gpu:block", "t.%s in a kernel whose block size is not fixed", name)
		}
		return l.emitImm(ir.OpSetMaxNReg, ir.Void, sign*n)
	}
}

// fetchTile lowers TensorMap.Fetch.
func fetchTile(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpTileFetch, ir.Void, l.fetched(v)...)
}

// multicastTile lowers TensorMap.Multicast.
func multicastTile(l *lowerer, v *ssa.Call) *ir.Value {
	one := l.constant(ir.I32, 1)
	end := l.emit(ir.OpShl, ir.I32, one, l.emit(ir.OpTrunc, ir.I32, l.clusterSize()))
	return l.emit(ir.OpTileMulticast, ir.Void, append(l.fetched(v), l.emit(ir.OpSub, ir.I32, end, one))...)
}

// fetched returns what both copies to shared memory have: the tile, the tensor map, the barrier and the coordinates.
func (l *lowerer) fetched(v *ssa.Call) []*ir.Value {
	args := v.Call.Args
	to := l.tile(v, args[2])
	bar := l.sharedAddress(v, args[4])
	l.checkCorner(args[0].Type(), l.value(args[3]))
	return append([]*ir.Value{to, l.value(args[0]), bar}, l.corner(args[3])...)
}

// storeTile lowers TensorMap.Store.
func storeTile(l *lowerer, v *ssa.Call) *ir.Value {
	args := v.Call.Args
	from := l.tile(v, args[3])
	l.checkCorner(args[0].Type(), l.value(args[2]))
	return l.emit(ir.OpTileStore, ir.Void, append([]*ir.Value{from, l.value(args[0])}, l.corner(args[2])...)...)
}

// checkCorner refuses places where a bulk copy is an illegal instruction, as an H200 has shown.
func (l *lowerer) checkCorner(m types.Type, at *ir.Value) {
	part, _ := gpuType(m, "TensorMap")
	for {
		if elem, ok := gpuType(part, "Panel"); ok {
			part = elem
		}
		array, ok := part.Underlying().(*types.Array)
		if !ok {
			break
		}
		part = array.Elem()
	}
	most := l.int64(1 << 31)
	ok := l.emit(ir.OpAnd, ir.I1, l.emit(ir.OpULt, ir.I1, l.part(at, 1), most), l.emit(ir.OpULt, ir.I1, l.part(at, 2), most))
	ok = l.emit(ir.OpAnd, ir.I1, ok, l.emit(ir.OpULt, ir.I1, l.part(at, 0), most))
	if size := l.irType(part).Size(); size < cornerAlign {
		rest := l.emit(ir.OpAnd, ir.I64, l.part(at, 0), l.int64(cornerAlign/size-1))
		ok = l.emit(ir.OpAnd, ir.I1, ok, l.emit(ir.OpEq, ir.I1, rest, l.int64(0)))
	}
	l.check(ok, "gpu.TensorMap: corner is negative or not a multiple of 16 bytes along X")
}

// tile returns the address of a tile in shared memory, aligned as copies need it.
func (l *lowerer) tile(v *ssa.Call, x ssa.Value) *ir.Value {
	p := l.sharedAddress(v, x)
	if r := rootOf(p); r.Op == ir.OpVar {
		variable := r.Aux.(*ir.Variable)
		variable.Align = max(variable.Align, tileAlign)
	}
	l.checkAligned(callName(v.Call.StaticCallee()), p, tileAlign)
	return p
}

// corner returns the coordinates in a gpu.Corner.
func (l *lowerer) corner(x ssa.Value) []*ir.Value {
	at := l.value(x)
	var all []*ir.Value
	for i := range at.Type.NumParts() {
		all = append(all, l.emit(ir.OpTrunc, ir.I32, l.part(at, i)))
	}
	return all
}

// fetchBulk lowers gpu.FetchBulk.
func fetchBulk(l *lowerer, v *ssa.Call) *ir.Value {
	to, from, n := l.stretch(v, v.Call.Args[1], v.Call.Args[2])
	bar := l.sharedAddress(v, v.Call.Args[3])
	return l.emit(ir.OpBulkFetch, ir.Void, to, from, n, bar)
}

// storeBulk lowers gpu.StoreBulk.
func storeBulk(l *lowerer, v *ssa.Call) *ir.Value {
	from, to, n := l.stretch(v, v.Call.Args[2], v.Call.Args[1])
	return l.emit(ir.OpBulkStore, ir.Void, from, to, n)
}

// mostBulk is less than what a barrier can expect (PTX ISA, mbarrier, expect-tx), in bytes.
const mostBulk = 1<<20 - 16

// stretch returns the addresses of two slices of the same length, of which the first is in shared memory, and their
// bytes, as bulk copies take them.
func (l *lowerer) stretch(v *ssa.Call, shared, global ssa.Value) (near, far, bytes *ir.Value) {
	x, y := l.value(shared), l.value(global)
	near, far = l.part(x, 0), l.part(y, 0)
	l.needShared(v, near)
	name, size := callName(v.Call.StaticCallee()), l.irType(shared.Type().Underlying().(*types.Slice).Elem()).Size()
	l.check(l.emit(ir.OpEq, ir.I1, l.part(x, 1), l.part(y, 1)), "gpu."+name+": slices have different lengths")
	n := l.emit(ir.OpMul, ir.I64, l.part(x, 1), l.int64(size))
	address := func(p *ir.Value) *ir.Value { return l.emit(ir.OpBitcast, ir.I64, p) }
	all := l.emit(ir.OpOr, ir.I64, l.emit(ir.OpOr, ir.I64, address(near), address(far)), n)
	aligned := l.emit(ir.OpEq, ir.I1, l.emit(ir.OpAnd, ir.I64, all, l.int64(15)), l.int64(0))
	some := l.emit(ir.OpULt, ir.I1, l.emit(ir.OpSub, ir.I64, n, l.int64(1)), l.int64(mostBulk))
	l.check(l.emit(ir.OpAnd, ir.I1, aligned, some), "gpu."+name+": address or size is not a multiple of 16 bytes, or size is 1 MiB or more")
	return near, far, l.emit(ir.OpTrunc, ir.I32, n)
}
