package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// mma lowers gpu.MMA.
func mma(l *lowerer, v *ssa.Call) *ir.Value {
	var args []*ir.Value
	for _, a := range v.Call.Args[1:] {
		x := l.value(a)
		for i := range x.Type.NumParts() {
			args = append(args, l.part(x, i))
		}
	}
	format := ir.FormatF16
	if e, _ := smallFloat(v.Call.StaticCallee().TypeArgs()[0]); e == dtype.BFloat16 {
		format = ir.FormatBF16
	}
	return l.emitImm(ir.OpMMA, ir.ArrayOf(4, ir.F32), int64(format), args...)
}

// loadMatrix lowers the loads of n tiles.
func loadMatrix(n, transposed int64) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		row := l.sharedAddress(v, v.Call.Args[1])
		l.checkAligned("LoadMatrix", row, 16)
		tiles := l.emitImm(ir.OpLoadMatrix, ir.ArrayOf(n, ir.I32), transposed, row)
		if n == 1 {
			return l.part(tiles, 0)
		}
		return tiles
	}
}

// storeMatrix lowers gpu.StoreMatrix4.
func storeMatrix(l *lowerer, v *ssa.Call) *ir.Value {
	row, tiles := l.sharedAddress(v, v.Call.Args[1]), l.value(v.Call.Args[2])
	l.checkAligned("StoreMatrix4", row, 16)
	args := []*ir.Value{row}
	for i := range 4 {
		args = append(args, l.part(tiles, i))
	}
	return l.emit(ir.OpStoreMatrix, ir.Void, args...)
}

// fetchAsync lowers gpu.FetchAsync: without a branch, and out of range without an address outside
// of the slice.
func fetchAsync(l *lowerer, v *ssa.Call) *ir.Value {
	size := l.copySize(v)
	to, x, i := l.sharedAddress(v, v.Call.Args[1]), l.value(v.Call.Args[2]), l.value(v.Call.Args[3])
	l.checkAligned("FetchAsync", to, size)
	l.checkAligned("FetchAsync", l.part(x, 0), size)
	inside := l.emit(ir.OpULt, ir.I1, i, l.part(x, 1))
	i = l.emit(ir.OpSelect, ir.I64, inside, i, l.int64(0))
	n := l.emit(ir.OpSelect, ir.I32, inside, l.constant(ir.I32, size), l.constant(ir.I32, 0))
	from := l.emitImm(ir.OpIndex, ir.Ptr, size, l.part(x, 0), i)
	return l.emitImm(ir.OpFetchAsync, ir.Void, size, to, from, n)
}

// sharedAddress returns the address p, an argument of call v, which must be one in shared memory.
// Where it comes from a parameter of a function, or from a call, package compile looks again, once all calls are inlined.
func (l *lowerer) sharedAddress(v *ssa.Call, p ssa.Value) *ir.Value {
	x := l.value(p)
	l.needShared(v, x)
	l.checkNil(p, x)
	return x
}

// needShared refuses an address x, an argument of call v, that is not known to be one in shared memory.
func (l *lowerer) needShared(v *ssa.Call, x *ir.Value) {
	r := rootOf(x)
	if r.Op == ir.OpExtract {
		r = r.Args[0] // the address of an element of a slice
	}
	shared := r.Op == ir.OpVar && r.Aux.(*ir.Variable).Space == ir.Shared
	if !shared && r.Op != ir.OpCall && (r.Op != ir.OpParam || l.f.Kernel) {
		l.refuse(diag.LangShared, "take the address of an element of a variable that gpu.Shared or gpu.DynamicShared returned",
			"the address that is passed to gpu.%s is not known to be in shared memory", callName(v.Call.StaticCallee()))
	}
}

// rootOf returns what the address x was computed from, which for a slice of dynamic shared memory
// is its variable.
func rootOf(x *ir.Value) *ir.Value {
	for {
		switch {
		case x.Op == ir.OpOffset || x.Op == ir.OpIndex:
			x = x.Args[0]
		case x.Op == ir.OpExtract && x.Args[0].Op == ir.OpStruct:
			x = x.Args[0].Args[x.Imm]
		default:
			return x
		}
	}
}
