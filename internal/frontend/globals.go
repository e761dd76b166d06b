package frontend

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// table is a package-level variable that nothing writes once its package is initialised: it
// becomes a constant variable. Where that cannot be, problem says why.
type table struct {
	variable *ir.Variable // of a slice: what it points to
	texts    *ir.Variable // the bytes of the strings that the table contains
	problem  string
	unseen   bool // the problem is the lack of a body, which a build may have
}

// maxTable is the size of the largest table, in bytes: each is a part of the generated code, and the compiler holds its image.
const maxTable = 16 << 20

const globalHelp = "pass it as a parameter, or make it a table of constants that is never written"

// global returns the address of a package-level variable.
func (l *lowerer) global(g *ssa.Global) *ir.Value {
	if v := l.values[g]; v != nil {
		return v
	}
	if l.b.partial != nil && !hasSource(g) {
		return l.unknown(ir.Ptr)
	}
	if isSlice(pointee(g.Type())) {
		l.refuse(diag.LangGlobal, globalHelp, "a kernel cannot use the address of the package-level slice %s", g.Name())
	}
	l.values[g] = l.tableAddress(g)
	return l.values[g]
}

func isSlice(t types.Type) bool { _, ok := t.Underlying().(*types.Slice); return ok }

func (l *lowerer) tableAddress(g *ssa.Global) *ir.Value {
	t := l.b.table(g)
	if t.unseen && l.b.partial != nil {
		return l.unknown(ir.Ptr)
	}
	if t.problem != "" {
		l.refuse(diag.LangGlobal, globalHelp, "a kernel cannot use the package-level variable %s: %s", g.Name(), t.problem)
	}
	if t.texts != nil {
		l.keepTexts(g)
	}
	v := l.emitHead(ir.OpVar, ir.Ptr)
	v.Aux = t.variable
	return v
}

// loadGlobalSlice returns the value of a package-level slice.
func (l *lowerer) loadGlobalSlice(g *ssa.Global) *ir.Value {
	if l.b.partial != nil && !hasSource(g) {
		return l.unknown(ir.Slice)
	}
	if l.b.table(g).unseen && l.b.partial != nil {
		return l.unknown(ir.Slice)
	}
	p := l.tableAddress(g)
	n := l.int64(p.Aux.(*ir.Variable).Type.Len) // of the array that backs it
	return l.emit(ir.OpStruct, ir.Slice, p, n, n)
}

// table makes a constant variable of g, once.
func (b *builder) table(g *ssa.Global) *table {
	t := b.tables[g]
	if t == nil {
		t = &table{problem: "its initial value depends on itself"}
		b.tables[g] = t
		t.problem = b.fillTable(t, g)
	}
	return t
}

// hasSource reports whether the package of g was created with syntax.
func hasSource(g *ssa.Global) bool {
	init := g.Pkg.Func("init")
	return init != nil && len(init.Blocks) > 0
}

func (b *builder) fillTable(t *table, g *ssa.Global) string {
	if !hasSource(g) {
		return "the package of the variable has no Go source"
	}
	init := g.Pkg.Func("init")
	if holdsAddresses(elemOfSlice(pointee(g.Type()))) {
		return "it contains pointers"
	}
	if t := typeOrNil(g); t != nil && t.Size() > maxTable {
		return fmt.Sprintf("it has %d bytes, and a table at most %d", t.Size(), maxTable)
	}
	if writer := b.writer(g, init); writer != nil {
		return "it is written in " + callName(writer) + ", or its address escapes there"
	}
	r := b.initial(init)[g]
	if r != nil {
		if b.compute(r); r.why != nil {
			t.unseen = r.why.unseen
			return "its initial value is not constant, and the compiler cannot compute it: " + r.why.text
		}
	}
	switch {
	case r == nil && !isSlice(pointee(g.Type())):
		zero := typeOrNil(g)
		r = &region{typ: zero, bytes: make([]byte, zero.Size())}
	case r == nil || isSlice(pointee(g.Type())) && r.backing == nil:
		return "it is not a list of constants"
	case r.backing != nil && !r.unknown:
		r = r.backing
	}
	if r.unknown {
		return "its initial value is not constant"
	}
	name := b.uniqueName(g.Pkg.Pkg.Name() + "." + g.Name())
	if containsString(elemOfSlice(pointee(g.Type()))) {
		t.texts = b.storeTexts(name+".text", r)
	}
	t.variable = &ir.Variable{Name: name, Space: ir.Constant, Type: withOffsets(r.typ), Init: r.bytes}
	b.module.Vars = append(b.module.Vars, t.variable)
	return ""
}

