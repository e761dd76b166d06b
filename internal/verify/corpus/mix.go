package corpus

import (
	"fmt"
	"go/types"
	"strings"
)

// mix writes statements that add what an expression is, or points to, to the hash h.
func (w *caller) mix(x string, t types.Type, depth int) {
	if depth > deepest {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		w.mixBasic(x, u)
	case *types.Slice:
		w.line("h = mix(h, uint64(len(%s)))", x)
		w.mixElements(x, u.Elem(), depth)
	case *types.Array:
		w.mixElements(x, u.Elem(), depth)
	case *types.Pointer:
		w.line("if %s != nil {", x)
		w.mix(fmt.Sprintf("(*%s)", x), u.Elem(), depth+1)
		w.line("}")
	case *types.Struct:
		for f := range u.Fields() {
			if name := w.field(f); name != "" {
				w.mix(x+"."+name, f.Type(), depth+1)
			}
		}
	case *types.Interface:
		w.line("h = mixBool(h, %s != nil)", x)
	case *types.Signature:
		w.mixIterator(x, u, depth)
	}
}

func (w *caller) mixElements(x string, elem types.Type, depth int) {
	if depth == deepest {
		return
	}
	i := w.name("i")
	w.line("for %s := range %s {\n\t\t_ = %s", i, x, i)
	w.mix(fmt.Sprintf("%s[%s]", x, i), elem, depth+1)
	w.line("}")
}

func (w *caller) mixBasic(x string, basic *types.Basic) {
	switch info := basic.Info(); {
	case info&types.IsBoolean != 0:
		w.line("h = mixBool(h, bool(%s))", x)
	case info&types.IsInteger != 0:
		w.line("h = mix(h, uint64(%s))", x)
	case info&types.IsFloat != 0:
		w.line("h = mixFloat(h, float64(%s))", x)
	case info&types.IsComplex != 0:
		w.line("h = mixFloat(mixFloat(h, float64(real(%s))), float64(imag(%s)))", x, x)
	case info&types.IsString != 0:
		i := w.name("i")
		w.line("h = mix(h, uint64(len(%s)))\n\tfor %s := range len(%s) {\n\t\th = mix(h, uint64(%s[%s]))\n\t}", x, i, x, x, i)
	}
}

// mixIterator ranges over a function if it yields one or two values. What other functions do is not compared.
func (w *caller) mixIterator(x string, sig *types.Signature, depth int) {
	yield := yieldOf(sig)
	if yield == nil || yield.Params().Len() == 0 || depth > 0 {
		return
	}
	var names []string
	for range yield.Params().Len() {
		names = append(names, w.name("v"))
	}
	count := w.name("n")
	w.line("%s := 0\n\tfor %s := range %s {", count, strings.Join(names, ", "), x)
	for i, name := range names {
		w.line("_ = %s", name)
		w.mix(name, yield.Params().At(i).Type(), depth+1)
	}
	w.line("if %s++; %s > 20 {\n\t\tbreak\n\t}\n\t}", count, count)
}
