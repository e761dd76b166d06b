package ptx

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxStatic is the shared memory, in bytes, that a kernel may declare (ptxas, for every target).
const maxStatic = 48 << 10

// dynamicName is the symbol of dynamic shared memory.
const dynamicName = "$dynamic"

// variables are the variables that a kernel uses, in the order of their first use. Its shared
// variables are declared one by one or, where all of them are too large for that, lie one
// after the other at the start of dynamic shared memory.
type variables struct {
	places  map[*ir.Variable]address
	module  strings.Builder // declarations before the entry
	local   strings.Builder // and in its body
	locals  int
	static  int64 // bytes of shared memory that are declared
	dynamic int64 // bytes of dynamic shared memory before what a launch adds; a multiple of 16
	extern  bool  // dynamic shared memory is declared
	align   int64 // of dynamic shared memory
}

func newVariables(f *ir.Func) *variables {
	vs := &variables{places: map[*ir.Variable]address{}, align: 16}
	size, offsets := sharedLayout(f)
	vs.align = max(vs.align, dynamicAlign(f))
	if size <= maxStatic && vs.align == 16 {
		vs.static = size
		return vs
	}
	vs.dynamic = (size + vs.align - 1) / vs.align * vs.align
	for v, offset := range offsets {
		vs.align = max(vs.align, v.Align)
		vs.places[v] = address{operand{text: dynamicName}, offset}
	}
	vs.declareDynamic()
	return vs
}

// dynamicAlign is the alignment of the memory of gpu.DynamicShared. If it is more than the hardware's 16, f declares no shared memory,
// after which that memory would begin.
func dynamicAlign(f *ir.Func) (align int64) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if x, ok := v.Aux.(*ir.Variable); ok && x.Space == ir.Shared && x.Type.Size() == 0 {
				align = max(align, x.Align)
			}
		}
	}
	return align
}

// sharedLayout places the shared variables of f one after the other, and returns how many
// bytes they take.
func sharedLayout(f *ir.Func) (size int64, offsets map[*ir.Variable]int64) {
	offsets = map[*ir.Variable]int64{}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			x, ok := v.Aux.(*ir.Variable)
			if reachesPeers(v.Op) {
				x, ok = clusterCounts, true
			}
			if _, placed := offsets[x]; !ok || placed || x.Space != ir.Shared || x.Type.Size() == 0 {
				continue
			}
			align := sharedAlign(x)
			offsets[x] = (size + align - 1) / align * align
			size = offsets[x] + x.Type.Size()
		}
	}
	return size, offsets
}

// sharedAlign is 16 for all that could be accessed 16 bytes at a time, unless the variable asks for more.
func sharedAlign(v *ir.Variable) int64 {
	if v.Type.Size() >= 16 {
		return max(16, v.Align)
	}
	return max(v.Type.Align(), v.Align)
}

func (vs *variables) declareDynamic() {
	if vs.extern {
		return
	}
	vs.extern = true
	fmt.Fprintf(&vs.module, ".extern .shared .align %d .b8 %s[];\n", vs.align, dynamicName)
}

// symbol returns where v lies, and declares it when it is new.
func (vs *variables) symbol(v *ir.Variable) address {
	if at, ok := vs.places[v]; ok {
		return at
	}
	size := v.Type.Size()
	if v.Space == ir.Shared && size == 0 {
		vs.declareDynamic()
		vs.places[v] = address{operand{text: dynamicName}, vs.dynamic}
		return vs.places[v]
	}
	name := "$" + v.Space.String() + "$" + identifier(v.Name)
	vs.places[v] = address{base: operand{text: name}}
	align := v.Type.Align()
	switch v.Space {
	case ir.Shared:
		align = sharedAlign(v)
	case ir.Constant:
		align = max(align, constantAlign)
	}
	fmt.Fprintf(&vs.module, ".%s .align %d .b8 %s[%d]", v.Space, align, name, max(1, size))
	if v.Space == ir.Constant {
		vs.module.WriteString(" = {" + byteList(v.Init) + "}")
	}
	vs.module.WriteString(";\n")
	return vs.places[v]
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

// constantAlign is the least alignment of a table in constant memory. ptxas (13.5, and the driver's) reads
// 16 bits at an offset in a table that is a multiple of 4 with an instruction for 32, also of a table that it
// has put at an odd place: a GPU then faults.
const constantAlign = 16
