package compile

import (
	"context"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/frontend"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/origin"
)

// Options are the parameters of Build.
type Options struct {
	Dir      string   // the directory that patterns are relative to; "" is the working directory
	Patterns []string // package patterns, as for the go command; none means "."
	// Dependencies also builds the packages of the main module that the named packages import.
	Dependencies bool
	// OnDemand restricts Dependencies to packages whose code is generated on demand (//gpu:ondemand).
	OnDemand bool
	// Twins selects the kernels that get a twin.
	Twins Twins
	// Trace, if it is not nil, is called with the best variant of each kernel: before the first pass,
	// with an empty pass name, and after each pass.
	Trace func(pass string, f *ir.Func)
	// Contract selects whether x*y+z may be fused.
	Contract Contract
	// Checks selects whether kernels make Go's run-time checks.
	Checks Checks
	// Cache names a directory in which builds keep their results. If Cache is empty, builds keep nothing. A
	// build takes a package from the cache if the package, its imports and the running program, which
	// contains the compiler, have not changed; Package.Kernels is then nil. Concurrent builds may share a
	// directory.
	Cache string
	// Report adds a report to each kernel.
	Report bool
	// Verify makes the compiler verify the IR after every pass, for tests.
	Verify bool
	// Rebuild ignores the results in the cache and replaces them.
	Rebuild bool
	// Progress, if it is not nil, is called as the build advances. Calls may be concurrent.
	Progress func(Step)
}

// Checks selects whether a kernel checks indices, slice bounds, divisors, shift counts and nil
// pointers, as Go does. Without checks, a mistake in a kernel corrupts data on a GPU or makes the
// device unusable for the process. On the CPU, only vector code loses its checks: the Go compiler
// compiles the other code, and keeps its checks.
type Checks string

// Values of Options.Checks.
const (
	ChecksDefault Checks = "" // on
	ChecksOn      Checks = "on"
	ChecksOff     Checks = "off"
)

// Contract selects whether the compiler may fuse a multiplication and an addition. The fused operation
// rounds only once, as Go's specification allows.
type Contract string

// Values of Options.Contract. By default, the compiler fuses unless the kernel has a //gpu:contract off
// directive.
const (
	ContractDefault Contract = ""
	ContractOn      Contract = "on"
	ContractOff     Contract = "off"
)

// Result is the result of a build.
type Result struct {
	Packages    []*Package // packages with kernels or with leftover generated files, dependencies first
	Diagnostics diag.List  // sorted; packages with diagnostics have no files
	Empty       []string   // import paths of packages that a pattern names exactly and that have no kernels; nil if Options.Dependencies is set
	Libraries   []string   // import paths of packages that patterns name and that are not package main
}

// Package is a Go package with its compiled kernels.
type Package struct {
	Path    string
	Dir     string
	Kernels []*Kernel // nil if the files come from the cache
	Files   []File    // files that belong in Dir, or in a program that is built with an Overlay
}

// Kernel is a compiled kernel.
type Kernel struct {
	*driver.Kernel          // without the Go function: Native is nil
	File           string   // the file that declares the kernel
	Line           int      // the line of the declaration
	IR             *ir.Func // the input of the back ends; nil if Options.Cache is set
	// CPU describes how the threads of a block run on the CPU, for example "loop with vector code"
	// or "coroutines". A reason follows if there is no generated code, or no vector code.
	CPU string
	// Report is nil unless Options.Report is set.
	Report *Report

	origins []origin.Decl // that its code is made of
	stem    string        // of the names of its files and variables
	native  bool          // without a twin
	twin    *ir.Func      // for the CPU's back end
}

// Build compiles the kernels of the packages. Errors in the user's code are in the result's
// diagnostics. Build returns an error if the go command fails, and an *InternalError if the compiler
// fails.
func Build(ctx context.Context, o Options) (*Result, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	progress := &progress{report: o.Progress}
	progress.step("listing packages")
	graph, err := load.List(ctx, o.Dir, o.Patterns...)
	if err != nil {
		return nil, err
	}
	b := &build{options: o, graph: graph, frontend: frontend.NewProgram(), cache: newBuildCache(o, graph), workers: newWorkers(o), progress: progress}
	b.listErrors()
	if err := b.scan(); err != nil {
		return nil, err
	}
	if b.recall() || b.cache == nil {
		progress.step("checking types")
		if err := b.check(); err != nil {
			return nil, err
		}
	}
	b.declErrors()
	progress.expect(b.units)
	packages, err := b.compile()
	if err != nil {
		return nil, err
	}
	b.cache.trim()
	return &Result{Packages: packages, Diagnostics: b.found.Sorted(), Empty: b.empty(), Libraries: b.libraries()}, nil
}

