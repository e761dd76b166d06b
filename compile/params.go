package compile

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// layout returns the kernel's parameters, those after the thread, as the fields of a Go struct, and
// the size of its parameter block.
func layout(k function) (params []driver.Param, bytes int) {
	var fields []*types.Var
	names := parameterNames(k.Kernel)
	for i := 1; i < k.sig.Params().Len(); i++ {
		fields = append(fields, types.NewField(token.NoPos, nil, names[i-1], k.sig.Params().At(i).Type(), false))
	}
	end := int64(0)
	for i, v := range fields {
		t := v.Type()
		align := load.Sizes.Alignof(t)
		if isTensorMap(t) {
			align = driver.TensorMapAlign
		}
		offset := (end + align - 1) / align * align
		params = appendParam(params, driver.Param{Name: names[i], Offset: int(offset)}, t)
		end = offset + load.Sizes.Sizeof(t)
	}
	bytes = int(end)
	if n := len(fields); n > 0 && load.Sizes.Sizeof(fields[n-1].Type()) == 0 {
		bytes++ // as in a Go struct
	}
	return params, (bytes+7)/8*8 + driver.HiddenBytes
}

// appendParam adds the parameter p of type t, as the parameters that its fields are if t is a struct with slices.
func appendParam(params []driver.Param, p driver.Param, t types.Type) []driver.Param {
	if s, ok := t.Underlying().(*types.Struct); ok && hasSlices(t) {
		var fields []*types.Var
		for v := range s.Fields() {
			fields = append(fields, v)
		}
		for i, offset := range load.Sizes.Offsetsof(fields) {
			inner := driver.Param{Name: p.Name + "." + fields[i].Name(), Offset: p.Offset + int(offset)}
			params = appendParam(params, inner, fields[i].Type())
		}
		return params
	}
	p.Size, p.Tensor = int(load.Sizes.Sizeof(t)), isTensorMap(t)
	if s, ok := t.Underlying().(*types.Slice); ok {
		p.Elem = int(load.Sizes.Sizeof(s.Elem()))
	}
	return append(params, p)
}

// hasSlices reports whether t is a slice, or a struct with slices among its fields or their fields.
func hasSlices(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Struct:
		for v := range u.Fields() {
			if hasSlices(v.Type()) {
				return true
			}
		}
	}
	return false
}

// isTensorMap reports whether t is a gpu.TensorMap.
func isTensorMap(t types.Type) bool { return isGPU(t, "TensorMap") }

// isGPU reports whether t is the type of package gpu with the given name.
func isGPU(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && strings.HasSuffix(n.Obj().Pkg().Path(), "gopherwarp/gpu")
}

func parameterNames(k decl.Kernel) []string {
	var names []string
	for _, f := range k.Fields {
		names = append(names, f.Names...)
	}
	return names
}

// checkParams reports a first parameter that is not a thread, and the others that cannot cross to a device.
func checkParams(k function) diag.List {
	if !isGPU(k.sig.Params().At(0).Type(), "Thread") {
		return diag.List{decl.NoThread(k.Name, k.Pos)}
	}
	var found diag.List
	next := 1
	for _, f := range k.Fields {
		t := k.sig.Params().At(next).Type()
		next += len(f.Names)
		if d, ok := checkParam(f, t); !ok {
			d.Pos, d.Code = f.Pos, diag.KernelParameter
			name := k.instance.Name
			switch {
			case k.Package == "" && slicesIn(t) == inGeneric: // of all instances alike
				name = k.Name
			case len(k.TypeParams) > 0:
				d.Pos = k.instance.Pos
			}
			d.Message = fmt.Sprintf("parameter %s of kernel %s %s", f.Names[0], name, d.Message)
			found.Add(d)
		}
	}
	if _, bytes := layout(k); len(found) == 0 && bytes > maxParams {
		found.Add(diag.New(k.Pos, diag.KernelSize, "the parameters of kernel %s take %d bytes; at most %d are allowed", k.instance.Name, bytes-driver.HiddenBytes, maxParams-driver.HiddenBytes).
			WithHelp("pass large arrays as slices"))
	}
	return found
}

// maxParams is the size of the largest parameter block (CUDA C++ programming guide, Function
// Parameters: 4 KB on devices before Volta and by older drivers on all), without the extra parameters of variants.
const maxParams = 4096 - driver.CoarseBytes - driver.TestBytes

