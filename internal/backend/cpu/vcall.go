package cpu

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// vectorCall returns the call of f, which sets a variable to how many threads it has done.
func (e *emitter) vectorCall(f *vectorFunc, first string) []line {
	scope := e.out.scope
	e.out.scope = e.rows
	defer func() { e.out.scope = scope }()
	args := []string{e.size(0)}
	for _, in := range f.inputs {
		args = append(args, e.inputText(in))
	}
	return []line{
		{text: fmt.Sprintf("%s := 0", first)},
		{text: fmt.Sprintf("if %s == %d {", e.word("lanes"), vectorLanes), pos: e.here.place()},
		{text: fmt.Sprintf("%s = %s.%s(%s)", first, e.imported(e.o.Vector.Path), f.code.Name(), strings.Join(args, ", ")), pos: e.here.place()},
		{text: "}"},
	}
}

// inputText returns what the caller passes.
func (e *emitter) inputText(in input) string {
	switch in.what {
	case inputRoot:
		return e.pointer(in.v).text
	case inputElement:
		row := number(0)
		if d := e.f.Block; d[0] == 0 || d[1] > 1 || d[2] > 1 {
			row = operand("%s", e.word("row"))
		}
		return e.elementAt(in.v, in.v.Type.Size(), row)
	case inputSpecial:
		return e.special(in.v).text
	}
	x := e.ref(in.v)
	if in.v.Type.IsInt() && in.v.Type.Kind != ir.KindI1 && e.typeName(in.v.Type, false) != "int" {
		x = convert("int", x)
	}
	return x.text
}

// vectorCode returns the functions of all regions.
func (e *emitter) vectorCode() []VectorCode {
	var list []VectorCode
	for _, g := range e.list {
		if f := e.vectors[g]; f != nil {
			list = append(list, VectorCode{f.code.Signature(), f.code.Text()})
		}
	}
	return list
}
