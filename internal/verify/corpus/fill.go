package corpus

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// texts are the constants that string arguments are taken from.
var texts = []string{
	"", "a", "hello, world", "-12345", "3.25e7", "0x1F", "TRUE", "abc/def/../g", `key=value; next="quoted"`, "\xff\u00e9\U0001F600",
	"2006-01-02T15:04:05Z", "<a href='x'>&amp;</a>", "192.168.0.1", "SGVsbG8=", "  spaces\tand\nlines  ",
}

// fill writes statements that set the variable, which is zero, to a value of its type.
func (w *caller) fill(variable string, t types.Type, depth int) {
	if depth > deepest {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		w.fillBasic(variable, t, u)
	case *types.Slice:
		w.fillSlice(variable, u, depth)
	case *types.Array:
		w.fillArray(variable, u, depth)
	case *types.Pointer:
		name := w.name("p")
		w.line("var %s %s", name, w.typeText(u.Elem()))
		w.fill(name, u.Elem(), depth+1)
		w.line("%s = &%s", variable, name)
	case *types.Struct:
		for f := range u.Fields() {
			if name := w.field(f); name != "" {
				w.fill(variable+"."+name, f.Type(), depth+1)
			}
		}
	case *types.Signature:
		w.line("%s = %s", variable, w.literal(u))
	}
}

// field returns the name by which the kernel can select a field, or "" if it cannot.
func (w *caller) field(f *types.Var) string {
	switch {
	case f.Name() == "_" || !f.Exported() && !w.copies(f.Pkg().Path()):
		return ""
	case f.Embedded():
		if name := w.embedded(f); name != "" {
			return name
		}
	}
	return f.Name()
}

func (w *caller) fillBasic(variable string, t types.Type, basic *types.Basic) {
	switch info := basic.Info(); {
	case info&types.IsString != 0:
		text := texts[w.r.IntN(len(texts))]
		w.line("%s = %s(%q)", variable, w.typeText(t), text)
	case info&types.IsComplex != 0:
		part := types.Typ[types.Float64]
		if basic.Kind() == types.Complex64 {
			part = types.Typ[types.Float32]
		}
		w.line("%s = %s(complex(%s, %s))", variable, w.typeText(t), w.read(part, ""), w.read(part, ""))
	case info&(types.IsNumeric|types.IsBoolean) != 0:
		w.line("%s = %s(%s)", variable, w.typeText(t), w.number(basic))
	}
}

// plain returns the basic type whose numbers or booleans t consists of, or nil.
func plain(t types.Type) *types.Basic {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsInteger|types.IsFloat|types.IsBoolean) == 0 {
		return nil
	}
	return b
}

