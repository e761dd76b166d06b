package decl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// wanted is a //gpu:instance directive:
//
//	//gpu:instance add[float32|float64]
//	//gpu:instance SumPoints = prim.Reduce[Point, AddPoint]
//
// It asks for a generic kernel of this package or of another, compiled for types of this
// one. Alternatives stand for all their combinations.
type wanted struct {
	file *ast.File
	directive
}

const instanceHelp = "write //gpu:instance add[float32|float64] or //gpu:instance AddPoints = lib.Add[Point]"

// instances reads the //gpu:instance directives and reports generic kernels without any.
func (s *scanner) instances() {
	used := map[string]bool{}
	for _, w := range s.wanted {
		if k := s.instance(w); k != "" {
			used[k] = true
		}
	}
	for _, k := range s.Generics {
		if !used[k.Name] && !ast.IsExported(k.Name) {
			s.Errors.Add(diag.New(k.Pos, diag.KernelGeneric, "kernel %s has type parameters but no instances", k.Name).
				WithHelp("name the types to compile it for, for example //gpu:instance %s[float32]", k.Name))
		}
	}
	for _, k := range s.Kernels {
		s.checkProduct(k)
	}
}

// instance reads one directive. It returns the name of the kernel of this package that it
// is about, or "".
func (s *scanner) instance(w wanted) string {
	name, text, named := strings.Cut(w.arg, "=")
	if !named {
		name, text = "", w.arg
	}
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	fun, args := parseInstance(text)
	if len(args) == 0 || named && !token.IsIdentifier(name) {
		s.report(w.pos, diag.KernelInstance, "//gpu:instance takes a generic kernel with its type arguments, not %q", w.arg).
			Help = instanceHelp
		return ""
	}
	k := s.generic(w, fun)
	if k == nil {
		return ""
	}
	own := ""
	if k.Package == "" {
		own = k.Name
	}
	switch {
	case len(args) != len(k.TypeParams):
		s.report(w.pos, diag.KernelInstance, "kernel %s has the type parameters %s, but //gpu:instance has %d type arguments", k.Name, strings.Join(k.TypeParams, ", "), len(args)).
			Help = instanceHelp
		return own
	case named:
		k.Launcher, k.Named = name, true
	case own != "" && ast.IsExported(own):
		s.report(w.pos, diag.KernelInstance, "kernel %s and its launcher cannot have the same name", own).
			Help = "write //gpu:instance " + lowerFirst(own) + " = " + text
		return own
	default:
		k.Launcher = exported(k.Name)
	}
	var choices [][]Text
	for _, a := range args {
		choices = append(choices, s.alternatives(w.file, a, text))
	}
	s.addInstances(*k, s.fset.Position(w.pos), choices)
	return own
}

// parseInstance takes f[a, b|c] apart. Positions in it count from 1. Go's syntax has no
// alternatives among type arguments, but among those of a call.
func parseInstance(text string) (fun ast.Expr, args []ast.Expr) {
	open := strings.IndexByte(text, '[')
	if open < 0 || !strings.HasSuffix(text, "]") {
		return nil, nil
	}
	e, err := parser.ParseExpr(text[:open] + "(" + text[open+1:len(text)-1] + ")")
	call, ok := e.(*ast.CallExpr)
	if err != nil || !ok || call.Ellipsis.IsValid() {
		return nil, nil
	}
	return call.Fun, call.Args
}

// generic returns a copy of the generic kernel that a directive names, or reports that there is none.
func (s *scanner) generic(w wanted, fun ast.Expr) *Kernel {
	switch fun := fun.(type) {
	case *ast.Ident:
		if k, ok := s.Generics[fun.Name]; ok {
			return &k
		}
		if path := s.dotImported(w.file, fun.Name); path != "" {
			if k := s.world.Generic(path, fun.Name); k != nil {
				return s.fromElsewhere(w, *k, path)
			}
		}
		s.report(w.pos, diag.KernelInstance, "there is no generic kernel %s in this package", fun.Name).
			Help = "a generic kernel is a function with type parameters and //gpu:kernel in its doc comment"
		return nil
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		if !ok {
			break
		}
		path := s.importedAnyhow(w.file, x.Name)
		if path == "" {
			s.report(w.pos, diag.KernelInstance, "this file does not import package %s", x.Name).
				Help = "import it, as _ if nothing else in the file uses it"
			return nil
		}
		if k := s.world.Generic(path, fun.Sel.Name); k != nil {
			return s.fromElsewhere(w, *k, path)
		}
		s.report(w.pos, diag.KernelInstance, "package %s has no generic kernel %s", path, fun.Sel.Name).
			Help = "it must be an exported function with type parameters and //gpu:kernel in its doc comment"
		return nil
	}
	s.report(w.pos, diag.KernelInstance, "//gpu:instance takes a generic kernel, not %q", w.arg).Help = instanceHelp
	return nil
}

