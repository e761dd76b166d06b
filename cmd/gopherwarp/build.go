package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

type buildCommand struct {
	Check    bool       `help:"Write nothing; fail where a generated file is stale."`
	Listing  bool       `short:"S" name:"S" help:"Write nothing; print each kernel's Go lines, IR and PTX."`
	Rebuild  bool       `short:"a" help:"Compile everything, also what has not changed since it was compiled."`
	Report   reportFlag `placeholder:"json" help:"Write nothing; print what became of each kernel: checks that are left, memory accesses, registers, loops. -report=json is for programs."`
	Contract string     `enum:",on,off" default:"" placeholder:"on|off" help:"Whether x*y+z may be rounded once. By default as the kernels' //gpu:contract directives say, else on."`
	Checks   string     `enum:",on,off" default:"" placeholder:"on|off" help:"Whether kernels check indices, bounds, divisors, shifts and nil pointers as Go does. Default: on. Without, a mistake in a kernel loses the device or spoils data."`
	Packages []string   `arg:"" optional:"" help:"Packages, as the go command takes them. Default: ."`
}

// Help is the text behind the flags.
func (buildCommand) Help() string {
	return `Writes zkernels.go and PTX files into each package that has functions with a //gpu:kernel directive.
They are meant to be committed: programs need no compiler.

A package is compiled where it has changed since it was last compiled with the same options, or one that it
imports has, or this program. What was made is kept in the user's cache folder.

Example:
  gopherwarp build ./...

In a source file:
  //go:generate go tool gopherwarp build .`
}

// Run is called by kong.
func (c *buildCommand) Run(ctx context.Context, t terminal) error {
	hurry()
	result, err := compile.Build(ctx, compile.Options{
		Patterns: c.Packages,
		Contract: compile.Contract(c.Contract),
		Checks:   compile.Checks(c.Checks),
		Cache:    c.cache(),
		Rebuild:  c.Rebuild,
		Report:   c.Report != "",
	})
	if err != nil {
		return err
	}
	if err := shown(result.Diagnostics); err != nil {
		return err
	}
	if len(result.Packages) == 0 {
		fmt.Fprintf(t.err, "gopherwarp: no function in %s has a //gpu:kernel directive\n", c.patterns())
	}
	switch {
	case c.Listing:
		return compile.List(t.out, result)
	case c.Report != "":
		return c.Report.write(t.out, result)
	case c.Check:
		return c.check(result)
	}
	for _, f := range result.Stale() {
		if err := f.Write(); err != nil {
			return err
		}
		fmt.Fprintln(t.err, f.Verb(), short(f.Name))
	}
	return nil
}

// cache returns the folder of what was built, which tells files alone, not what -S and -report print.
func (c *buildCommand) cache() string {
	if c.Listing || c.Report != "" {
		return ""
	}
	return cacheFolder()
}

// cacheFolder returns the folder that keeps what was built, or nothing where the user has none.
func cacheFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gopherwarp", "build")
}

// hurry has the collector run less often up to one and a half gigabytes: a compiler does not live long, and the collector
// takes a third of its time otherwise.
func hurry() {
	debug.SetGCPercent(300)
	debug.SetMemoryLimit(3 << 29)
}

func (c *buildCommand) patterns() string {
	if len(c.Packages) == 0 {
		return "."
	}
	return strings.Join(c.Packages, " ")
}

// check returns an error where a file is stale.
func (c *buildCommand) check(result *compile.Result) error {
	stale := result.Stale()
	if len(stale) == 0 {
		return nil
	}
	var b strings.Builder
	for _, f := range stale {
		fmt.Fprintf(&b, "%s is stale\n", short(f.Name))
	}
	fmt.Fprintf(&b, "to mend it, run\n\tgopherwarp build %s", c.mending())
	return errors.New(b.String())
}

// mending returns the arguments of the command that brings everything up to date.
func (c *buildCommand) mending() string {
	args := c.patterns()
	if c.Checks != "" {
		args = "-checks=" + c.Checks + " " + args
	}
	if c.Contract != "" {
		args = "-contract=" + c.Contract + " " + args
	}
	return args
}

// shown returns diagnostics as an error, with names relative to the working directory.
func shown(l diag.List) error {
	wd, err := os.Getwd()
	if err != nil {
		return l.Err()
	}
	return l.Relative(wd).Err()
}

// short returns a file's name relative to the working directory where that is shorter.
func short(file string) string {
	wd, err := os.Getwd()
	if err != nil {
		return file
	}
	return diag.Shorten(file, wd)
}
