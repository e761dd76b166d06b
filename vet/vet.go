package vet

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/frontend"
	"github.com/gopherwarp/gopherwarp/internal/lint"
)

const page = "https://github.com/gopherwarp/gopherwarp/blob/main/docs/vet.md"

// Analyzer reports mistakes in kernels. The category of a diagnostic is the code of a compiler error, such as "GW0107",
// or one of the words barrier, race, coalesce, bank, local, overflow and stale.
var Analyzer = &analysis.Analyzer{
	Name: "gopherwarp",
	Doc: "report mistakes in GPU kernels\n\n" +
		"It reports code that the compiler rejects in functions with a //gpu:kernel directive, barriers that only some threads reach, " +
		"shared memory that is used without a barrier, memory accesses that are not coalesced or have bank conflicts, " +
		"arrays that do not fit in registers, indices that may overflow, and kernels that have changed since code was generated from them.",
	URL: page,
	Run: run,
}

func run(pass *analysis.Pass) (any, error) {
	files, mentioned, err := sources(pass)
	if err != nil || !mentioned {
		return nil, err
	}
	r := &reporter{pass: pass, reported: map[string]bool{}}
	kernels, found := compile.Declarations(pass.Pkg, files)
	r.diagnostics(found)
	if len(kernels) == 0 {
		return nil, nil
	}
	r.stale(compile.Stale(pass.Pkg, files))
	program := build(pass)
	for _, k := range kernels {
		for _, fn := range instances(program, pass, k) {
			if err := r.kernel(fn, k.Block); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// instances returns the functions to analyze for a kernel. For a generic kernel, these are the
// instances that the package uses, which include those that the generated file uses because of
// directives.
func instances(program *ssa.Program, pass *analysis.Pass, k compile.Declared) []*ssa.Function {
	fn := program.FuncValue(k.Func)
	if !k.Generic {
		return []*ssa.Function{fn}
	}
	var all []*ssa.Function
	for f := range functions(program, pass) {
		if f.Origin() == fn && f != fn {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *ssa.Function) int { return cmp.Compare(a.Name(), b.Name()) })
	return all
}

// functions returns the functions that the package declares, and all that they mention.
func functions(program *ssa.Program, pass *analysis.Pass) map[*ssa.Function]bool {
	all := map[*ssa.Function]bool{}
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		if f == nil || all[f] {
			return
		}
		all[f] = true
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for _, v := range i.Operands(nil) {
					if g, ok := (*v).(*ssa.Function); ok {
						add(g)
					}
				}
			}
		}
	}
	add(program.Package(pass.Pkg).Func("init")) // for the values of variables
	for _, x := range pass.TypesInfo.Defs {
		if f, ok := x.(*types.Func); ok {
			add(program.FuncValue(f))
		}
	}
	return all
}

// sources returns the contents of the package's files and reports whether any mentions a directive.
func sources(pass *analysis.Pass) (files []compile.File, mentioned bool, err error) {
	for _, f := range pass.Files {
		name := pass.Fset.File(f.FileStart).Name()
		text, err := pass.ReadFile(name)
		if err != nil {
			return nil, false, err
		}
		mentioned = mentioned || compile.Mentions(text)
		files = append(files, compile.File{Name: name, Contents: text})
	}
	return files, mentioned, nil
}

// build returns the package in SSA form, as the compiler lowers it. Imported packages have declarations only.
func build(pass *analysis.Pass) *ssa.Program {
	program := ssa.NewProgram(pass.Fset, ssa.InstantiateGenerics|ssa.BuildSerially)
	seen := map[string]bool{}
	for todo := pass.Pkg.Imports(); len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[next.Path()] {
			seen[next.Path()] = true
			program.CreatePackage(next, nil, nil, true)
			todo = append(todo, next.Imports()...)
		}
	}
	syntax, info := copied(pass.Files, pass.TypesInfo)
	frontend.Reorder(pass.Fset, pass.Pkg, syntax, info)
	program.CreatePackage(pass.Pkg, syntax, info, false).Build()
	return program
}

