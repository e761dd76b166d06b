package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"os"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/vet"
)

type vetCommand struct {
	Packages []string `arg:"" optional:"" help:"Packages, named as for the go command. Default: ."`
}

// Help is the text after the flags.
func (vetCommand) Help() string {
	return `Reports likely mistakes in kernels: barriers that only some threads reach, shared memory that is used without a barrier,
accesses that waste most of the memory bandwidth, arrays in local memory, and indices that may overflow. It also reports
code that does not compile. docs/vet.md explains each kind of mistake. The exit code is 1 if there are mistakes. The
generated files of the packages must exist.

Editors and CI can use the analyzer in package vet, or cmd/gopherwarp-vet with go vet -vettool.

Example:
  gopherwarp vet ./...`
}

// Run runs the command.
func (c *vetCommand) Run(ctx context.Context, t terminal) error {
	found, err := c.findings(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range found {
		f.print(t)
	}
	if len(found) > 0 {
		return exit{code: exitFailed}
	}
	return nil
}

// findings loads the packages and has the analyzer look at them.
func (c *vetCommand) findings(ctx context.Context, t terminal) (found []finding, err error) {
	progress := console.StartProgress(t.err)
	defer progress.Stop()
	progress.Show("loading packages")
	loaded, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.LoadSyntax | packages.NeedModule}, build.Patterns(c.Packages)...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, loadError(p, e)
		}
	}
	progress.Show("checking kernels")
	for _, p := range loaded {
		of, err := analyze(p)
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	return found, nil
}

// finding is a diagnostic of a package whose files are in fset.
type finding struct {
	analysis.Diagnostic
	fset *token.FileSet
}

// analyze returns the findings in a package. It does the little that package checker of golang.org/x/tools does for an analyzer
// without facts and without dependencies on others.
func analyze(p *packages.Package) (found []finding, err error) {
	_, err = vet.Analyzer.Run(&analysis.Pass{
		Analyzer:   vet.Analyzer,
		Fset:       p.Fset,
		Files:      p.Syntax,
		OtherFiles: p.OtherFiles,
		Pkg:        p.Types,
		TypesInfo:  p.TypesInfo,
		TypesSizes: p.TypesSizes,
		ReadFile:   os.ReadFile,
		Report:     func(d analysis.Diagnostic) { found = append(found, finding{d, p.Fset}) },
	})
	return found, err
}

// loadError explains why p, which has the error e, cannot be checked.
func loadError(p *packages.Package, e packages.Error) error {
	var err error = e
	if e.Pos == "" || e.Pos == "-" {
		err = errors.New(e.Msg)
	}
	if len(p.GoFiles) > 0 && p.Module != nil {
		err = fmt.Errorf("%w\nrun gopherwarp build %s/... if a launcher is missing or stale, here or in another package", err, p.Module.Path)
	}
	return err
}

func (f finding) print(t terminal) {
	at := f.fset.Position(f.Pos)
	at.Filename = build.Short(at.Filename)
	console.Print(t.out, fmt.Sprintf("%v: %s (%s)", at, f.Message, f.Category), 2)
}
