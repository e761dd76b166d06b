package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// memory describes where variables of the kernel lie.
type memory struct {
	shared map[*ir.Variable]int64 // offsets in the block's shared memory
	size   int64                  // of the shared memory
	apart  map[*ir.Value]bool     // allocas that are reached from several regions: an array has one a thread
}

// findMemory lays the shared variables out and looks where allocas are used.
func (e *emitter) findMemory() {
	m := memory{shared: map[*ir.Variable]int64{}, apart: map[*ir.Value]bool{}}
	for _, b := range e.Dom.Order() {
		for _, v := range b.Values {
			if x, ok := v.Aux.(*ir.Variable); ok && x.Space == ir.Shared {
				m.add(x)
			}
			for _, a := range v.Args {
				if a.Type.IsPtr() && a.Op != ir.OpParam && e.Root[a].Op == ir.OpAlloca && e.Of[b.ID] != e.Of[e.Root[a].Block.ID] {
					m.apart[e.Root[a]] = true
				}
			}
		}
	}
	for x := range m.shared {
		if x.Type.Size() == 0 { // the dynamic shared memory
			m.shared[x] = m.size
		}
	}
	e.memory = m
}

// add gives a shared variable its place.
func (m *memory) add(x *ir.Variable) {
	if _, known := m.shared[x]; !known {
		m.shared[x] = m.size
		m.size = (m.size + x.Type.Size() + 15) &^ 15
	}
}

// offset returns the bytes from its root to p, which is no root itself.
func (e *emitter) offset(p *ir.Value) expr {
	base, ok := e.offsetOf(p.Args[0])
	switch p.Op {
	case ir.OpBitcast:
		if !ok {
			return number(0)
		}
		return base
	case ir.OpOffset:
		if !ok {
			return number(p.Imm)
		}
		return sum(base, p.Imm)
	}
	index := e.ref(p.Args[1])
	if p.Args[1].Type.Kind == ir.KindI32 {
		index = convert("int", index)
	}
	switch {
	case p.Args[1].Op == ir.OpConst:
		index = number(layout.Truncated(p.Args[1]) * p.Imm)
	case p.Imm != 1:
		index = binary("*", index, number(p.Imm))
	}
	if !ok {
		return index
	}
	return binary("+", base, index)
}

// offsetOf returns the offset of p, or false if there is none.
func (e *emitter) offsetOf(p *ir.Value) (expr, bool) {
	if e.RootOf(p) == p || p.Op == ir.OpVar {
		return expr{}, false
	}
	x := e.ref(p)
	return x, x.text != "0"
}

// pointer returns p as an unsafe.Pointer.
func (e *emitter) pointer(p *ir.Value) expr {
	base, start := e.base(e.RootOf(p))
	x, ok := e.offsetOf(p)
	switch {
	case ok && start != 0:
		return operand("%s(%s, %s)", e.unsafe("Add"), base, sum(x, start).text)
	case ok:
		return operand("%s(%s, %s)", e.unsafe("Add"), base, x.text)
	case start != 0:
		return operand("%s(%s, %d)", e.unsafe("Add"), base, start)
	}
	return operand("%s", base)
}

// base returns a root as an unsafe.Pointer and the bytes from there on.
func (e *emitter) base(root *ir.Value) (string, int64) {
	switch root.Op {
	case ir.OpConst:
		return e.unsafe("Pointer") + "(nil)", 0
	case ir.OpVar:
		x := root.Aux.(*ir.Variable)
		if x.Space == ir.Constant {
			return fmt.Sprintf("%s(&%s)", e.unsafe("Pointer"), e.table(x)), 0
		}
		return e.word("shared"), e.memory.shared[x]
	case ir.OpAlloca:
		e.needAlloca(root)
		if !e.memory.apart[root] {
			return fmt.Sprintf("%s(&%s)", e.unsafe("Pointer"), e.nameOf(root)), 0
		}
	case ir.OpParam:
	default:
		e.need(root)
	}
	if root.Op == ir.OpParam {
		e.need(root)
	}
	return e.nameOf(root), 0
}

// place returns the Go variable of type t at p.
func (e *emitter) place(p *ir.Value, t *ir.Type) string {
	if t.IsPtr() && e.RootOf(p).Op != ir.OpAlloca || t.IsPtr() && e.memory.apart[e.RootOf(p)] {
		panic(refuseAt(p, "pointers are stored in memory"))
	}
	return fmt.Sprintf("*(*%s)(%s)", e.typeName(t, false), e.pointer(p).text)
}

func (e *emitter) load(v *ir.Value) expr { return operand("%s", e.place(v.Args[0], v.Type)) }

// needAlloca declares the variable of an alloca at the top of the thread's code.
func (e *emitter) needAlloca(v *ir.Value) {
	if _, ok := e.made[v]; ok {
		return
	}
	e.made[v] = e.body
	t := v.Aux.(*ir.Type)
	name := e.nameOf(v)
	if !e.memory.apart[v] {
		e.top = append(e.top, line{text: fmt.Sprintf("var %s %s", name, e.typeName(t, false))})
		return
	}
	if holdsPointer(t) {
		panic(refuseAt(v, "pointers are stored in memory"))
	}
	e.top = append(e.top, line{text: fmt.Sprintf("%s := %s", name, e.element(v, t.Size()))})
	if e.Of[v.Block.ID] == e.here && v.Imm != 1 {
		e.top = append(e.top, line{text: fmt.Sprintf("clear(%s((*byte)(%s), %d))", e.unsafe("Slice"), name, t.Size())})
	}
}

