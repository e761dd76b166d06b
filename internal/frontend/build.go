package frontend

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Kernel is a kernel to build: a function with a gpu.Thread as its first parameter and without results, perhaps an instance of a
// generic one. Block is the block size that //gpu:block fixes, or zeros.
// Cluster is the number of blocks of a cluster that //gpu:cluster fixes, or 0. Unchecked omits Go's run-time checks of indices, bounds,
// divisors, shift counts and nil pointers, but keeps panics and assertions. Partial is for tools that see only one package: if it
// is not nil, functions and variables of packages without syntax are treated as unknown, and the module must not be run. Partial
// reports whether a build would have the function bodies of a package of the standard library; calls of other packages' functions
// are reported as in a build. Host is for code that runs on a CPU: functions of package math32 that are approximate instructions
// on a GPU are compiled from their Go source. Cluster, Unchecked, Partial and Host must be the same for all kernels of a Build.
type Kernel struct {
	Func      *ssa.Function
	Name      string // the name in the IR; "" for the name of Func
	Block     [3]int
	Cluster   int
	Unchecked bool
	Partial   func(path string) bool
	Host      bool
}

func (k Kernel) name() string {
	if k.Name == "" {
		return k.Func.Name()
	}
	return k.Name
}

// Build lowers kernels and every function that they reach. In the module, functions precede their
// callers. The module is valid only if there are no diagnostics. All kernels must belong to one
// program, built in go/ssa's lifted form with ssa.InstantiateGenerics. A function whose package was
// created without syntax has no source, so Build reports its calls.
func Build(kernels []Kernel) (*ir.Module, diag.List) { return NewProgram().Build(kernels) }

// Program caches facts about one go/ssa program for several Builds. Computing them takes longer
// than building a small kernel.
type Program struct {
	uses    map[*ssa.Global][]ssa.Instruction       // of package-level variables; nil until one is met
	regions map[*ssa.Function]map[ssa.Value]*region // by the init function that leaves them so
}

// NewProgram returns an empty cache.
func NewProgram() *Program { return &Program{regions: map[*ssa.Function]map[ssa.Value]*region{}} }

// Build is like the function Build. It must not be called concurrently.
func (p *Program) Build(kernels []Kernel) (*ir.Module, diag.List) {
	b := &builder{program: p, module: &ir.Module{}, units: map[*ssa.Function]*unit{}, names: map[string]bool{}, tables: map[*ssa.Global]*table{}, texts: map[string]*ir.Variable{}}
	for _, k := range kernels {
		b.names[k.name()] = true
	}
	for _, k := range kernels {
		b.cluster, b.unchecked, b.partial, b.host = k.Cluster, k.Unchecked, k.Partial, k.Host
		b.kernel(k)
	}
	if len(b.found) == 0 {
		b.forbidFusion()
	}
	return b.module, b.found.Sorted()
}

// builder is the state of one Build.
type builder struct {
	program *Program
	module  *ir.Module
	units   map[*ssa.Function]*unit
	open    []*ssa.Function // the functions being lowered, each called by the one before
	names   map[string]bool // names of functions and variables that are taken
	kernels []*unit
	tables  map[*ssa.Global]*table
	texts   map[string]*ir.Variable // constant strings
	shared  []sharedVariable        // in the order in which they are met
	dynamic *ir.Variable            // dynamic shared memory, once it is used
	found   diag.List

	cluster         int                    // see Kernel
	unchecked, host bool                   // see Kernel
	partial         func(path string) bool // likewise
}

// unit is what became of one function.
type unit struct {
	fn      *ssa.Function
	ir      *ir.Func
	broken  bool    // it has diagnostics
	problem string  // why a function of the standard library cannot be lowered
	calls   []*unit // those that it calls
	rounds  bool    // it converts a float to its own type, see rounding.go
}

// function lowers fn unless that has been done.
func (b *builder) function(fn *ssa.Function) *unit {
	if u := b.units[fn]; u != nil {
		return u
	}
	u := &unit{fn: fn}
	b.units[fn] = u
	b.lower(u, func(l *lowerer) {
		u.ir = ir.NewFunc(b.uniqueName(irName(fn)), ir.Void)
		l.f = u.ir
		l.signature()
	})
	return u
}

func (b *builder) kernel(k Kernel) {
	u := &unit{fn: k.Func}
	b.kernels = append(b.kernels, u)
	b.lower(u, func(l *lowerer) {
		u.ir = ir.NewFunc(k.name(), ir.Void)
		u.ir.Kernel, u.ir.Block = true, k.Block
		l.f = u.ir
		l.parameterBlock()
	})
}

// lower fills in u: header makes its function and parameters.
func (b *builder) lower(u *unit, header func(*lowerer)) {
	b.open = append(b.open, u.fn)
	l := newLowerer(b, u)
	l.guard(nil, func() { header(l) })
	l.body()
	b.open = b.open[:len(b.open)-1]
	u.broken = l.gaveUp
	b.module.Funcs = append(b.module.Funcs, u.ir)
	b.found.Add(l.found...)
}

// uniqueName returns name, or name with a number after it where it is taken.
func (b *builder) uniqueName(name string) string {
	unique := name
	for i := 2; b.names[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	b.names[unique] = true
	return unique
}

// irName returns a name for fn of the characters that names in IR have: "math.Exp",
// "main.view.at", "main.sum-float32".
func irName(fn *ssa.Function) string {
	name := fn.RelString(nil)
	if pkg := packageOf(fn); pkg != nil {
		name = pkg.Name() + "." + fn.RelString(pkg)
	}
	return strings.Trim(strings.Map(nameRune, name), "-")
}

// packageOf returns the package that declares fn, or nil for what go/ssa made up.
func packageOf(fn *ssa.Function) *types.Package {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if fn.Pkg == nil {
		return nil
	}
	return fn.Pkg.Pkg
}

func nameRune(r rune) rune {
	switch {
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '.', r >= 0x80:
		return r
	case r == '(' || r == ')' || r == '*':
		return -1
	}
	return '-'
}
