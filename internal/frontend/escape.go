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
	alloc   *ssa.Alloc
	loops   []blockSet // those around the variable
	seen    map[carrier]bool
	flows   map[entry]*flow
	problem string
}

// carrier is a value that carries an address; in is nil in the function of the variable.
type carrier struct {
	v    ssa.Value
	deep bool
	in   *flow
}

// entry is how an address comes into another function: through a parameter or a captured variable.
type entry struct {
	v    ssa.Value
	deep bool
}

// flow is what a function does with an address that comes in through one entry. Parameters are followed
// one by one: a method that returns its receiver does not return its operands.
type flow struct {
	calls    []carrier // that the address comes from
	unknown  bool      // it is called from elsewhere, too
	returned [2]bool   // whether the function returns a value that carries, one that is deep
}

// checkEscape refuses a variable that lives on where IR has none.
func (l *lowerer) checkEscape(v *ssa.Alloc) {
	e := escape{alloc: v, seen: map[carrier]bool{}, flows: map[entry]*flow{}}
	if l.loops[v.Block()] {
		e.loops = loopsAround(v.Block())
	}
	e.follow(carrier{v: v})
	if e.problem != "" {
		l.refuse(diag.LangAllocate, "declare it in a scope that lives long enough and pass its address, or use its value",
			"a kernel cannot use memory that outlives its function or loop: the address of %s %s", variableName(v), e.problem)
	}
}

func variableName(v *ssa.Alloc) string {
	switch v.Comment {
	case "new", "complit", "slicelit", "makeslice", "varargs":
		return "the value allocated here"
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

// follow looks at all that is done with a value.
func (e *escape) follow(c carrier) {
	if e.seen[c] || e.problem != "" || !holdsPointers(c.v.Type()) {
		return
	}
	e.seen[c] = true
	for _, in := range referrers(c.v) {
		e.use(in, c)
	}
}

func referrers(v ssa.Value) []ssa.Instruction {
	if r := v.Referrers(); r != nil {
		return *r
	}
	return nil
}

func (e *escape) use(in ssa.Instruction, c carrier) {
	switch in := in.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Slice, *ssa.ChangeType, *ssa.SliceToArrayPointer, *ssa.Field, *ssa.Extract, *ssa.Index:
		e.follow(carrier{in.(ssa.Value), c.deep, c.in})
	case *ssa.UnOp:
		if c.deep {
			e.follow(carrier{in, false, c.in})
			e.follow(carrier{in, true, c.in})
		}
	case *ssa.Phi:
		e.phi(in, c)
	case *ssa.Store:
		if in.Val == c.v {
			e.stored(in, c)
		}
	case *ssa.Return:
		e.returns(c)
	case *ssa.MakeClosure:
		e.captured(in, c)
	case *ssa.Call:
		e.argument(in, c)
	case *ssa.Defer:
		e.deferred(in, c)
	}
}

// captured follows c into a closure that captures it, and out of its calls.
func (e *escape) captured(made *ssa.MakeClosure, c carrier) {
	for i, b := range made.Bindings {
		if b != c.v {
			continue
		}
		f := e.enter(made.Fn.(*ssa.Function).FreeVars[i], c)
		for _, in := range referrers(made) {
			switch in := in.(type) {
			case *ssa.Call:
				if in.Call.Value == made {
					e.cameFrom(f, carrier{v: in, in: c.in})
					continue
				}
			case *ssa.Defer, *ssa.DebugRef:
				continue
			}
			f.unknown = true
		}
		if f.unknown && f.returned[0] {
			e.problem = returnedByValue
		}
	}
}

const returnedByValue = "is returned by a function value"

// deferred follows c into the function whose call is deferred. What that returns is lost.
func (e *escape) deferred(in *ssa.Defer, c carrier) {
	fn := in.Call.StaticCallee()
	if _, builtin := in.Call.Value.(*ssa.Builtin); builtin {
		return
	}
	switch {
	case fn == nil && !c.deep:
		e.problem = "is passed to a function value"
	case fn == nil || intrinsicOf(fn) != nil:
	default:
		e.arguments(&in.Call, fn, c)
	}
}

// arguments follows c into the parameters of fn that it is given to. It returns the flows that begin there.
func (e *escape) arguments(call *ssa.CallCommon, fn *ssa.Function, c carrier) []*flow {
	var flows []*flow
	for i, a := range call.Args {
		if a == c.v && i < len(fn.Params) {
			flows = append(flows, e.enter(fn.Params[i], c))
		}
	}
	return flows
}

// enter follows c into a function through a parameter or a captured variable of it, once.
func (e *escape) enter(through ssa.Value, c carrier) *flow {
	at := entry{through, c.deep}
	f := e.flows[at]
	if f == nil {
		f = &flow{}
		e.flows[at] = f
		e.follow(carrier{through, c.deep, f})
	}
	return f
}

// cameFrom follows what a function returns to a call of it.
func (e *escape) cameFrom(f *flow, call carrier) {
	f.calls = append(f.calls, call)
	for i, returned := range f.returned {
		if returned {
			e.follow(carrier{call.v, i == 1, call.in})
		}
	}
}

// phi follows c into a phi unless the phi takes an address to the next iteration of a loop
// around the variable.
func (e *escape) phi(phi *ssa.Phi, c carrier) {
	b := phi.Block()
	for i, p := range b.Preds {
		if c.deep || phi.Edges[i] != c.v || !isBackEdge(p, b) {
			continue
		}
		if loop, ok := asLoopVar(phi); ok && c.v == loop.next && c.v == e.alloc {
			continue
		}
		for _, l := range e.loops {
			if l[b] {
				e.problem = "is kept for the next iteration"
			}
		}
	}
	e.follow(carrier{phi, c.deep, c.in})
}

// stored handles a store of c into other memory, which becomes deep. For an address it must be
// a variable that ends no later: one of a function that is called meanwhile, or of the same
// function and in the same loops. A deep value is another variable's to judge.
func (e *escape) stored(in *ssa.Store, c carrier) {
	to, ok := root(in.Addr).(*ssa.Alloc)
	switch {
	case !ok && !c.deep:
		e.problem = "is stored in memory that may live longer"
	case ok && !c.deep && to.Parent() == e.alloc.Parent() && !e.inSameLoops(to):
		e.problem = "is stored in " + variableName(to) + ", which lives longer"
	case ok:
		e.follow(carrier{to, true, c.in})
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

// argument follows c into the function that is called, and out of it.
func (e *escape) argument(call *ssa.Call, c carrier) {
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin {
		return
	}
	fn := call.Call.StaticCallee()
	if fn == nil {
		if !c.deep {
			e.problem = "is passed to a function value"
		}
		return
	}
	if intrinsicOf(fn) != nil {
		return
	}
	for _, f := range e.arguments(&call.Call, fn, c) {
		e.cameFrom(f, carrier{v: call, in: c.in})
	}
}

// returns handles a return of what carries an address of the variable: it goes on at the calls.
func (e *escape) returns(c carrier) {
	switch {
	case c.in == nil:
		if !c.deep {
			e.problem = "is returned"
		}
		return
	case c.in.unknown && !c.deep:
		e.problem = returnedByValue
		return
	}
	c.in.returned[pick(c.deep, 1, 0)] = true
	for _, call := range c.in.calls {
		e.follow(carrier{call.v, c.deep, call.in})
	}
}
