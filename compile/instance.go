package compile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
)

// function is an instance of a kernel with its types.
type function struct {
	decl.Kernel
	instance decl.Instance
	sig      *types.Signature
	ssa      *ssa.Function
}

// functions returns the instances of the unit's kernels that can be launched, and reports the others.
func (b *build) functions(u *unit) []function {
	var all []function
	values := initialValues(b.ssa.Package(u.pkg.Types))
	for _, k := range u.decl.Kernels {
		for _, n := range k.Instances {
			f := function{Kernel: k, instance: n}
			if n.Var == "" {
				fn := u.pkg.Types.Scope().Lookup(k.Name).(*types.Func)
				f.sig, f.ssa = fn.Signature(), b.ssa.FuncValue(fn)
			} else {
				f.sig = u.pkg.Types.Scope().Lookup(n.Var).Type().(*types.Signature)
				f.ssa = values[n.Var]
			}
			if wrong := checkParams(f); len(wrong) > 0 {
				b.found.Add(wrong...)
				continue
			}
			all = append(all, f)
		}
	}
	return all
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
