package cpu

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vector"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// emitter writes one twin.
//
// It writes the text several times: only when it is written does it show which variables are
// used, and where; what one run has found out the next one goes by, until nothing is new.
type emitter struct {
	*layout.Placement
	o      Options
	f      *ir.Func
	ids    layout.OriginalIDs
	inline []bool      // by value ID: written in its user's expression
	array  []*ir.Value // by value ID: whose array keeps it
	out    *writer
	known  facts // of earlier runs
	found  facts // of this one

	names   map[any]string // of values, by the value, and of everything else
	called  []string       // by value ID: names of values again, those of lanes apart
	taken   map[string]bool
	imports map[string]string // by path
	labels  int

	launch, plane, row, top  []line // what is computed once for each of these
	here                     *layout.Region
	made                     map[*ir.Value]*scope // the values that have a variable here, and where it is declared
	root0, outer, rows, body *scope               // of the function, of the block, of a row of threads, of a thread
	types                    map[string]string    // of the variables of the launch and the block, by name
	assigns                  bool                 // the threads' code assigns one of them
	functions                []line               // that the twin calls
	extra                    []line               // further variables of the block
	jam, lane                int                  // how many threads are taken at once, and which of them is meant
	parts                    bool                 // they may have to be taken one by one
	informed                 bool                 // this is not the first run
	fresh                    bool                 // what is written stands where nothing jumps, and is seen by all that use it
	after                    *copies              // of the region, for the block as a whole
	tables                   []Table
	memory                   memory
	vectors                  *vector.Kernel
}

// facts are what a run finds out about the text.
type facts struct {
	hoisted map[*ir.Value]bool             // used outside of the Go block that computes it
	used    map[use]bool                   // the value is used in the region by its name
	words   map[string]bool                // names that are used, of what is not a value
	gotos   map[*layout.Region]bool        // nil for the block as a whole
	order   map[*layout.Region][]*ir.Value // hoisted variables of each region
}

type use struct {
	v *ir.Value
	g *layout.Region
}

func newFacts() facts {
	return facts{hoisted: map[*ir.Value]bool{}, used: map[use]bool{}, words: map[string]bool{}, gotos: map[*layout.Region]bool{}, order: map[*layout.Region][]*ir.Value{}}
}

// refusal is why a kernel has no twin; emission ends by a panic with it.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) refusal { return refusal(fmt.Sprintf(format, args...)) }

// refuseAt is refuse with the line of v.
func refuseAt(v *ir.Value, format string, args ...any) refusal {
	why := refuse(format, args...)
	if v.Pos.Known() {
		why += refuse(" at %s:%d", v.Pos.File, v.Pos.Line)
	}
	return why
}

// imported returns the name by which the file knows the package with the path.
func (e *emitter) imported(path string) string {
	if e.imports[path] == "" {
		e.imports[path] = e.o.Package(path)
	}
	return e.imports[path]
}

// unsafe returns what package unsafe declares by that name.
func (e *emitter) unsafe(name string) string { return e.imported("unsafe") + "." + name }

// name returns the name of key, a value or the word that stands for something else; wanted
// is what it is called where that is free.
func (e *emitter) name(key any, wanted string) string {
	if e.names[key] == "" {
		for e.taken[wanted] {
			wanted += "_"
		}
		e.taken[wanted] = true
		e.names[key] = wanted
	}
	return e.names[key]
}

// word returns the name of something that is no value, and notes that it is used.
func (e *emitter) word(wanted string) string {
	name := e.name(wanted, wanted)
	e.found.words[name] = true
	switch {
	case wanted == "blocks":
		e.types[name] = "*" + e.imported(gpuPath) + ".Blocks"
	case wanted == "alive":
		e.types[name] = "uint32"
	case wanted == "lanes", wanted == "warp", wanted == "end":
		e.types[name] = "int"
	case wanted == "shared":
		e.types[name] = e.unsafe("Pointer")
	case len(wanted) == 2 && wanted != "tx" && !(e.Warps && wanted[0] == 't'):
		e.types[name] = "int"
	}
	return name
}

// nameOf returns the name of v's variable.
func (e *emitter) nameOf(v *ir.Value) string {
	if e.perLane(v) {
		return e.laneName(v)
	}
	if e.called[v.ID] == "" {
		e.called[v.ID] = e.name(v, e.variableName(v))
	}
	return e.called[v.ID]
}

