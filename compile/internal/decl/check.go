package decl

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// gpuPath is the package that has Thread.
const gpuPath = "github.com/gopherwarp/gopherwarp/gpu"

// checkFunction reports why a function cannot be a kernel, as far as its syntax shows.
func (s *scanner) checkFunction(d *declared) {
	fn, name := d.fn, d.fn.Name.Name
	pos := fn.Name.Pos()
	if strings.HasSuffix(s.fset.Position(pos).Filename, "_test.go") {
		s.report(pos, diag.KernelTestFile, "kernel %s is in a test file", name).
			Help = "move it to a file whose name does not end in _test.go; a test can launch it from there"
		return
	}
	if fn.Recv != nil {
		s.report(fn.Recv.Pos(), diag.KernelMethod, "kernel %s is a method", name).
			Help = "write a function and pass the receiver as a parameter"
	}
	if r := fn.Type.Results; r != nil && len(r.List) > 0 {
		s.report(r.Pos(), diag.KernelResults, "kernel %s has a result", name).
			Help = "write results to a slice parameter"
	}
	if fn.Body == nil {
		s.report(pos, diag.KernelBody, "kernel %s has no body", name).
			Help = "write the kernel in Go; it cannot be declared for assembly or linked in"
	}
	s.checkThread(d)
}

// ascii matches names that PTX takes as they are.
var ascii = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func (s *scanner) checkName(d *declared) {
	name, pos := d.fn.Name.Name, d.fn.Name.Pos()
	switch {
	case ast.IsExported(name) && d.fn.Type.TypeParams != nil: // for instances in other packages
	case ast.IsExported(name):
		s.report(pos, diag.KernelExported, "kernel %s is exported, but that name is reserved for its launcher", name).
			Help = "begin the kernel's name with a lower-case letter; the launcher has the exported name"
	case exported(name) == "":
		s.report(pos, diag.KernelName, "kernel %s has a name without an exported form, which its launcher needs", name).
			Help = "begin the name with a lower-case letter"
	case !ascii.MatchString(name):
		s.report(pos, diag.KernelName, "kernel %s has a name that PTX does not allow", name).
			Help = "use the letters A to Z and a to z, digits and _"
	case name == "init" || name == "main" && s.Name == "main":
		s.report(pos, diag.KernelName, "function %s cannot be a kernel", name).
			Help = "rename the kernel; Go itself calls functions with this name"
	}
}

// NoThread returns the error that the first parameter of a kernel is not a gpu.Thread.
func NoThread(kernel string, pos token.Position) diag.Diagnostic {
	return diag.New(pos, diag.KernelThread, "kernel %s does not have a gpu.Thread as its first parameter", kernel).
		WithHelp("write func %s(t gpu.Thread, ...)", kernel)
}

// checkThread reports a function whose first parameter is not a gpu.Thread, or that has a second one. A type of another package may be
// an alias, which only its type shows.
func (s *scanner) checkThread(d *declared) {
	params := d.fn.Type.Params.List
	if len(params) == 0 || !s.isThread(d.file, params[0].Type) && !s.isForeign(d.file, params[0].Type) {
		s.Errors.Add(NoThread(d.fn.Name.Name, s.fset.Position(d.fn.Name.Pos())))
		return
	}
	for i, f := range params {
		if s.isThread(d.file, f.Type) && (i > 0 || len(f.Names) > 1) {
			s.report(f.Names[len(f.Names)-1].Pos(), diag.KernelParameter, "kernel %s has a second gpu.Thread parameter", d.fn.Name.Name).
				Help = "remove it; a kernel is called once for each thread"
		}
		if _, ok := f.Type.(*ast.Ellipsis); ok {
			s.report(f.Type.Pos(), diag.KernelParameter, "kernel %s is variadic", d.fn.Name.Name).
				Help = "use a slice parameter"
		}
	}
}

func (s *scanner) isThread(f *ast.File, e ast.Expr) bool { return s.isGPU(f, e, "Thread") }

// isForeign reports whether e names something of a package other than gpu.
func (s *scanner) isForeign(f *ast.File, e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	path := ""
	if ok {
		path = s.imported(f, x.Name)
	}
	return path != "" && path != gpuPath
}