// reporter converts findings to diagnostics of the pass.
type reporter struct {
	pass     *analysis.Pass
	reported map[string]bool // by position and message, because instances of a kernel have the same findings
}

// report reports d unless it has been reported before.
func (r *reporter) report(d analysis.Diagnostic) {
	key := fmt.Sprint(d.Pos, d.Message)
	if !r.reported[key] {
		r.reported[key] = true
		r.pass.Report(d)
	}
}

// kernel analyzes one kernel. It recovers from a panic, which is a bug in the compiler, and returns
// it as an error.
func (r *reporter) kernel(fn *ssa.Function, block [3]int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("gopherwarp: internal error in kernel %s, please report it: %v", fn.Name(), v)
		}
	}()
	name := fn.Object().Name()
	module, found := frontend.Build([]frontend.Kernel{{Func: fn, Name: name, Block: block, Partial: compile.Compiles}})
	r.diagnostics(found)
	if len(found) > 0 {
		return nil
	}
	findings, err := lint.Kernel(module.Func(name))
	if err != nil {
		return nil // recursion through a function of another package, which the build reports
	}
	for _, f := range findings {
		r.finding(f)
	}
	return nil
}

// diagnostics reports the errors of the compiler.
func (r *reporter) diagnostics(l diag.List) {
	for _, d := range l.Sorted() {
		pos := r.at(d.Pos.Filename, d.Pos.Line, d.Pos.Column)
		if !pos.IsValid() {
			continue
		}
		message := d.Message
		if d.Help != "" {
			message += ": " + d.Help
		}
		r.report(analysis.Diagnostic{Pos: pos, Category: d.Code.String(), Message: message, URL: page})
	}
}

// stale reports that code was generated from earlier versions of declarations.
func (r *reporter) stale(changed []compile.Changed) {
	for _, d := range changed {
		pos, name := r.declared(d.Name), d.Name
		if strings.Contains(d.File, "/") { // of another package
			pos, name = r.pass.Files[0].Name.Pos(), d.Name+" in "+d.File
		}
		r.report(analysis.Diagnostic{
			Pos: pos, Category: "stale", URL: page + "#stale",
			Message: fmt.Sprintf("%s has changed since code was generated from it: run go generate", name),
		})
	}
}

// declared returns the position of the declaration of a function, a method or another object, or that
// of the package clause if there is no such declaration.
func (r *reporter) declared(name string) token.Pos {
	scope := r.pass.Pkg.Scope()
	of, method, _ := strings.Cut(name, ".")
	x := scope.Lookup(of)
	if t, ok := x.(*types.TypeName); ok && method != "" {
		x, _, _ = types.LookupFieldOrMethod(t.Type(), true, r.pass.Pkg, method)
	}
	if x == nil {
		return r.pass.Files[0].Name.Pos()
	}
	return x.Pos()
}

func (r *reporter) finding(f lint.Finding) {
	pos := r.at(f.Pos.File, f.Pos.Line, f.Pos.Col)
	if !pos.IsValid() {
		return
	}
	d := analysis.Diagnostic{Pos: pos, Category: f.Category, Message: f.Message, URL: page + "#" + f.Category}
	if other := r.at(f.Other.File, f.Other.Line, f.Other.Col); other.IsValid() && f.Other != f.Pos {
		d.Message += fmt.Sprintf(" (%s: %s:%d)", f.Says, filepath.Base(f.Other.File), f.Other.Line)
		d.Related = []analysis.RelatedInformation{{Pos: other, Message: f.Says}}
	}
	r.report(d)
}

// at returns a position in the package's files. The base name of file identifies the file.
func (r *reporter) at(file string, line, column int) token.Pos {
	for _, f := range r.pass.Files {
		t := r.pass.Fset.File(f.FileStart)
		if filepath.Base(t.Name()) == filepath.Base(file) && line >= 1 && line <= t.LineCount() {
			return t.LineStart(line) + token.Pos(max(column, 1)-1)
		}
	}
	return token.NoPos
}