// variableName returns what v's variable is called where that is free: a parameter by its name, all else by its type's letter and
// its number.
func (e *emitter) variableName(v *ir.Value) string {
	letter := "i"
	switch v.Type.Kind {
	case ir.KindI1:
		letter = "c"
	case ir.KindF32, ir.KindF64:
		letter = "f"
	case ir.KindPtr:
		letter = "o"
		if e.Root[v] == v {
			letter = "p"
		}
	}
	if v.Op == ir.OpParam {
		return e.o.paramName(v)
	}
	return letter + strconv.Itoa(e.ids.Of(v))
}

// ref returns the expression that has the value of v; of a pointer that is no root, its offset.
func (e *emitter) ref(v *ir.Value) expr {
	switch {
	case v.Op == ir.OpConst:
		return e.literal(v, false)
	case layout.IsSpecial(v):
		return convert("int32", e.special(v))
	case e.isInline(v):
		if v.Op == ir.OpLoad {
			return e.load(v)
		}
		if v.Type.IsPtr() {
			return e.offset(v)
		}
		return e.compute(v)
	}
	e.need(v)
	return operand("%s", e.nameOf(v))
}

// isInline reports whether v is written as an expression here.
func (e *emitter) isInline(v *ir.Value) bool {
	return v.Op != ir.OpParam && e.inline[v.ID]
}

// allConstant reports whether Go would fold v while it compiles, by rules of its own.
func (e *emitter) allConstant(v *ir.Value) bool {
	return !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return a.Op != ir.OpConst && !e.isFixed(a) })
}

// isFixed reports whether v is a size of the block that the text has as a number.
func (e *emitter) isFixed(v *ir.Value) bool {
	if (v.Op == ir.OpSExt || v.Op == ir.OpZExt) && layout.IsSpecial(v.Args[0]) {
		v = v.Args[0]
	}
	return v.Op == ir.OpNTid && e.f.Block != [3]int{}
}

// arg returns argument i of v. Where all are constants it is a variable.
func (e *emitter) arg(v *ir.Value, i int) expr {
	if a := v.Args[i]; e.allConstant(v) {
		key := [2]any{"constant", a}
		if e.names[key] == "" || !e.found.words[e.names[key]] {
			name := e.name(key, fmt.Sprintf("k%d", e.ids.Of(a)))
			e.found.words[name] = true
			e.types[name] = e.typeName(a.Type, false)
			e.launch = append(e.launch, line{text: fmt.Sprintf("%s := %s(%s)", name, e.typeName(a.Type, false), e.ref(a).text)})
		}
		return operand("%s", e.names[key])
	}
	return e.ref(v.Args[i])
}

// typedArg is arg, with a type where it is a constant.
func (e *emitter) typedArg(v *ir.Value, i int) expr {
	if a := v.Args[i]; a.Op == ir.OpConst && !e.allConstant(v) {
		return convert(e.typeName(a.Type, false), e.ref(a))
	}
	return e.arg(v, i)
}

// unsigned returns the integer v without a sign.
func (e *emitter) unsigned(v *ir.Value) expr {
	if v.Op == ir.OpConst {
		return e.literal(v, true)
	}
	return convert(e.typeName(v.Type, true), e.ref(v))
}

// unsignedArg is arg without a sign.
func (e *emitter) unsignedArg(v *ir.Value, i int) expr {
	a := v.Args[i]
	if a.Op == ir.OpConst && !e.allConstant(v) {
		return convert(e.typeName(a.Type, true), e.literal(a, true))
	}
	return convert(e.typeName(a.Type, true), e.arg(v, i))
}

// special returns an index or a size along an axis, as an int.
func (e *emitter) special(v *ir.Value) expr {
	axis := "xyz"[v.Imm : v.Imm+1]
	if fixed := e.f.Block; fixed != [3]int{} && (v.Op == ir.OpNTid || v.Op == ir.OpTid && fixed[v.Imm] <= 1) {
		if v.Op == ir.OpTid {
			return number(0)
		}
		return number(int64(max(1, fixed[v.Imm])))
	}
	if v.Op == ir.OpTid && v.Imm == 0 {
		return sum(operand("%s", e.word("tx")), int64(e.lane))
	}
	letter := map[ir.Op]string{ir.OpTid: "t", ir.OpNTid: "d", ir.OpCtaid: "b", ir.OpNCtaid: "g"}[v.Op]
	return operand("%s", e.word(letter+axis))
}

// need makes sure that v, which is used here by its name, has a variable that can be seen.
func (e *emitter) need(v *ir.Value) {
	if v.Op == ir.OpParam {
		e.found.words[e.nameOf(v)] = true
		e.types[e.nameOf(v)] = e.typeName(v.Type, false)
		return
	}
	e.found.used[use{v, e.here}] = true
	s, ok := e.made[v]
	switch {
	case ok && !s.within(e.out.scope):
		e.found.hoisted[v] = true
	case ok:
	default:
		e.again(v)
	}
}