// importedAnyhow is imported, but finds packages that a file imports as _ by their own names.
func (s *scanner) importedAnyhow(f *ast.File, name string) string {
	if path := s.imported(f, name); path != "" {
		return path
	}
	for _, spec := range f.Imports {
		if path := importPath(spec); s.importName(spec) == "_" && s.world.Name(path) == name {
			return path
		}
	}
	return ""
}

// fromElsewhere returns a kernel of the package with the path as this package writes it.
func (s *scanner) fromElsewhere(w wanted, k Kernel, path string) *Kernel {
	k.Package = path
	k.Fields = slices.Clone(k.Fields)
	for i, f := range k.Fields {
		if name := f.Type.unexported(); name != "" {
			s.report(w.pos, diag.KernelInstance, "kernel %s of package %s has a parameter of type %s, which is not exported", k.Name, path, name).
				Help = "export the type, or declare the instance in that package"
			return nil
		}
		if f.Struct != nil {
			s.report(w.pos, diag.KernelInstance, "kernel %s of package %s has a parameter of type %s, a struct with slices", k.Name, path, f.Struct.Name).
				Help = "declare the instance in that package"
			return nil
		}
		k.Fields[i].Type = f.Type.foreign(path)
	}
	return &k
}

// alternatives returns the types in a|b|c.
func (s *scanner) alternatives(file *ast.File, e ast.Expr, text string) []Text {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.OR {
		return append(s.alternatives(file, b.X, text), s.alternatives(file, b.Y, text)...)
	}
	return []Text{{text[e.Pos()-1 : e.End()-1], s.uses(file, e, nil)}}
}

// addInstances adds a kernel's instances for all combinations of arguments.
func (s *scanner) addInstances(k Kernel, pos token.Position, choices [][]Text) {
	i := slices.IndexFunc(s.Kernels, func(o Kernel) bool {
		return o.Launcher == k.Launcher && o.Name == k.Name && o.Package == k.Package
	})
	if i < 0 {
		i = len(s.Kernels)
		s.Kernels = append(s.Kernels, k)
	}
	to := &s.Kernels[i]
	for _, args := range product(choices) {
		n := Instance{Name: k.Name + "[" + join(args) + "]", Args: args, Pos: pos}
		if slices.ContainsFunc(to.Instances, func(o Instance) bool { return o.Name == n.Name }) {
			s.Errors.Add(diag.New(pos, diag.DirectiveTwice, "instance %s is declared twice", n.Name).WithHelp("remove one of the two"))
			continue
		}
		to.Instances = append(to.Instances, n)
	}
}

// product returns all combinations that take one of each list, the last one changing fastest.
func product(choices [][]Text) [][]Text {
	all := [][]Text{nil}
	for _, list := range choices {
		var longer [][]Text
		for _, head := range all {
			for _, t := range list {
				longer = append(longer, append(slices.Clone(head), t))
			}
		}
		all = longer
	}
	return all
}

func join(args []Text) string {
	var names []string
	for _, a := range args {
		names = append(names, a.Source)
	}
	return strings.Join(names, ", ")
}

// checkProduct reports a combination of type arguments that the launcher's constraints would
// allow and that is not compiled.
func (s *scanner) checkProduct(k Kernel) {
	var choices [][]Text
	for i := range k.TypeParams {
		var list []Text
		for _, n := range k.Instances {
			if !slices.ContainsFunc(list, func(t Text) bool { return t.Source == n.Args[i].Source }) {
				list = append(list, n.Args[i])
			}
		}
		choices = append(choices, list)
	}
	for _, args := range product(choices) {
		name := k.Name + "[" + join(args) + "]"
		if len(args) == 0 || slices.ContainsFunc(k.Instances, func(n Instance) bool { return n.Name == name }) {
			continue
		}
		s.Errors.Add(diag.New(k.Instances[len(k.Instances)-1].Pos, diag.KernelCombinations, "launcher %s would allow %s, which is not compiled", k.Launcher, name).
			WithHelp("add //gpu:instance %s, or name another launcher for some instances: //gpu:instance Name = %s", name, k.Instances[len(k.Instances)-1].Name))
		return
	}
}
