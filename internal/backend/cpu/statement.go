package cpu

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// statement writes what v does, or the variable that has its value, for every thread that is
// taken at once.
func (e *emitter) statement(v *ir.Value) {
	e.out.at(v.Pos)
	switch {
	case v.Op == ir.OpCheck:
		e.check(v)
	case v.Op == ir.OpStore && e.jam > 1:
		e.everyLane(func() { e.store(v) })
	default:
		e.each(v, func() { e.single(v) })
	}
}

// single is statement for one thread.
func (e *emitter) single(v *ir.Value) {
	switch {
	case v.Op == ir.OpFault:
		e.fault(v, v.Args)
	case layout.Waits(v):
		e.startSharing(v)
	case v.Op == ir.OpPrint:
		e.print(v)
	case v.Op == ir.OpStore:
		e.store(v)
	case v.Op == ir.OpLoad:
		e.define(v, e.load(v))
	case v.Op.Atomic():
		e.atomic(v)
	case v.Op == ir.OpFence: // every atomic operation is one
	case v.Op == ir.OpAwaitPrevious || v.Op == ir.OpStartNext: // kernels run one after the other
	case v.Op == ir.OpAlloca || v.Op.Terminator():
	case !v.Op.Pure():
		panic(refuseAt(v, "%s has no equivalent in Go", v.Op))
	case !e.wanted(v):
	case v.Op == ir.OpSelect:
		e.choose(v)
	case layout.NeedsStatement(v):
		e.lengthy(v)
	case e.Guarded(v):
		e.divide(v)
	case v.Type.IsPtr():
		e.define(v, e.offset(v))
	default:
		e.define(v, e.compute(v))
	}
}

// wanted reports whether anything uses v's variable, as far as is known.
func (e *emitter) wanted(v *ir.Value) bool {
	return !e.informed || e.known.used[use{v, e.here}] || e.Level[v.ID] <= layout.PerBlock && e.known.used[use{v: v}] || e.Keep[v.ID] != layout.KeepNot
}

// define writes the variable of v.
func (e *emitter) define(v *ir.Value, x expr) {
	if !e.wanted(v) {
		return
	}
	name := e.nameOf(v)
	if e.declare(v) {
		e.out.line("%s = %s", name, x.text)
	} else {
		e.out.line("%s := %s", name, typed(e.varType(v), x))
	}
	e.keepEach(v)
}

// typed returns x, converted where it is a number that Go would give another type.
func typed(typ string, x expr) string {
	if c := x.text[0]; x.prec >= 6 && (c >= '0' && c <= '9' || c == '-') && !strings.ContainsAny(x.text, "(") && typ != "int" {
		return typ + "(" + x.text + ")"
	}
	return x.text
}

// declare notes where v gets its value and reports whether its variable is declared further out.
func (e *emitter) declare(v *ir.Value) bool {
	level := e.here
	if e.Level[v.ID] <= layout.PerBlock || e.Keep[v.ID] == layout.KeepBlock {
		level = nil
		e.types[e.nameOf(v)] = e.varType(v)
	}
	e.assigns = e.assigns || e.Keep[v.ID] == layout.KeepBlock
	hoist := e.known.hoisted[v] || e.Keep[v.ID] == layout.KeepBlock || v.Op == ir.OpPhi || e.known.gotos[level]
	if e.fresh {
		hoist = false
	}
	if _, ok := e.made[v]; !ok || !hoist {
		e.made[v] = e.out.scope
	}
	if hoist {
		e.hoist(level, v)
	}
	return hoist
}

// hoist has v declared at the top of the region, or of the block where that is nil.
func (e *emitter) hoist(g *layout.Region, v *ir.Value) {
	e.found.order[g] = appendNew(e.found.order[g], v)
	if g == nil {
		e.types[e.nameOf(v)] = e.varType(v)
		e.made[v] = e.outer
	} else {
		e.made[v] = e.body
	}
}

