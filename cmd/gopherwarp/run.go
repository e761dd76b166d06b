package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/build"
	"github.com/gopherwarp/gopherwarp/compile"
)

type runCommand struct {
	Device   string   `placeholder:"cuda|cuda:N|vulkan|vulkan:N|cpu|interp[:fast,traffic]" help:"The device for the program's kernels (sets GOPHERWARP_DEVICE). Default: the best available."`
	Contract string   `enum:",on,off" default:"" placeholder:"on|off" help:"Whether the compiler may fuse x*y+z, which is then rounded once. Default: the kernel's //gpu:contract directive, else on."`
	Checks   string   `enum:",on,off" default:"" placeholder:"on|off" help:"Whether kernels check indices, bounds, divisors, shifts and nil pointers as Go does. Default: on."`
	Output   string   `name:"output" short:"o" placeholder:"FILE" help:"Write the program to a file instead of running it."`
	Package  string   `arg:"" help:"The main package of the program, or a Go file of it."`
	Args     []string `arg:"" optional:"" passthrough:"" help:"Arguments of the program."`

	environment []string // that the program has besides this process's
}

// Help is the text after the flags.
func (runCommand) Help() string {
	return `Compiles the kernels of the program, and of the packages that the program imports from its module. Then it builds and
runs the program, like go run. It writes no files to the module: it replaces stale generated files only for this run.
The exit code is the program's.

Example:
  gopherwarp run -device=cpu ./examples/blur -- -in photo.jpg -out blurred.png`
}

// Run runs the command.
func (c *runCommand) Run(ctx context.Context, t terminal) error {
	if err := gopherwarp.CheckDevice(c.Device); err != nil {
		return exit{exitUsage, err}
	}
	l := linkage{pkg: build.Patterns([]string{c.Package})[0], contract: compile.Contract(c.Contract), checks: compile.Checks(c.Checks)}
	program, err := l.link(ctx, t)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(program))
	if c.Output != "" {
		return copyProgram(c.Output, program)
	}
	return c.start(t, program)
}

// copyProgram copies a program to a file.
func copyProgram(to, program string) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a program that runs cannot be written to
	}
	return os.WriteFile(to, text, 0o777)
}

// start runs the program. An interrupt reaches it from the terminal; this process waits
// for what the program makes of it.
func (c *runCommand) start(t terminal, program string) error {
	command := exec.Command(program, handedOn(c.Package, c.Args)...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, t.out, t.err
	command.Env = append(os.Environ(), c.environment...)
	if c.Device != "" {
		command.Env = append(command.Env, gopherwarp.Variable+"="+c.Device)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case s := <-signals:
			command.Process.Signal(s)
		case <-ended:
		}
	}()
	return passed(command.Wait())
}

// handedOn returns the arguments after a package that are for another program. It leaves out the first "--", and the Go files of
// the package, all of which shells write for *.go.
func handedOn(pkg string, args []string) []string {
	for len(args) > 0 && build.SamePackage(pkg, args[0]) {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return args
}

// passed returns the exit code of a process that failed and has already printed the reason.
func passed(err error) error {
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	return exit{code: max(e.ExitCode(), exitFailed)}
}