// cleared returns the allocas that are kept for other regions and have to be zero when g begins.
func (e *emitter) cleared(g *layout.Region) []*ir.Value {
	var list []*ir.Value
	for _, b := range g.Blocks {
		for _, v := range b.Values {
			if e.memory.apart[v] && v.Imm != 1 {
				list = append(list, v)
			}
		}
	}
	return list
}

func holdsPointer(t *ir.Type) bool {
	for i := range t.NumParts() {
		if holdsPointer(t.Part(i)) {
			return true
		}
		if t.Kind == ir.KindArray {
			break
		}
	}
	return t.IsPtr()
}

// element returns the address of the thread's element of the array that keeps v, or has that name, of size bytes.
func (e *emitter) element(v any, size int64) string {
	return e.elementAt(v, size, e.thread())
}

// elementAt is element for the thread with number i in its block.
func (e *emitter) elementAt(v any, size int64, i expr) string {
	key := [2]any{"array", v}
	name, ok := v.(string)
	if !ok {
		name = fmt.Sprintf("each%d", e.ids.Of(v.(*ir.Value)))
	}
	array := e.name(key, name)
	if !e.found.words[array] {
		e.found.words[array] = true
		e.launch = append(e.launch, line{text: fmt.Sprintf("%s := %s.Scratch(%d)", array, e.word("blocks"), size)})
	}
	e.types[array] = e.unsafe("Pointer")
	if size != 1 {
		i = binary("*", i, number(size))
	}
	return fmt.Sprintf("%s(%s, %s)", e.unsafe("Add"), array, i.text)
}

// thread returns the number of the thread in its block.
func (e *emitter) thread() expr {
	tx := sum(operand("%s", e.word("tx")), int64(e.lane))
	switch {
	case e.isLine():
		return tx
	case e.Warps:
		return operand("%s", e.word("thread"))
	}
	return binary("+", operand("%s", e.word("row")), tx)
}

// isLine reports whether blocks are known to have one dimension.
func (e *emitter) isLine() bool { d := e.f.Block; return d[0] > 0 && d[1] <= 1 && d[2] <= 1 }

// kept returns the element that keeps v for the thread.
func (e *emitter) kept(v *ir.Value) string {
	if e.isRoot(v) {
		panic(refuse("a pointer is live across a barrier"))
	}
	t := v.Type
	if t.IsPtr() {
		t = ir.I64
	}
	return fmt.Sprintf("*(*%s)(%s)", e.typeName(t, false), e.element(e.array[v.ID], t.Size()))
}

func (e *emitter) isRoot(v *ir.Value) bool { return v.Type.IsPtr() && e.RootOf(v) == v }

// varType returns the type of v's variable: an offset is an int.
func (e *emitter) varType(v *ir.Value) string {
	if v.Type.IsPtr() && !e.isRoot(v) {
		return "int"
	}
	return e.typeName(v.Type, false)
}

// atomics are the words of package gpu for atomic operations, and whether they read their numbers
// without a sign.
var atomics = map[ir.Op]struct {
	name     string
	unsigned bool
}{
	ir.OpAtomicAdd: {"AtomicAdd", false}, ir.OpAtomicXchg: {"AtomicExchange", false},
	ir.OpAtomicSMin: {"AtomicMin", false}, ir.OpAtomicUMin: {"AtomicMin", true},
	ir.OpAtomicSMax: {"AtomicMax", false}, ir.OpAtomicUMax: {"AtomicMax", true},
	ir.OpAtomicAnd: {"AtomicAnd", false}, ir.OpAtomicOr: {"AtomicOr", false}, ir.OpAtomicXor: {"AtomicXor", false},
	ir.OpAtomicCAS: {"AtomicCompareAndSwap", false}, ir.OpAtomicLoad: {"AtomicLoad", false}, ir.OpAtomicStore: {"AtomicStore", false},
}

// atomic writes an atomic operation as a call of the word that the kernel used. On the CPU all
// are sequentially consistent.
func (e *emitter) atomic(v *ir.Value) {
	word := atomics[v.Op]
	t := v.Type
	if v.Op == ir.OpAtomicStore {
		t = v.Args[1].Type
	}
	args := []string{fmt.Sprintf("(*%s)(%s)", e.typeName(t, word.unsigned), e.pointer(v.Args[0]).text)}
	for _, a := range v.Args[1:] {
		x := e.ref(a)
		if word.unsigned {
			x = e.unsigned(a)
		}
		args = append(args, x.text)
	}
	call := operand("%s.%s(%s)", e.imported(gpuPath), word.name, strings.Join(args, ", "))
	switch {
	case v.Op == ir.OpAtomicStore || !e.wanted(v):
		e.out.line("%s", call.text)
	case v.Op == ir.OpAtomicCAS:
		e.variable(v)
		e.out.line("%s, _ = %s", e.nameOf(v), call.text)
		e.keepEach(v)
	case word.unsigned:
		e.define(v, convert(e.typeName(t, false), call))
	default:
		e.define(v, call)
	}
}

// Table is a constant table, which is declared beside the twin.
type Table struct {
	Name  string
	Words []uint64 // little-endian
}

// table returns the name of the variable that holds x.
func (e *emitter) table(x *ir.Variable) string {
	name := e.names[x]
	if name == "" {
		name = e.o.Declare(e.o.Func + "Table")
		e.names[x] = name
	}
	if !slices.ContainsFunc(e.tables, func(t Table) bool { return t.Name == name }) {
		words := make([]uint64, (len(x.Init)+7)/8)
		for i, b := range x.Init {
			words[i/8] |= uint64(b) << (8 * (i % 8))
		}
		e.tables = append(e.tables, Table{name, words})
	}
	return name
}