// elemOfSlice returns the element type of a slice, and any other type as it is.
func elemOfSlice(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return t
}

// writer returns a function but init that may write g, or nil.
func (b *builder) writer(g *ssa.Global, init *ssa.Function) *ssa.Function {
	if b.program.uses == nil {
		b.program.uses = usesOfGlobals(g.Pkg.Prog)
	}
	for _, in := range b.program.uses[g] {
		if in.Parent() == init {
			continue
		}
		if r := (readers{}); !r.use(in, g) {
			return in.Parent()
		}
	}
	return nil
}

// initial returns what init leaves in its package's variables.
func (b *builder) initial(init *ssa.Function) map[ssa.Value]*region {
	regions := b.program.regions
	if regions[init] == nil {
		regions[init] = b.initialise(init)
	}
	return regions[init]
}

// usesOfGlobals finds the instructions that name package-level variables.
func usesOfGlobals(prog *ssa.Program) map[*ssa.Global][]ssa.Instruction {
	uses := map[*ssa.Global][]ssa.Instruction{}
	for _, p := range prog.AllPackages() {
		for _, m := range p.Members {
			switch m := m.(type) {
			case *ssa.Function:
				addUses(uses, m)
			case *ssa.Type:
				for _, fn := range methods(prog, m.Type()) {
					addUses(uses, fn)
				}
			}
		}
	}
	return uses
}

func methods(prog *ssa.Program, t types.Type) []*ssa.Function {
	var fns []*ssa.Function
	if n, ok := types.Unalias(t).(*types.Named); ok {
		for m := range n.Methods() {
			if fn := prog.FuncValue(m); fn != nil {
				fns = append(fns, fn)
			}
		}
	}
	return fns
}

func addUses(uses map[*ssa.Global][]ssa.Instruction, fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			for _, op := range in.Operands(nil) {
				if g, ok := (*op).(*ssa.Global); ok {
					uses[g] = append(uses[g], in)
				}
			}
		}
	}
	for _, f := range fn.AnonFuncs {
		addUses(uses, f)
	}
}

// readers holds the values that are known to lead to reads only.
type readers map[ssa.Value]bool

// value reports whether memory is only read through v, an address or a slice.
func (r readers) value(v ssa.Value) bool {
	if r[v] {
		return true
	}
	r[v] = true
	for _, in := range *v.Referrers() {
		if !r.use(in, v) {
			return false
		}
	}
	return true
}

// use reports whether the use of v by in leads to reads only.
func (r readers) use(in ssa.Instruction, v ssa.Value) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return !isSlice(in.Type()) || r.value(in)
	case *ssa.IndexAddr, *ssa.FieldAddr, *ssa.Slice, *ssa.Phi, *ssa.ChangeType:
		return r.value(in.(ssa.Value))
	case *ssa.BinOp, *ssa.DebugRef:
		return true
	case *ssa.Call:
		return r.call(in.Common(), v)
	}
	return false
}

func (r readers) call(c *ssa.CallCommon, v ssa.Value) bool {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return b.Name() == "len" || b.Name() == "cap" || b.Name() == "copy" && c.Args[0] != v
	}
	fn := c.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	for i, a := range c.Args {
		if a == v && !r.value(fn.Params[i]) {
			return false
		}
	}
	return true
}
