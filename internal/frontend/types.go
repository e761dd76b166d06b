package frontend

import (
	"go/types"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	gpuPath    = "github.com/gopherwarp/gopherwarp/gpu"
	math32Path = "github.com/gopherwarp/gopherwarp/math32"
	dtypePath  = "github.com/gopherwarp/gopherwarp/dtype"
)

// threadType is what a gpu.Thread becomes: nothing. The indices are operations.
var threadType = ir.StructOf()

var basicTypes = map[types.BasicKind]*ir.Type{
	types.Bool: ir.I1,
	types.Int:  ir.I64, types.Int8: ir.I8, types.Int16: ir.I16, types.Int32: ir.I32, types.Int64: ir.I64,
	types.Uint: ir.I64, types.Uint8: ir.I8, types.Uint16: ir.I16, types.Uint32: ir.I32, types.Uint64: ir.I64, types.Uintptr: ir.I64,
	types.Float32: ir.F32, types.Float64: ir.F64,
	types.UntypedBool: ir.I1, types.UntypedInt: ir.I64, types.UntypedRune: ir.I32, types.UntypedFloat: ir.F64,
}

var elementTypes = map[types.BasicKind]dtype.Type{
	types.Bool: dtype.Bool, types.UntypedBool: dtype.Bool,
	types.Int: dtype.Int64, types.Int8: dtype.Int8, types.Int16: dtype.Int16, types.Int32: dtype.Int32, types.Int64: dtype.Int64,
	types.Uint: dtype.Uint64, types.Uint8: dtype.Uint8, types.Uint16: dtype.Uint16, types.Uint32: dtype.Uint32, types.Uint64: dtype.Uint64,
	types.Uintptr: dtype.Uint64, types.Float32: dtype.Float32, types.Float64: dtype.Float64,
}

// lack names what a kernel cannot have.
type lack struct {
	code diag.Code
	what string
	help string
}

// irType returns the form of t in IR, or what is missing in a kernel for it.
func irType(t types.Type) (*ir.Type, *lack) {
	if isThread(t) {
		return threadType, nil
	}
	if _, ok := gpuType(t, "TensorMap"); ok {
		return ir.Ptr, nil // its address
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if k, ok := basicTypes[u.Kind()]; ok {
			return k, nil
		}
		if u.Info()&types.IsString != 0 {
			return stringType, nil
		}
	case *types.Pointer:
		return ir.Ptr, nil
	case *types.Slice:
		return ir.Slice, nil
	case *types.Array:
		elem, l := irType(u.Elem())
		if l != nil {
			return nil, l
		}
		return ir.ArrayOf(u.Len(), elem), nil
	case *types.Struct:
		return structType(u.NumFields(), func(i int) types.Type { return u.Field(i).Type() })
	case *types.Tuple:
		return tupleType(u)
	}
	return nil, lackOf(t)
}

// tupleType returns the form of a function's results: nothing, the one, or a struct.
func tupleType(t *types.Tuple) (*ir.Type, *lack) {
	switch t.Len() {
	case 0:
		return ir.Void, nil
	case 1:
		return irType(t.At(0).Type())
	}
	return structType(t.Len(), func(i int) types.Type { return t.At(i).Type() })
}

func structType(n int, field func(int) types.Type) (*ir.Type, *lack) {
	s := ir.StructOf()
	for i := range n {
		f, l := irType(field(i))
		if l != nil {
			return nil, l
		}
		s.Fields = append(s.Fields, f)
	}
	return s, nil
}

// lackOf describes why t has no form in IR.
func lackOf(t types.Type) *lack {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return &lackMap
	case *types.Chan:
		return &lackChan
	case *types.Interface, *types.TypeParam:
		return &lackInterface
	case *types.Array:
		return lackOf(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if _, l := irType(u.Field(i).Type()); l != nil {
				return l
			}
		}
	case *types.Signature:
		return &lackFunc
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return &lack{diag.LangString, "a string", lackString.help}
		case u.Info()&types.IsComplex != 0:
			return &lackComplex
		case u.Kind() == types.UnsafePointer:
			return &lackUnsafe
		}
	}
	panic("BUG: frontend: type " + t.String())
}

func shortName(p *types.Package) string { return p.Name() }

func isThread(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Thread" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == gpuPath
}

// elementOf returns the element type that a number or boolean of type t is for the host.
func elementOf(t types.Type) (dtype.Type, bool) {
	if e, ok := smallFloat(t); ok {
		return e, true
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return dtype.Invalid, false
	}
	e, ok := elementTypes[b.Kind()]
	return e, ok
}

// smallFloat returns the element type of t where it is a float of package dtype, which holds
// its bits in an integer.
func smallFloat(t types.Type) (dtype.Type, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != dtypePath {
		return dtype.Invalid, false
	}
	e, ok := map[string]dtype.Type{
		"F16": dtype.Float16, "BF16": dtype.BFloat16, "F8E4M3": dtype.Float8E4M3, "F8E5M2": dtype.Float8E5M2,
	}[n.Obj().Name()]
	return e, ok
}

func isUnsigned(t types.Type) bool { return hasInfo(t, types.IsUnsigned) }
func isInteger(t types.Type) bool  { return hasInfo(t, types.IsInteger) }
func isFloat(t types.Type) bool    { return hasInfo(t, types.IsFloat) }
func isString(t types.Type) bool   { return hasInfo(t, types.IsString) }

func hasInfo(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

// pointee returns the type that a pointer of type t points to.
func pointee(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }
