package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// parameterBlock makes a kernel's parameters: one for each scalar in the Go struct that has the
// kernel's parameters, but the thread, as fields. The Go values are put together in the entry.
func (l *lowerer) parameterBlock() {
	l.makeBlocks()
	block := ir.StructOf()
	fields := map[*ssa.Parameter]int{}
	for _, p := range l.fn.Params[1:] {
		l.guardValue(p, func() {
			l.moveTo(p.Pos())
			if why := cannotCross(p.Type(), true); why != "" {
				l.refuse(diag.KernelParameter, "pass numbers, booleans, slices of them, and structs and arrays without pointers",
					"kernel parameter %s has %s", p.Name(), why)
			}
			if _, ok := gpuType(p.Type(), "TensorMap"); ok {
				l.values[p] = l.tensorMap(block)
				return
			}
			block.Fields = append(block.Fields, l.typeOf(p))
			fields[p] = len(block.Fields) - 1
		})
	}
	for _, p := range l.fn.Params[1:] {
		i, ok := fields[p]
		if !ok {
			continue
		}
		l.moveTo(p.Pos())
		l.values[p] = l.leaves(block.Fields[i], block.PartOffset(i))
		if s, ok := p.Type().Underlying().(*types.Slice); ok {
			l.f.Slices = append(l.f.Slices, ir.SliceParam{Offset: block.PartOffset(i), Elem: l.irType(s.Elem()).Size()})
		}
		l.spillResult(p)
	}
	l.f.ParamBytes = int((block.Size()+7)/8*8) + driver.HiddenBytes
}

// tensorMap adds a tensor map to the parameter block, aligned as a GPU wants it, and returns its address.
func (l *lowerer) tensorMap(block *ir.Type) *ir.Value {
	if pad := -block.Size() & (driver.TensorMapAlign - 1); pad > 0 {
		block.Fields = append(block.Fields, ir.ArrayOf(pad, ir.I8))
	}
	block.Fields = append(block.Fields, ir.ArrayOf(driver.TensorMapBytes/8, ir.I64))
	return l.emitImm(ir.OpTensorMap, ir.Ptr, block.PartOffset(len(block.Fields)-1))
}

// leaves makes parameters for the scalars of a value of type t at the given offset, and
// returns the value.
func (l *lowerer) leaves(t *ir.Type, offset int64) *ir.Value {
	if t.IsScalar() {
		p := l.f.NewParam(t, offset)
		p.Pos = l.pos
		return p
	}
	parts := make([]*ir.Value, t.NumParts())
	for i := range parts {
		parts[i] = l.leaves(t.Part(i), offset+t.PartOffset(i))
	}
	return l.emit(ir.OpStruct, t, parts...)
}

// cannotCross describes what in a parameter of type t has no meaning on a device, or is empty. Slices
// and structs with slices cross as parameters only.
func cannotCross(t types.Type, top bool) string {
	if _, ok := gpuType(t, "TensorMap"); ok && top {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if _, ok := basicTypes[u.Kind()]; ok {
			return ""
		}
	case *types.Slice:
		if top {
			return cannotCross(u.Elem(), false)
		}
		return "a nested slice in its type"
	case *types.Array:
		return cannotCross(u.Elem(), false)
	case *types.Struct:
		for i := range u.NumFields() {
			field := u.Field(i).Type()
			_, tensor := gpuType(field, "TensorMap")
			if why := cannotCross(field, top && !tensor); why != "" {
				return why
			}
		}
		return ""
	case *types.Pointer:
		return "a pointer in its type"
	}
	return lackOf(t).what + " in its type"
}
