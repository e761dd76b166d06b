package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
	"github.com/gopherwarp/gopherwarp/compile"
)

type testCommand struct {
	Device   string   `placeholder:"cuda|cuda:N|vulkan|vulkan:N|cpu|interp[:fast,traffic]" help:"The device for the tests' kernels (sets GOPHERWARP_DEVICE). Default: the best available."`
	Packages string   `arg:"" help:"The packages, named as for go test: one pattern, or several separated by commas."`
	Args     []string `arg:"" optional:"" passthrough:"" help:"Flags for go test."`
}

// Help is the text before the flags.
func (testCommand) Help() string {
	return `Compiles the kernels of the packages, and of all packages of the module that they and their tests import, then runs go
test with the result. It writes no files to the module: it replaces stale generated files, and adds the files that are
generated on demand (//gpu:ondemand), only for this test. Until the folders of generated packages exist, go test runs without go vet. The exit code is that of
go test.

Example:
  gopherwarp test -device=interp ./kernels -- -run Reduce -v`
}

// Run runs the command.
func (c *testCommand) Run(ctx context.Context, t terminal) error {
	if err := gopherwarp.CheckDevice(c.Device); err != nil {
		return exit{exitUsage, err}
	}
	packages := build.Patterns(strings.Split(c.Packages, ","))
	imported, err := testImports(ctx, packages)
	if err != nil {
		return err
	}
	result, err := build.Compile(ctx, t.err, compile.Options{
		Patterns:     slices.Concat(packages, imported),
		Dependencies: true,
		Cache:        build.CacheFolder("build"),
	})
	if err == nil {
		err = build.Refused(result)
	}
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gopherwarp-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := result.Overlay(dir)
	if err != nil {
		return err
	}
	var flags []string
	if overlay != "" {
		flags = append(flags, "-overlay="+overlay)
	}
	if addsFolders(result) {
		flags = append(flags, "-vet=off") // go test runs vet in the folder of each package, also in one that only the overlay has
	}
	return c.test(ctx, t, flags, packages)
}

// addsFolders reports whether an overlay of the result contains packages whose folders do not exist.
func addsFolders(result *compile.Result) bool {
	for _, p := range result.Packages {
		for _, f := range p.Files {
			if _, err := os.Stat(filepath.Dir(f.Name)); err != nil {
				return true
			}
		}
	}
	return false
}

// test runs go test with flags and those of the command line.
func (c *testCommand) test(ctx context.Context, t terminal, flags, packages []string) error {
	args := append([]string{"test"}, flags...)
	command := exec.CommandContext(ctx, "go", slices.Concat(args, packages, handedOn(c.Packages, c.Args))...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, t.out, t.err
	command.Env = os.Environ()
	if c.Device != "" {
		command.Env = append(command.Env, gopherwarp.Variable+"="+c.Device)
	}
	return passed(command.Run())
}

// testImports returns the packages of the main module that tests of the packages import.
func testImports(ctx context.Context, packages []string) ([]string, error) {
	const tests = `{{$m := .Module}}{{if $m}}{{range .TestImports}}{{$m.Path}} {{.}}
{{end}}{{range .XTestImports}}{{$m.Path}} {{.}}
{{end}}{{end}}`
	list := exec.CommandContext(ctx, "go", slices.Concat([]string{"list", "-e", "-f", tests}, packages)...)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		module, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path != "" && (path == module || strings.HasPrefix(path, module+"/")) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
