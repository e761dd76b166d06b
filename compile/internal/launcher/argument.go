package launcher

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
)

// argument returns the type of a launcher's argument for a parameter, or for the field of one.
func (w *writer) argument(f decl.Field, params map[string]string) string {
	t := w.imports.typeText(f.Type, params)
	switch {
	case f.Slice:
		return w.imports.device() + ".Slice[" + t + "]"
	case f.Tensor:
		return w.imports.device() + ".TensorMap[" + t + "]"
	case f.Struct != nil:
		return f.Struct.Arg
	}
	return t
}

// pass writes statements that pass an argument to the plan p: each field of a struct with slices by itself.
func (w *writer) pass(p, argument string, f decl.Field) {
	switch {
	case f.Struct != nil:
		for _, inner := range f.Struct.Fields {
			for _, name := range inner.Names {
				w.pass(p, argument+"."+name, inner)
			}
		}
	case f.Slice || f.Tensor:
		w.printf("%s.Pass(%s)\n", argument, p)
	default:
		w.printf("%s.Pass(%s, %s)\n", w.imports.driver(), p, argument)
	}
}

// structs declares the types of arguments for structs with slices.
func (w *writer) structs(pkg *decl.Package) {
	done := map[string]bool{}
	for _, k := range pkg.Kernels {
		w.structsOf(k.Fields, done)
	}
}

func (w *writer) structsOf(fields []decl.Field, done map[string]bool) {
	for _, f := range fields {
		if f.Struct == nil || done[f.Struct.Name] {
			continue
		}
		done[f.Struct.Name] = true
		w.structsOf(f.Struct.Fields, done)
		w.printf("// %s is the argument of launchers for a %s. Its slices are in the memory of a device.\n", f.Struct.Arg, f.Struct.Name)
		w.printf("type %s struct {\n", f.Struct.Arg)
		for _, inner := range f.Struct.Fields {
			w.printf("%s %s\n", strings.Join(inner.Names, ", "), w.argument(inner, nil))
		}
		w.printf("}\n\n")
	}
}

// typesOf returns the types of fields, and of the fields of structs.
func typesOf(fields []decl.Field) []decl.Text {
	var texts []decl.Text
	for _, f := range fields {
		texts = append(texts, f.Type)
		if f.Struct != nil {
			texts = append(texts, typesOf(f.Struct.Fields)...)
		}
	}
	return texts
}
