package ptx

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// variables are the variables that a kernel uses, in the order of their first use.
type variables struct {
	names  map[*ir.Variable]string
	module strings.Builder // declarations in front of the entry
	local  strings.Builder // and in its body
	locals int
	shared int // bytes
}

func newVariables() *variables { return &variables{names: map[*ir.Variable]string{}} }

// symbol returns the name of v and declares it when it is new.
func (vs *variables) symbol(v *ir.Variable) string {
	if name, ok := vs.names[v]; ok {
		return name
	}
	name := "$" + v.Space.String() + "$" + identifier(v.Name)
	vs.names[v] = name
	size, align := v.Type.Size(), v.Type.Align()
	fmt.Fprintf(&vs.module, ".%s .align %d .b8 %s[%d]", v.Space, align, name, max(1, size))
	if v.Space == ir.Constant {
		vs.module.WriteString(" = {" + byteList(v.Init) + "}")
	} else {
		vs.shared = (vs.shared+int(align)-1)/int(align)*int(align) + int(size)
	}
	vs.module.WriteString(";\n")
	return name
}

// newLocal declares memory of one thread and returns its name. Each variable has its own
// symbol, so that ptxas can turn it into registers alone.
func (vs *variables) newLocal(t *ir.Type) string {
	name := fmt.Sprintf("$local%d", vs.locals)
	vs.locals++
	fmt.Fprintf(&vs.local, "\t.local .align %d .b8 %s[%d];\n", localAlign(t), name, max(1, t.Size()))
	return name
}

// localAlign is larger than the type asks for where clear stores 16 bytes at a time.
func localAlign(t *ir.Type) int64 {
	if clearsWide(t) {
		return 16
	}
	return t.Align()
}

func byteList(data []byte) string {
	var b strings.Builder
	for i, x := range data {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	return b.String()
}