func appendNew(list []*ir.Value, v *ir.Value) []*ir.Value {
	for _, w := range list {
		if w == v {
			return list
		}
	}
	return append(list, v)
}

// keepEach stores v, which has just been computed, for other regions where they need it, unless the
// end of the region does.
func (e *emitter) keepEach(v *ir.Value) {
	if e.Keep[v.ID] != layout.KeepEach || e.Of[v.Block.ID] != e.here || e.IsFirstPhi(v) || e.KeptAtEnd(v) {
		return
	}
	if e.perLane(v) {
		e.need(v)
		e.out.line("%s = %s", e.kept(v), e.nameOf(v))
		return
	}
	e.storeKept(v)
}

func (e *emitter) storeKept(v *ir.Value) {
	e.need(v)
	e.everyLane(func() { e.out.line("%s = %s", e.kept(v), e.nameOf(v)) })
}

// assign writes that v's variable, which is declared, becomes x.
func (e *emitter) assign(v *ir.Value, x expr) { e.out.line("%s = %s", e.nameOf(v), x.text) }

// choose writes a select.
func (e *emitter) choose(v *ir.Value) {
	e.define2(v, e.valueOrOffset(v, v.Args[2]))
	e.out.line("if %s {", e.ref(v.Args[0]).text)
	e.assign(v, e.valueOrOffset(v, v.Args[1]))
	e.out.line("}")
	e.keepEach(v)
}

// define2 is define for a variable that is changed before it is kept.
func (e *emitter) define2(v *ir.Value, x expr) {
	if e.declare(v) {
		e.assign(v, x)
	} else {
		e.out.line("%s := %s", e.nameOf(v), e.converted(v, x))
	}
}

// converted returns x with v's type, which a constant has not.
func (e *emitter) converted(v *ir.Value, x expr) string { return typed(e.varType(v), x) }

// valueOrOffset returns a as a value that v may be.
func (e *emitter) valueOrOffset(v, a *ir.Value) expr {
	switch {
	case !v.Type.IsPtr():
		return e.ref(a)
	case e.isRoot(v):
		return e.pointer(a)
	}
	if x, ok := e.offsetOf(a); ok {
		return x
	}
	return number(0)
}

// variable declares v, with the value zero.
func (e *emitter) variable(v *ir.Value) {
	if e.declare(v) {
		e.out.line("%s = 0", e.nameOf(v))
	} else {
		e.out.line("var %s %s", e.nameOf(v), e.typeName(v.Type, false))
	}
}

// lengthy writes a value that takes several statements.
func (e *emitter) lengthy(v *ir.Value) {
	switch v.Op {
	case ir.OpZExt, ir.OpSExt:
		one := map[ir.Op]int64{ir.OpZExt: 1, ir.OpSExt: -1}[v.Op]
		e.variable(v)
		e.out.line("if %s {", e.ref(v.Args[0]).text)
		e.assign(v, number(one))
		e.out.line("}")
	case ir.OpUMulHi, ir.OpSMulHi:
		e.highWord(v)
	}
	e.keepEach(v)
}

// highWord writes the upper half of a product of 64-bit integers.
func (e *emitter) highWord(v *ir.Value) {
	hi := e.name([2]any{"high", v}, "hi")
	e.variable(v)
	e.out.line("{")
	e.out.line("%s, _ := %s.Mul64(%s, %s)", hi, e.imported("math/bits"), e.word64(v, 0), e.word64(v, 1))
	x := operand("int(%s)", hi)
	if v.Op == ir.OpSMulHi {
		a, b := e.arg(v, 0), e.arg(v, 1)
		x = binary("-", binary("-", x, binary("&", binary(">>", a, number(63)), b)), binary("&", binary(">>", b, number(63)), a))
	}
	e.assign(v, x)
	e.out.line("}")
}

