package decl

import (
	"go/ast"
	"go/token"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// variant reads the directives of a function that is another body of a kernel:
//
//	//gpu:variant matmul
//	//gpu:target sm_90a
func (s *scanner) variant(d *declared) {
	b := Body{Name: d.fn.Name.Name, Pos: s.fset.Position(d.fn.Name.Pos()), typeParams: len(typeParams(d.fn))}
	before := len(s.Errors)
	seen, of := map[string]bool{}, ""
	for _, d := range d.directives {
		switch {
		case seen[d.name]:
			s.report(d.pos, diag.DirectiveTwice, "%s has %s%s twice", b.Name, prefix, d.name).Help = twiceHelp
		case d.name == "variant" && !token.IsIdentifier(d.arg):
			s.report(d.pos, diag.DirectiveArgument, "//gpu:variant takes the name of a kernel of this package, not %q", d.arg).
				Help = "write //gpu:variant multiply if the function is another body of the kernel multiply"
		case d.name == "variant":
			of = d.arg
		case d.name == "target":
			b.Target = s.target(d)
		default:
			s.report(d.pos, diag.DirectiveStray, "%s%s in the doc comment of a variant", prefix, d.name).
				Help = "remove it; the directive of the kernel applies to its variants"
		}
		seen[d.name] = true
	}
	s.checkFunction(d)
	if len(s.Errors) == before {
		s.bodies[of] = append(s.bodies[of], b)
	}
}

// attachBodies gives the variants to their kernels.
func (s *scanner) attachBodies() {
	for i, k := range s.Kernels {
		s.Kernels[i].Bodies = s.bodiesOf(k)
	}
	for name, k := range s.Generics {
		k.Bodies = s.bodiesOf(k)
		s.Generics[name] = k
	}
	for of, list := range s.bodies {
		for _, b := range list {
			s.Errors.Add(diag.New(b.Pos, diag.KernelVariant, "%s is a variant of %s, which is not a kernel of this package", b.Name, of).
				WithHelp("write //gpu:kernel above %s", of))
		}
	}
}

func (s *scanner) bodiesOf(k Kernel) []Body {
	list := s.bodies[k.Name]
	delete(s.bodies, k.Name)
	for _, b := range list {
		switch {
		case b.typeParams != len(k.TypeParams):
			s.Errors.Add(diag.New(b.Pos, diag.KernelVariant, "%s and kernel %s have different type parameters", b.Name, k.Name).
				WithHelp("give the variant the parameters of the kernel"))
			return nil
		case ast.IsExported(k.Name) && !ast.IsExported(b.Name):
			s.Errors.Add(diag.New(b.Pos, diag.KernelVariant, "%s is a variant of the exported kernel %s, but is not exported", b.Name, k.Name).
				WithHelp("export it, so that other packages can instantiate it"))
			return nil
		}
	}
	return list
}