// isGPU reports whether e names something of package gpu, perhaps by an alias that the package declares.
func (s *scanner) isGPU(f *ast.File, e ast.Expr, name string) bool {
	for range len(s.types) + 1 { // an alias of itself is an error of Go
		x, ok := e.(*ast.Ident)
		if !ok {
			break
		}
		t, ok := s.types[x.Name]
		if !ok {
			return x.Name == name && !s.Declared[name] && s.dotImported(f, name) == gpuPath
		}
		if !t.alias {
			return false
		}
		f, e = t.file, t.expr
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && s.imported(f, x.Name) == gpuPath
}

// dotImported returns the path of the package that declares a name and that a file imports as ., or "".
func (s *scanner) dotImported(f *ast.File, name string) string {
	for _, spec := range f.Imports {
		if path := importPath(spec); ast.IsExported(name) && s.importName(spec) == "." && s.world.Declares(path, name) {
			return path
		}
	}
	return ""
}

// imported returns the path that a file imports under a name, or "".
func (s *scanner) imported(f *ast.File, name string) string {
	for _, spec := range f.Imports {
		if s.importName(spec) == name {
			return importPath(spec)
		}
	}
	return ""
}

func (s *scanner) importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return s.world.Name(importPath(spec))
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path
}

// checkLaunchers drops the kernels whose launchers' names are taken, and takes the others', as
// well as the names that instances need.
func (s *scanner) checkLaunchers() {
	files := map[string]string{} // the stems by their form in lower case
	s.Kernels = slices.DeleteFunc(s.Kernels, func(k Kernel) bool { return !s.checkLauncher(k, files) })
	for i := range s.Kernels {
		s.nameInstances(&s.Kernels[i], files)
	}
}

// checkLauncher reports whether k can have the launcher that it wants, and takes its name.
func (s *scanner) checkLauncher(k Kernel, files map[string]string) bool {
	folded := strings.ToLower(k.Name)
	switch {
	case s.Declared[k.Launcher], s.Imported[k.Launcher]:
		help := "rename the kernel or the other declaration"
		if len(k.TypeParams) > 0 {
			help = "name another launcher: //gpu:instance Name = " + k.Instances[0].Name
		}
		s.Errors.Add(diag.New(k.at(), diag.LauncherTaken, "the launcher of kernel %s would be %s, which is already declared", k.Name, k.Launcher).
			WithHelp("%s", help))
		return false
	case len(k.TypeParams) == 0 && files[folded] != "":
		s.Errors.Add(diag.New(k.Pos, diag.KernelName, "kernels %s and %s have names that differ only in case, which would collide on some file systems", files[folded], k.Name).
			WithHelp("rename one of the two"))
		return false
	case len(k.TypeParams) == 0:
		files[folded] = k.Name
	}
	s.Declared[k.Launcher] = true
	return true
}

// at returns where the user's package asks for the kernel.
func (k *Kernel) at() token.Position {
	if len(k.TypeParams) > 0 {
		return k.Instances[0].Pos
	}
	return k.Pos
}

// nameInstances gives the instances of a generic kernel names that nothing else has.
func (s *scanner) nameInstances(k *Kernel, files map[string]string) {
	for i := range k.Instances {
		n := &k.Instances[i]
		if len(n.Args) == 0 {
			continue
		}
		stem := n.Name
		switch {
		case k.Named && len(k.Instances) == 1:
			stem = k.Launcher
		case k.Named:
			stem = k.Launcher + n.Name[len(k.Name):]
		}
		stem = joinWords(driver.Entry(stem))
		for unique := stem; ; unique += "_" {
			if folded := strings.ToLower(unique); files[folded] == "" {
				files[folded], n.Stem = unique, unique
				break
			}
		}
		for range 1 + len(k.Bodies) {
			n.Vars = append(n.Vars, Fresh("instance_"+n.Stem, s.Declared))
		}
	}
}

// joinWords returns "addFloat32" for "add_float32".
func joinWords(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return lowerFirst(strings.Join(words, ""))
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }
