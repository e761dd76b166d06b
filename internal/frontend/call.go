package frontend

import (
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func (l *lowerer) call(v *ssa.Call) *ir.Value {
	c := v.Common()
	if c.IsInvoke() {
		l.lacks(&lackInterface)
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return l.builtin(v, b.Name())
	}
	fn := c.StaticCallee()
	if fn == nil {
		return l.dynamicCall(v)
	}
	if lower := intrinsicOf(fn); lower != nil && (!l.b.host || approximations[fullName(fn)] == nil) {
		return lower(l, v)
	}
	return l.callFunction(v, fn)
}

func (l *lowerer) callFunction(v *ssa.Call, fn *ssa.Function) *ir.Value {
	fn = withBody(fn)
	if l.isUnknown(fn) {
		return l.unknownCall(fn)
	}
	if fullName(l.fn) == "math.pow" && fullName(fn) == "math.Pow" {
		return l.powerOfZero(fn.Pkg.Func("isOddInt"), v.Call.Args[1])
	}
	switch fullName(fn) {
	case "math.ldexp":
		return l.scaleByPower(fn, l.value(v.Call.Args[0]), l.value(v.Call.Args[1]))
	case "math.exp":
		return l.exponential(fn, l.value(v.Call.Args[0]))
	}
	if mustInline(fn) {
		return l.inline(v, fn, ref{v.Call.Value, l})
	}
	u := l.reach(fn)
	args := l.arguments(v.Common(), fn)
	if u.broken {
		panic(refused{})
	}
	return l.emitAux(ir.OpCall, u.ir.Result, u.ir, args...)
}

// reach lowers fn for a call at the current position, and refuses what cannot be called.
func (l *lowerer) reach(fn *ssa.Function) *unit {
	if i := slices.Index(l.b.open, fn); i >= 0 {
		l.recursion(l.b.open[i:])
	}
	l.checkCallee(fn)
	u := l.b.function(fn)
	l.u.calls = append(l.u.calls, u)
	l.checkProblem(u, fn)
	return u
}

func (l *lowerer) checkCallee(fn *ssa.Function) {
	if k := foreignLack(fn, l.fn); k != nil {
		l.lacks(k)
	}
	if len(fn.Blocks) == 0 && inStandardLibrary(fn) {
		l.refuse(diag.LangPackage, "from the standard library, kernels can use cmp, iter, math, math/bits, slices, sync/atomic, unicode/utf8, and the searches of sort", "a kernel cannot call %s", callName(fn))
	}
	if len(fn.Blocks) == 0 {
		l.refuse(diag.LangNoSource, "write it in Go", "a kernel cannot call %s: it has no Go source", callName(fn))
	}
}

// checkProblem refuses the call of fn where fn is of the standard library and cannot be lowered.
func (l *lowerer) checkProblem(u *unit, fn *ssa.Function) {
	if u.problem != "" && inStandardLibrary(l.fn) {
		l.u.problem = u.problem
		panic(refused{})
	}
	if u.problem != "" {
		l.refuse(diag.LangPackage, "write a function without it", "a kernel cannot call %s: inside it, %s", callName(fn), u.problem)
	}
}

func (l *lowerer) recursion(cycle []*ssa.Function) {
	var names []string
	for _, fn := range cycle {
		names = append(names, callName(fn))
	}
	names = append(names, callName(cycle[0]))
	l.refuse(diag.LangRecursion, "use a loop", "a kernel cannot use recursion: %s", strings.Join(names, " calls "))
}

// arguments returns the arguments of a call without threads, and what a closure captures
// after them.
func (l *lowerer) arguments(c *ssa.CallCommon, fn *ssa.Function) []*ir.Value {
	values := c.Args
	if m, ok := c.Value.(*ssa.MakeClosure); ok {
		values = slices.Concat(values, m.Bindings)
	}
	var args []*ir.Value
	for _, a := range values {
		if !isThread(a.Type()) {
			args = append(args, l.value(a))
		}
	}
	return args
}

// withBody returns fn, or the pure Go function that Go itself uses on machines for which it
// has no assembly: math.exp for math.archExp.
func withBody(fn *ssa.Function) *ssa.Function {
	name, ok := strings.CutPrefix(fn.Name(), "arch")
	if !ok || name == "" || len(fn.Blocks) > 0 || fn.Pkg == nil || fn.Pkg.Pkg.Path() != "math" {
		return fn
	}
	if pure := fn.Pkg.Func(strings.ToLower(name[:1]) + name[1:]); pure != nil {
		return pure
	}
	return fn
}

// fullName returns the name under which fn stands in the table of intrinsics:
// "math.Sqrt", "(pkg.Type).Method". Instances of a generic function have its name.
func fullName(fn *ssa.Function) string {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if obj, ok := fn.Object().(*types.Func); ok && fn.Synthetic == "" || ok && fn.TypeParams().Len() > 0 {
		return obj.FullName()
	}
	return fn.String()
}

// callName returns the name of fn as users write it: "fmt.Println", "view.at".
func callName(fn *ssa.Function) string {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if fn.Pkg == nil {
		return fn.Name()
	}
	name := goName(fn)
	if inStandardLibrary(fn) {
		name = fn.Pkg.Pkg.Name() + "." + name
	}
	return name
}

// goName returns the name of fn within its package as in stack traces of Go: "view.at", "outer.func1" for the first function literal in
// outer, "outer.func1.1" for the first one within that, and "outer-range1" for the body of a loop over a function.
func goName(fn *ssa.Function) string {
	parent := fn.Parent()
	if parent == nil {
		return fn.RelString(fn.Pkg.Pkg)
	}
	for isLoopBody(parent) {
		parent = parent.Parent()
	}
	kind := ".func"
	switch {
	case isLoopBody(fn):
		kind = "-range"
	case parent.Parent() != nil:
		kind = "."
	}
	return fmt.Sprintf("%s%s%d", goName(parent), kind, 1+slices.Index(within(parent, isLoopBody(fn)), fn))
}

// within returns the function literals in fn, also those in the bodies of loops over functions, or these bodies.
func within(fn *ssa.Function, bodies bool) (list []*ssa.Function) {
	for _, f := range fn.AnonFuncs {
		if isLoopBody(f) == bodies {
			list = append(list, f)
		}
		if isLoopBody(f) {
			list = append(list, within(f, bodies)...)
		}
	}
	return list
}

// isLoopBody reports whether fn is the body of a loop over a function.
func isLoopBody(fn *ssa.Function) bool { return fn.Synthetic == "range-over-func yield" }

// inStandardLibrary reports whether fn was read from Go's own sources: its file lies in a
// folder src/PATH, and the path has no host name.
func inStandardLibrary(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if fn.Pkg == nil {
		return false
	}
	path := fn.Pkg.Pkg.Path()
	host, _, _ := strings.Cut(path, "/")
	dir := filepath.ToSlash(filepath.Dir(fn.Prog.Fset.Position(fn.Pos()).Filename))
	return !strings.Contains(host, ".") && strings.HasSuffix(dir, "/src/"+path)
}

// foreignLack describes what to write instead of functions of packages that are made for the CPU.
func foreignLack(fn, caller *ssa.Function) *lack {
	pkg := packageOf(fn)
	if pkg == nil {
		return nil
	}
	help, ok := map[string]string{
		"fmt":     "use gpu.Printf; panic takes constant strings",
		"log":     "use gpu.Printf",
		"errors":  "write an error code to a slice, or panic with a constant string",
		"strings": "use numbers; gpu.Printf and panic take constant strings",
		"strconv": "use numbers; gpu.Printf and panic take constant strings",
		"sync":    "threads of a block synchronize with t.Sync(); add with gpu.AtomicAdd",
		"time":    "measure time on the host, with events; gpu.Sleep lets a thread wait",
		"os":      "do it on the host",
		"sort":    "sort with a kernel of many threads, or on the host; kernels can use sort.Search and sort.Find",
	}[pkg.Path()]
	if pkg.Path() == "sort" && searches(fn) {
		return nil
	}
	if pkg.Path() == gpuPath && walksThreads(fn.Signature) {
		help, ok = "only generated code may call it", true
	}
	if !ok || inStandardLibrary(caller) {
		return nil
	}
	return &lack{diag.LangPackage, "the function " + callName(fn), help}
}

// searches reports whether a function of package sort searches a slice that is sorted already.
func searches(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return strings.HasPrefix(fn.Name(), "Search") || fn.Name() == "Find"
}

// walksThreads reports whether a function of package gpu is about gpu.Threads. The others are
// words of kernels: those that are no intrinsics are compiled as they stand there.
func walksThreads(s *types.Signature) bool {
	about := s.String()
	if s.Recv() != nil {
		about += s.Recv().Type().String()
	}
	return strings.Contains(about, gpuPath+".Threads")
}