// word64 returns argument i of v, an integer of 64 bits, as package bits takes it.
func (e *emitter) word64(v *ir.Value, i int) string {
	if a := v.Args[i]; a.Op == ir.OpConst {
		return e.literal(a, true).text
	}
	return fmt.Sprintf("uint64(%s)", e.ref(v.Args[i]).text)
}

// divide writes a division that yields 0 if Go would panic.
func (e *emitter) divide(v *ir.Value) {
	e.variable(v)
	if v.Args[1].Op != ir.OpConst { // else it is 0
		e.out.line("if %s != 0 {", e.ref(v.Args[1]).at(4))
		e.assign(v, e.quotient(v))
		e.out.line("}")
	}
	e.keepEach(v)
}

// quotient returns a division. One of a number by itself is what linters take for a mistake.
func (e *emitter) quotient(v *ir.Value) expr {
	switch {
	case v.Args[0] != v.Args[1]:
		return e.compute(v)
	case v.Op == ir.OpSDiv || v.Op == ir.OpUDiv:
		return number(1)
	}
	return number(0)
}

func (e *emitter) store(v *ir.Value) {
	p, x := v.Args[0], v.Args[1]
	value := ""
	if x.Type.IsPtr() {
		value = e.pointer(x).text
	} else {
		value = e.ref(x).text
	}
	e.out.line("%s = %s", e.place(p, x.Type), value)
}

func (e *emitter) check(v *ir.Value) {
	if !e.OncePerBlock[v.ID] && e.perLane(v.Args[0]) {
		var fails []string
		e.everyLane(func() { fails = append(fails, e.negated(v.Args[0]).at(2)) })
		e.out.line("if %s {", strings.Join(fails, " || "))
		e.alone()
		e.out.line("}")
		return
	}
	e.out.line("if %s {", e.negated(v.Args[0]).text)
	e.fault(v, v.Args[1:])
	e.out.line("}")
}

// fault writes that the thread faults, which ends the launch.
func (e *emitter) fault(v *ir.Value, args []*ir.Value) {
	site := v.Aux.(*ir.Site)
	where := "0, 0, 0"
	if !e.OncePerBlock[v.ID] {
		where = e.index()
	}
	word := "Fault"
	if len(args) == 2 && goType(site.Args[0]) == "int" && goType(site.Args[1]) == "int" {
		word = "OutOfRange"
	}
	e.out.line("%s.%s(%s.Thread(%s), %q%s)", e.word("blocks"), word, e.word("blocks"), where, site.Format, e.messageArgs(site, args))
	e.out.line("return")
}

// index returns the thread's index along the three axes.
func (e *emitter) index() string {
	var list []string
	for axis := range int64(3) {
		list = append(list, e.special(&ir.Value{Op: ir.OpTid, Type: ir.I32, Imm: axis}).text)
	}
	return strings.Join(list, ", ")
}

func (e *emitter) print(v *ir.Value) {
	site := v.Aux.(*ir.Site)
	e.out.line("%s.Printf(%s.Thread(%s), %q%s)", e.imported(gpuPath), e.word("blocks"), e.index(), site.Format, e.messageArgs(site, v.Args))
}

// messageArgs returns the arguments of a message, after a comma, with the types that its site says.
func (e *emitter) messageArgs(site *ir.Site, args []*ir.Value) string {
	var b strings.Builder
	for i, a := range args {
		t := goType(site.Args[i])
		x := e.ref(a).text
		if a.Op == ir.OpConst && strings.HasPrefix(t, "uint") {
			x = e.literal(a, true).text
		}
		if t != e.typeName(a.Type, false) || a.Op == ir.OpConst {
			x = t + "(" + x + ")"
		}
		b.WriteString(", " + x)
	}
	return b.String()
}

// goType returns the Go type in which a message shows a number of type t.
func goType(t dtype.Type) string {
	switch t {
	case dtype.Int64:
		return "int"
	case dtype.Uint64:
		return "uint"
	case dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Float32, dtype.Float64:
		return t.String()
	}
	panic(refuse("a message has an argument of type %s", t))
}