// fillSlice sets a slice to a part of a parameter, if its elements can be those of one, else of a local array.
func (w *caller) fillSlice(variable string, slice *types.Slice, depth int) {
	basic := plain(slice.Elem())
	if named, ok := types.Unalias(slice.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil && !w.copies(named.Obj().Pkg().Path()) {
		basic = nil // the table of kernels does not import its package
	}
	if basic == nil {
		name := w.name("list")
		w.line("var %s [2]%s", name, w.typeText(slice.Elem()))
		w.fill(name+"[0]", slice.Elem(), depth+1)
		w.fill(name+"[1]", slice.Elem(), depth+1)
		w.line("%s = %s[:]", variable, name)
		return
	}
	name, layout := w.name("s"), types.Typ[basic.Kind()].Name()
	if layout == "uintptr" {
		layout = "uint64"
	}
	w.params = append(w.params, fmt.Sprintf("%s []%s", name, w.typeText(slice.Elem())))
	w.args = append(w.args, progen.Arg{Type: w.typeText(slice.Elem()), Layout: layout, Len: blocks * threads * perThread})
	from := fmt.Sprintf("id*%d", perThread)
	to := fmt.Sprintf("%s+%d", from, perThread)
	end := [...]string{to, to, to + "-id%3", from + "+id"}[w.r.IntN(4)] // some are shorter than their capacity
	w.line("%s = %s[%s:%s:%s]", variable, name, from, end, to)
}

func (w *caller) fillArray(variable string, array *types.Array, depth int) {
	if basic := plain(array.Elem()); basic != nil {
		w.line("for i := range %s {\n\t\t%s[i] = %s(%s)\n\t}", variable, variable, w.typeText(array.Elem()), w.read(basic, "+i"))
		return
	}
	for i := range min(array.Len(), 3) {
		w.fill(fmt.Sprintf("%s[%d]", variable, i), array.Elem(), depth+1)
	}
}

// literal returns a function literal of a type: it compares or returns its parameters, yields numbers, or does nothing.
func (w *caller) literal(sig *types.Signature) string {
	var params []string
	for i := range sig.Params().Len() {
		t := w.typeText(sig.Params().At(i).Type())
		if sig.Variadic() && i == sig.Params().Len()-1 {
			t = "..." + strings.TrimPrefix(t, "[]")
		}
		params = append(params, fmt.Sprintf("x%d %s", i, t))
	}
	var results []string
	for v := range sig.Results().Variables() {
		results = append(results, w.typeText(v.Type()))
	}
	return fmt.Sprintf("func(%s) (%s) {\n%s\t}", strings.Join(params, ", "), strings.Join(results, ", "), w.literalBody(sig))
}

func (w *caller) literalBody(sig *types.Signature) string {
	params, results := sig.Params(), sig.Results()
	if results.Len() == 0 {
		return w.yields(sig)
	}
	var values []string
	zeros := ""
	for i := range results.Len() {
		t := results.At(i).Type()
		if v := returned(params, t, w.typeText(t)); v != "" {
			values = append(values, v)
			continue
		}
		zeros += fmt.Sprintf("\t\tvar z%d %s\n", i, w.typeText(t))
		values = append(values, fmt.Sprintf("z%d", i))
	}
	if compares(sig) {
		return "\t\tif x0 < x1 {\n\t\t\treturn -1\n\t\t}\n\t\tif x0 > x1 {\n\t\t\treturn 1\n\t\t}\n\t\treturn 0\n"
	}
	return zeros + "\t\treturn " + strings.Join(values, ", ") + "\n"
}

// compares reports whether a function has the signature of one that compares two ordered values.
func compares(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	if results.Len() != 1 || params.Len() != 2 || !types.Identical(params.At(0).Type(), params.At(1).Type()) {
		return false
	}
	b := plain(params.At(0).Type())
	return types.Identical(results.At(0).Type(), types.Typ[types.Int]) && b != nil && b.Info()&types.IsOrdered != 0
}

// returned returns an expression of type t, written as text, that is made of parameters, or "".
func returned(params *types.Tuple, t types.Type, text string) string {
	result := plain(t)
	if result == nil {
		return ""
	}
	var first *types.Basic
	for i := range params.Len() {
		p := plain(params.At(i).Type())
		if types.Identical(params.At(i).Type(), t) {
			return fmt.Sprintf("x%d", i)
		}
		if i == 0 {
			first = p
		}
	}
	isBool := result.Info()&types.IsBoolean != 0
	switch {
	case first == nil || first.Info()&types.IsBoolean != 0:
		return ""
	case isBool && params.Len() >= 2 && types.Identical(params.At(0).Type(), params.At(1).Type()):
		return fmt.Sprintf("%s(x0 < x1)", text)
	case isBool:
		return fmt.Sprintf("%s(x0 > 3)", text)
	case first.Info()&types.IsInteger != 0:
		return fmt.Sprintf("%s(x0) + 1", text)
	}
	return ""
}

// yieldOf returns the signature of the parameter of an iterator, or nil for other functions.
func yieldOf(sig *types.Signature) *types.Signature {
	if sig.Params().Len() != 1 || sig.Results().Len() != 0 {
		return nil
	}
	yield, ok := sig.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Params().Len() > 2 || yield.Results().Len() != 1 || !types.Identical(yield.Results().At(0).Type(), types.Typ[types.Bool]) {
		return nil
	}
	return yield
}

// yields returns the body of an iterator that yields some numbers, if the function is one.
func (w *caller) yields(sig *types.Signature) string {
	yield := yieldOf(sig)
	if yield == nil {
		return ""
	}
	var values []string
	for v := range yield.Params().Variables() {
		if b := plain(v.Type()); b == nil || b.Info()&types.IsNumeric == 0 {
			return ""
		}
		values = append(values, w.typeText(v.Type())+"(i)")
	}
	return fmt.Sprintf("\t\tfor i := range 5 {\n\t\t\tif !x0(%s) {\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n", strings.Join(values, ", "))
}