// checkParam returns what is wrong with a field of type t.
func checkParam(f decl.Field, t types.Type) (diag.Diagnostic, bool) {
	s, ok := t.Underlying().(*types.Slice)
	switch {
	case f.Struct != nil:
		return checkFields(f.Struct, t.Underlying().(*types.Struct))
	case f.Tensor && isTensorMap(t):
		return diag.Diagnostic{}, true
	case ok && !f.Slice:
		return diag.Diagnostic{
			Message: "is a slice of a type that another package declares",
			Help:    fmt.Sprintf("write []%s, or declare the type in the kernel's package", types.TypeString(s.Elem(), shortName)),
		}, false
	case ok && load.Sizes.Sizeof(s.Elem()) == 0:
		return diag.Diagnostic{Message: "has elements of size 0", Help: "pass the length as an int"}, false
	case ok:
		t = s.Elem()
	case hasSlices(t):
		return diag.Diagnostic{Message: "contains slices in " + string(slicesIn(t)), Help: slicesHelp[slicesIn(t)]}, false
	}
	if why, help := foreign(t); why != "" {
		return diag.Diagnostic{Message: why, Help: help}, false
	}
	return diag.Diagnostic{}, true
}

// A structKind is a kind of struct type that cannot contain slices.
type structKind string

const (
	inGeneric   structKind = "a generic struct type"
	inAnonymous structKind = "an anonymous struct type"
	inForeign   structKind = "types that the package does not declare"
)

var slicesHelp = map[structKind]string{
	inGeneric:   "generic struct types with slices are not supported; declare a struct without type parameters, or make the slices parameters of the kernel",
	inAnonymous: "anonymous struct types with slices are not supported; declare a struct type in the kernel's package",
	inForeign:   "declare the struct in the kernel's package, without type parameters, with fields of type []T",
}

// slicesIn returns the kind of the struct type that keeps t, a type with slices, from being a parameter.
func slicesIn(t types.Type) structKind {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || !hasSlices(t) {
		return inForeign
	}
	if n, ok := types.Unalias(t).(*types.Named); !ok {
		return inAnonymous
	} else if n.TypeArgs().Len() > 0 {
		return inGeneric
	}
	for v := range s.Fields() {
		if k := slicesIn(v.Type()); k != inForeign {
			return k
		}
	}
	return inForeign
}

// checkFields returns what is wrong with the fields of a struct with slices.
func checkFields(s *decl.Struct, t *types.Struct) (diag.Diagnostic, bool) {
	next := 0
	for _, f := range s.Fields {
		for _, name := range f.Names {
			field := t.Field(next).Type()
			next++
			d, ok := checkParam(f, field)
			switch {
			case isTensorMap(field):
				d, ok = diag.Diagnostic{Message: "contains a tensor map", Help: "make the tensor map a parameter of its own"}, false
			case name == "_":
				d, ok = diag.Diagnostic{Message: "has a blank field beside slices", Help: "name the field"}, false
			case ok && load.Sizes.Sizeof(field) == 0:
				d, ok = diag.Diagnostic{Message: "has a value of size 0 beside slices", Help: "remove the field"}, false
			}
			if !ok {
				d.Message += " in field " + name
				return d, false
			}
		}
	}
	return diag.Diagnostic{}, true
}

func shortName(p *types.Package) string { return p.Name() }

// foreign describes why values of t cannot cross to a device, with advice, or returns "".
func foreign(t types.Type) (why, help string) {
	help = "only numbers, booleans, slices of them, and structs and arrays without pointers can be passed to a device"
	name := types.TypeString(t, shortName)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&(types.IsBoolean|types.IsInteger|types.IsFloat) == 0 {
			return fmt.Sprintf("contains a value of type %s", name), help
		}
		return "", ""
	case *types.Array:
		if _, ok := u.Elem().Underlying().(*types.Slice); ok {
			return "contains an array of slices", "arrays of slices are not supported; make each slice a field or a parameter of its own"
		}
		return foreign(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if why, help := foreign(v.Type()); why != "" {
				return why + " in field " + v.Name(), help
			}
		}
		return "", ""
	default:
		return fmt.Sprintf("contains %s of type %s", kind(u), name), help
	}
}

func kind(t types.Type) string {
	switch t.(type) {
	case *types.Pointer:
		return "a pointer"
	case *types.Slice:
		return "a slice"
	case *types.Map:
		return "a map"
	case *types.Chan:
		return "a channel"
	case *types.Signature:
		return "a function"
	default:
		return "an interface"
	}
}