// build is the state of one Build.
type build struct {
	options  Options
	graph    *load.Graph
	units    []*unit // the packages of the main module that have kernels, or had them
	program  *load.Program
	origins  *origins
	ssa      *ssa.Program
	frontend *frontend.Program
	found    diag.List
	cache    *buildCache
	workers  *workers
	progress *progress
}

// unit is a package that may have kernels.
type unit struct {
	pkg    *load.Package
	decl   *decl.Package
	wanted bool   // its files are asked for; else only its launchers' signatures are
	kept   []File // that an earlier build made

	jobs  []*job
	left  atomic.Int32 // of them, and one until all are known
	found diag.List    // in its kernels
	made  *Package
	whole bool // nothing is wrong with it
	err   error
}

// hasKernels reports whether there is something to compile, perhaps in a file that does not parse.
func (u *unit) hasKernels() bool { return len(u.decl.Kernels) > 0 || u.decl.Broken }

// listErrors reports patterns that name no package.
func (b *build) listErrors() {
	for _, p := range b.graph.Roots {
		if p.Error != nil && len(p.Files()) == 0 {
			b.found.Add(diag.New(p.Error.Position(b.options.Dir), diag.GoError, "%s", strings.TrimSpace(p.Error.Err)))
		}
	}
}

// empty returns the packages without kernels that patterns name alone. A package that the go command
// finds wrong is not one.
func (b *build) empty() []string {
	var paths []string
	for _, p := range b.graph.Roots {
		isUnit := slices.ContainsFunc(b.units, func(u *unit) bool { return u.pkg == p })
		alone := slices.ContainsFunc(p.Match, func(pattern string) bool { return !strings.Contains(pattern, "...") })
		if alone && !isUnit && p.Error == nil && !b.options.Dependencies {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths
}

// libraries returns the packages that patterns name and that are not package main.
func (b *build) libraries() []string {
	var paths []string
	for _, p := range b.graph.Roots {
		if p.Name != "main" && p.Name != "" {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths
}

// scan finds the units.
func (b *build) scan() error {
	for _, p := range b.graph.All {
		if !p.InMain() {
			continue
		}
		sources, err := b.read(p)
		if err != nil {
			return err
		}
		leftover := slices.ContainsFunc(p.GoFiles, load.IsGenerated)
		if !slices.ContainsFunc(sources, func(s decl.Source) bool { return decl.Mentions(s.Text) }) && !leftover {
			continue
		}
		u := &unit{pkg: p, decl: decl.Scan(sources, b.world(p))}
		u.wanted = slices.Contains(b.graph.Roots, p) || b.options.Dependencies && (u.decl.OnDemand || !b.options.OnDemand)
		b.units = append(b.units, u)
	}
	return nil
}

// recall finds the units that an earlier build made, and reports whether any is left to compile.
func (b *build) recall() (left bool) {
	for _, u := range b.units {
		if u.wanted && u.hasKernels() && (len(u.decl.Errors) > 0 || !b.cache.recall(u)) {
			left = true
		}
	}
	return left
}

// read returns the package's files and its tests, but not its generated file.
func (b *build) read(p *load.Package) ([]decl.Source, error) {
	tests, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var sources []decl.Source
	for _, name := range slices.Concat(p.Files(), tests) {
		if load.IsGenerated(name) {
			continue
		}
		text, err := b.graph.Read(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, decl.Source{Name: name, Text: text})
	}
	return sources, nil
}

// nameOf returns the function that names packages by path, as files of p import them.
func (b *build) nameOf(p *load.Package) launcher.Names {
	return func(path string) string {
		return b.graph.NameOf(p.Resolve(path))
	}
}

// world returns what the scan of p asks for.
func (b *build) world(p *load.Package) decl.World {
	declares := func(path, name string) bool { return b.declared(p.Resolve(path))[name] }
	return decl.World{Name: b.nameOf(p), Declares: declares, Generic: func(path, name string) *decl.Kernel {
		if !ast.IsExported(name) {
			return nil
		}
		if k, ok := b.generics(p.Resolve(path))[name]; ok {
			return &k
		}
		return nil
	}}
}

// generics returns the generic kernels of the package with the path, which may be of any module.
func (b *build) generics(path string) map[string]decl.Kernel {
	for _, u := range b.units {
		if u.pkg.ImportPath == path {
			return u.decl.Generics
		}
	}
	p := b.graph.Package(path)
	if p == nil || p.Standard {
		return nil
	}
	return b.alone(p).Generics
}

// declared returns the names that the package with the path declares.
func (b *build) declared(path string) map[string]bool {
	if p := b.graph.Package(path); p != nil {
		return b.alone(p).Declared
	}
	return nil
}

// alone scans p without information on other packages.
func (b *build) alone(p *load.Package) *decl.Package {
	sources, err := b.read(p)
	if err != nil {
		sources = nil // which the check of types reports
	}
	return decl.Scan(sources, decl.World{
		Name:     b.nameOf(p),
		Generic:  func(string, string) *decl.Kernel { return nil },
		Declares: func(string, string) bool { return false },
	})
}

// check loads types, with the launchers declared, and builds SSA.
func (b *build) check() error {
	overlay := map[string][]byte{}
	var pkgs []*load.Package
	reach := &load.Reach{Roots: map[*load.Package][]string{}, Closed: frontend.Replaces}
	for _, u := range b.units {
		generated := filepath.Join(u.pkg.Dir, load.Generated)
		overlay[generated] = nil
		overlay[filepath.Join(u.pkg.Dir, load.Twins)] = nil
		overlay[filepath.Join(u.pkg.Dir, load.PTX)] = nil
		if len(u.decl.Kernels) > 0 {
			overlay[generated] = launcher.Stub(u.decl, b.nameOf(u.pkg))
		}
		if u.kept == nil && u.hasKernels() {
			pkgs = append(pkgs, u.pkg)
			reach.Roots[u.pkg] = u.roots()
		}
	}
	b.program = b.graph.Check(pkgs, overlay, reach)
	b.goErrors()
	return guard("", func() error {
		b.origins = newOrigins(b.graph, b.program)
		b.ssa = buildSSA(b.program)
		b.program.Forget()
		return nil
	})
}

// roots returns the names of what the kernels are: functions, and variables that have instances as their
// values.
func (u *unit) roots() []string {
	var names []string
	for _, k := range u.decl.Kernels {
		for _, n := range k.Instances {
			names = append(names, n.Vars...)
		}
		if len(k.TypeParams) > 0 {
			continue // those variables name all that it is made of
		}
		names = append(names, k.Name)
		for _, body := range k.Bodies {
			names = append(names, body.Name)
		}
	}
	return names
}

// declErrors reports what is wrong with declarations of kernels, but not in packages with a file that
// does not parse: there it may be a consequence.
func (b *build) declErrors() {
	for _, u := range b.units {
		if u.wanted && len(u.pkg.Unparsed) == 0 {
			b.found.Add(u.decl.Errors...)
		}
	}
}

// goErrors reports what Go finds wrong. Of a package with a file that does not parse it reports only
// that, and nothing of packages that import, perhaps through others, such a package or one with a
// refused kernel: that has no launcher, and the errors of its callers would mislead. An error in a
// generated file has another cause in the package, which is reported.
func (b *build) goErrors() {
	refused := map[string]bool{}
	for _, u := range b.units {
		refused[u.pkg.ImportPath] = len(u.decl.Errors) > 0
	}
	for _, p := range b.program.Packages {
		path := p.ImportPath
		refused[path] = refused[path] || slices.ContainsFunc(p.Imports, func(i string) bool { return refused[i] })
		if len(p.Unparsed) > 0 {
			b.found.Add(p.Unparsed...)
			refused[path] = true
		}
		for _, d := range p.Errors {
			if !refused[path] && !load.IsGenerated(d.Pos.Filename) {
				b.found.Add(d)
			}
		}
	}
}
