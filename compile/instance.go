package compile

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// function is an instance of a kernel with its types.
type function struct {
	decl.Kernel
	instance decl.Instance
	sig      *types.Signature
	bodies   []body // the kernel's own and its variants
	// operators reports that a type argument has methods.
	operators bool
}

// body is a function that does what a kernel does, for some GPUs.
type body struct {
	decl.Body
	variant bool // it is not the kernel's own
	sig     *types.Signature
	ssa     *ssa.Function
}

// functions returns the instances of the unit's kernels that can be launched, and reports the others.
func (b *build) functions(u *unit) []function {
	var all []function
	values := initialValues(b.ssa.Package(u.pkg.Types))
	for _, k := range u.decl.Kernels {
		for _, n := range k.Instances {
			f := function{Kernel: k, instance: n}
			for i, d := range append([]decl.Body{{Name: k.Name, Pos: k.Pos, Target: k.Target}}, k.Bodies...) {
				x := body{Body: d, variant: i > 0}
				if len(n.Vars) == 0 {
					fn := u.pkg.Types.Scope().Lookup(d.Name).(*types.Func)
					x.sig, x.ssa = fn.Signature(), b.ssa.FuncValue(fn)
				} else {
					x.sig = u.pkg.Types.Scope().Lookup(n.Vars[i]).Type().(*types.Signature)
					x.ssa = values[n.Vars[i]]
				}
				f.bodies = append(f.bodies, x)
			}
			f.sig, f.operators = f.bodies[0].sig, hasOperators(f.bodies[0].ssa)
			if wrong := f.check(); len(wrong) > 0 {
				u.found.Add(wrong...)
				continue
			}
			all = append(all, f)
		}
	}
	return all
}

// hasOperators reports whether a type argument of f has methods.
func hasOperators(f *ssa.Function) bool {
	return slices.ContainsFunc(f.TypeArgs(), func(t types.Type) bool { return types.NewMethodSet(t).Len() > 0 })
}

// check reports parameters that cannot be passed to a device and variants whose parameters differ from the kernel's.
func (f function) check() diag.List {
	found := checkParams(f)
	for _, b := range f.bodies[1:] {
		if !types.Identical(b.sig, f.sig) {
			found.Add(diag.New(b.Pos, diag.KernelVariant, "the parameters of %s differ from those of kernel %s, whose signature is %s", b.Name, f.instance.Name, types.TypeString(f.sig, shortName)).
				WithHelp("both have the same launcher, so their parameters must agree"))
		}
	}
	return found
}

// initialValues returns the functions that package-level variables begin with, by their names.
func initialValues(p *ssa.Package) map[string]*ssa.Function {
	values := map[string]*ssa.Function{}
	for _, b := range p.Func("init").Blocks {
		for _, in := range b.Instrs {
			store, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			g, toVar := store.Addr.(*ssa.Global)
			if fn, ok := store.Val.(*ssa.Function); ok && toVar {
				values[g.Name()] = fn
			}
		}
	}
	return values
}
