package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
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
	return `Reports likely mistakes in kernels: barriers that only some threads reach, shared memory that is used without a
barrier, accesses that waste most of the memory bandwidth, arrays in local memory, and indices that may overflow. It
also reports code that does not compile. docs/vet.md explains each finding. The exit code is 1 if there are findings.
The generated files must exist.

Editors and CI can use the analyzer in package vet, or cmd/gopherwarp-vet with go vet -vettool.

Example:
  gopherwarp vet ./...`
}

// Run is called by kong.
func (c *vetCommand) Run(ctx context.Context, t terminal) error {
	graph, err := c.analyze(ctx, t)
	if err != nil {
		return err
	}
	found := 0
	var failed []error
	for _, a := range graph.Roots {
		failed = append(failed, a.Err)
		found += len(a.Diagnostics)
		for _, d := range a.Diagnostics {
			printFinding(t, a.Package.Fset, d)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if found > 0 {
		return exit{code: exitFailed}
	}
	return nil
}

// analyze loads the packages and has the analyzer look at them.
func (c *vetCommand) analyze(ctx context.Context, t terminal) (*checker.Graph, error) {
	progress := console.StartProgress(t.err)
	defer progress.Stop()
	progress.Show("loading packages")
	loaded, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.LoadSyntax}, build.Patterns(c.Packages)...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, loadError(p, e)
		}
	}
	progress.Show("checking kernels")
	return checker.Analyze([]*analysis.Analyzer{vet.Analyzer}, loaded, nil)
}

// loadError explains why p, which has the error e, cannot be checked.
func loadError(p *packages.Package, e packages.Error) error {
	var err error = e
	if e.Pos == "" || e.Pos == "-" {
		err = errors.New(e.Msg)
	}
	if len(p.GoFiles) > 0 {
		err = fmt.Errorf("%w\nif a launcher is missing, run gopherwarp build first", err)
	}
	return err
}

func printFinding(t terminal, fset *token.FileSet, d analysis.Diagnostic) {
	at := fset.Position(d.Pos)
	at.Filename = build.Short(at.Filename)
	console.Print(t.out, fmt.Sprintf("%v: %s (%s)", at, d.Message, d.Category), 2)
}
