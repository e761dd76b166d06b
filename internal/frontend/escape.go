package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// A variable whose address is taken lives in memory of the thread, at one place for each time that
// its function is inlined. So it must be gone when its function returns and, in a
// loop, when the loop comes to it again: no address of it may live longer. Go would put such a
// variable on the heap.
//
// escape follows the addresses of one variable, through calls too. A value carries an address
// of the variable where it is one or has one in it; it is deep where it leads to memory in
// which such an address is stored.
type escape struct {
	alloc    *ssa.Alloc
	loops    []blockSet // those around the variable
	seen     map[carrier]bool
	calls    map[*ssa.Function][]*ssa.Call
	returned map[*ssa.Function][2]bool // whether it returns a value that carries, one that is deep
	problem  string
}

type carrier struct {
	v    ssa.Value
	deep bool
}

// checkEscape refuses a variable that lives on where IR has none.
func (l *lowerer) checkEscape(v *ssa.Alloc) {
	e := escape{
		alloc: v, seen: map[carrier]bool{},
		calls: map[*ssa.Function][]*ssa.Call{}, returned: map[*ssa.Function][2]bool{},
	}
	if l.loops[v.Block()] {
		e.loops = loopsAround(v.Block())
	}
	e.follow(v, false)
	if e.problem != "" {
		l.refuse(diag.LangAllocate, "declare it where it lives long enough and hand over its address, or use its value",
			"a kernel cannot use memory that outlives its function or loop: the address of %s %s", variableName(v), e.problem)
	}
}

func variableName(v *ssa.Alloc) string {
	switch v.Comment {
	case "new", "complit", "slicelit", "makeslice", "varargs":
		return "what is made here"
	}
	return v.Comment
}

func loopsAround(b *ssa.BasicBlock) []blockSet {
	var around []blockSet
	for _, l := range naturalLoops(b.Parent()) {
		if l[b] {
			around = append(around, l)
		}
	}
	return around
}

// follow looks at all that is done with v.
func (e *escape) follow(v ssa.Value, deep bool) {
	if e.seen[carrier{v, deep}] || e.problem != "" || !holdsPointers(v.Type()) {
		return
	}
	e.seen[carrier{v, deep}] = true
	for _, in := range referrers(v) {
		e.use(in, v, deep)
	}
}

func referrers(v ssa.Value) []ssa.Instruction {
	if r := v.Referrers(); r != nil {
		return *r
	}
	return nil
}

func (e *escape) use(in ssa.Instruction, v ssa.Value, deep bool) {
	switch in := in.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Slice, *ssa.ChangeType, *ssa.SliceToArrayPointer, *ssa.Field, *ssa.Extract, *ssa.Index:
		e.follow(in.(ssa.Value), deep)
	case *ssa.UnOp:
		if deep {
			e.follow(in, false)
			e.follow(in, true)
		}
	case *ssa.Phi:
		e.phi(in, v, deep)
	case *ssa.Store:
		if in.Val == v {
			e.stored(in, deep)
		}
	case *ssa.Return:
		e.returns(in.Parent(), deep)
	case *ssa.MakeClosure:
		fn := in.Fn.(*ssa.Function)
		for i, b := range in.Bindings {
			if b == v {
				e.follow(fn.FreeVars[i], deep)
			}
		}
	case *ssa.Call:
		e.argument(in, v, deep)
	case *ssa.Defer:
		e.deferred(in, v, deep)
	}
}

// deferred follows v into the function whose call is deferred.
func (e *escape) deferred(in *ssa.Defer, v ssa.Value, deep bool) {
	fn := in.Call.StaticCallee()
	_, builtin := in.Call.Value.(*ssa.Builtin)
	switch {
	case fn == nil && !builtin && !deep:
		e.problem = "is given to a function value"
	case fn == nil || intrinsicOf(fn) != nil:
		return
	}
	for i, a := range in.Call.Args {
		if a == v && i < len(fn.Params) {
			e.follow(fn.Params[i], deep)
		}
	}
}

// phi follows v into a phi unless the phi takes an address to the next round of a loop
// around the variable.
func (e *escape) phi(phi *ssa.Phi, v ssa.Value, deep bool) {
	b := phi.Block()
	for i, p := range b.Preds {
		if deep || phi.Edges[i] != v || !isBackEdge(p, b) {
			continue
		}
		if loop, ok := asLoopVar(phi); ok && v == loop.next && v == e.alloc {
			continue
		}
		for _, l := range e.loops {
			if l[b] {
				e.problem = "is kept for the next iteration"
			}
		}
	}
	e.follow(phi, deep)
}

// stored handles a store of v into other memory, which becomes deep. For an address it must be
// a variable that ends no later: one of a function that is called meanwhile, or of the same
// function and in the same loops. A deep v is another variable's to judge.
func (e *escape) stored(in *ssa.Store, deep bool) {
	to, ok := root(in.Addr).(*ssa.Alloc)
	switch {
	case !ok && !deep:
		e.problem = "is stored in memory that may live longer"
	case ok && !deep && to.Parent() == e.alloc.Parent() && !e.inSameLoops(to):
		e.problem = "is stored in " + variableName(to) + ", which lives longer"
	case ok:
		e.follow(to, true)
	}
}

func (e *escape) inSameLoops(v *ssa.Alloc) bool {
	for _, l := range e.loops {
		if !l[v.Block()] {
			return false
		}
	}
	return true
}

// root returns the value that the address v was computed from.
func root(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return root(v.X)
	case *ssa.IndexAddr:
		return root(v.X)
	case *ssa.Slice:
		return root(v.X)
	case *ssa.ChangeType:
		return root(v.X)
	}
	return v
}

// argument follows v into the function that is called, and out of it.
func (e *escape) argument(call *ssa.Call, v ssa.Value, deep bool) {
	fn := call.Call.StaticCallee()
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin {
		return
	}
	if fn == nil {
		if !deep {
			e.problem = "is given to a function value"
		}
		return
	}
	if intrinsicOf(fn) != nil {
		return
	}
	e.calls[fn] = append(e.calls[fn], call)
	for i, a := range call.Call.Args {
		if a == v && i < len(fn.Params) {
			e.follow(fn.Params[i], deep)
		}
	}
	for i, returned := range e.returned[fn] {
		if returned {
			e.follow(call, i == 1)
		}
	}
}

// returns handles a return of what carries an address of the variable: it goes on at the calls, if fn was
// called with it.
func (e *escape) returns(fn *ssa.Function, deep bool) {
	if fn == e.alloc.Parent() {
		if !deep {
			e.problem = "is returned"
		}
		return
	}
	r := e.returned[fn]
	r[pick(deep, 1, 0)] = true
	e.returned[fn] = r
	for _, c := range e.calls[fn] {
		e.follow(c, deep)
	}
}
