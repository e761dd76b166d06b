package build

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Exit codes of Main.
const (
	ExitOK     = 0
	ExitFailed = 1 // a package is refused, or a check failed
	ExitUsage  = 2 // the command line is wrong
)

// Streams is where a command writes.
type Streams struct{ Out, Err io.Writer }

// Main runs the command with a name, which users know it by, and returns its exit code.
func Main(ctx context.Context, name string, args []string, s Streams) int {
	c, err := parse(name, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(s.Out, name)
		return ExitOK
	case err != nil:
		console.Print(s.Err, fmt.Sprintf("%s: %v\nRun %s -help for usage.", name, err, name), 2)
		return ExitUsage
	}
	if err := c.run(ctx, s); err != nil {
		console.Print(s.Err, err.Error(), 2)
		return ExitFailed
	}
	return ExitOK
}

func (c *command) run(ctx context.Context, s Streams) error {
	result, err := Compile(ctx, s.Err, compile.Options{
		Patterns: c.packages,
		Contract: compile.Contract(c.contract),
		Checks:   compile.Checks(c.checks),
		Cache:    c.cache(),
		Rebuild:  c.rebuild,
		Report:   c.report != "",
	})
	if err != nil {
		return err
	}
	refused := Refused(result)
	switch {
	case refused != nil && (c.listing || c.report != "" || c.check):
		return refused
	case len(result.Empty) > 0:
		refused = errors.Join(refused, fmt.Errorf("%s: no function in %s has a //gpu:kernel directive", c.name, strings.Join(result.Empty, " ")))
	case len(result.Packages) == 0 && refused == nil:
		fmt.Fprintf(s.Err, "%s: no function in %s has a //gpu:kernel directive\n", c.name, c.patterns())
	}
	switch {
	case c.listing:
		return errors.Join(compile.List(s.Out, result), refused)
	case c.report == "json":
		return errors.Join(compile.WriteReportsJSON(s.Out, result.Report()), refused)
	case c.report != "":
		return errors.Join(compile.WriteReports(s.Out, result.Report(), console.PageWidth(s.Out)), refused)
	case c.check:
		return errors.Join(c.stale(result), refused)
	}
	return errors.Join(c.write(s.Err, result), refused)
}

// write writes the stale files of the packages that are not refused, and their names to w. Under go generate, it leaves files that
// should be removed and returns an error, because go generate fails if a file is removed before it has read the file.
func (c *command) write(w io.Writer, result *compile.Result) error {
	var left []string
	for _, f := range result.Stale() {
		if f.Contents == nil && os.Getenv(generating) != "" {
			left = append(left, Short(f.Name))
			continue
		}
		if err := f.Write(); err != nil {
			return err
		}
		fmt.Fprintln(w, f.Verb(), Short(f.Name))
	}
	if left == nil {
		return nil
	}
	return fmt.Errorf("no kernel needs these files any more: %s\nUnder go generate, they are not removed. To remove them, run\n\t%s %s",
		strings.Join(left, " "), c.name, c.arguments())
}

// generating is a variable that go generate sets for its commands.
const generating = "GOFILE"

// Compile is compile.Build for a short-lived process. It shows on w what the compiler is doing, if w is a terminal.
func Compile(ctx context.Context, w io.Writer, o compile.Options) (*compile.Result, error) {
	// The garbage collector would take a third of the time otherwise.
	debug.SetGCPercent(300)
	debug.SetMemoryLimit(3 << 29)
	if p := console.StartProgress(w); p != nil {
		o.Progress = func(step compile.Step) { p.Show("%v", step) }
		defer p.Stop()
	}
	return compile.Build(ctx, o)
}

// cache returns the folder of earlier results. These are files, not what -S and -report print.
func (c *command) cache() string {
	if c.listing || c.report != "" {
		return ""
	}
	return CacheFolder("build")
}

// CacheFolder returns the project's folder of the given kind in the user's cache, or "" if the user has no cache.
func CacheFolder(kind string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gopherwarp", kind)
}

// stale returns an error that names the stale files, if any.
func (c *command) stale(result *compile.Result) error {
	stale := result.Stale()
	if len(stale) == 0 {
		return nil
	}
	var b strings.Builder
	for _, f := range stale {
		fmt.Fprintf(&b, "%s is stale\n", Short(f.Name))
	}
	fmt.Fprintf(&b, "to update, run\n\t%s %s", c.name, c.arguments())
	return errors.New(b.String())
}

// Called returns the command that runs a program again, the one with the import path whose os.Args[0] is arg0.
func Called(arg0, importPath string) string {
	switch name := filepath.ToSlash(arg0); {
	case strings.Contains(name, "/go-build/"): // the build cache, from which go tool runs programs
		return "go tool " + path.Base(importPath)
	case temporary.MatchString(name):
		return "go run " + importPath
	}
	return arg0
}

// temporary matches the names of programs in the temporary folders of go run.
var temporary = regexp.MustCompile(`/go-build[0-9]+/`)

// arguments returns those that bring everything up to date.
func (c *command) arguments() string {
	args := c.patterns()
	if c.checks != "" {
		args = "-checks=" + string(c.checks) + " " + args
	}
	if c.contract != "" {
		args = "-contract=" + string(c.contract) + " " + args
	}
	return args
}

// Refused returns the diagnostics of a build as an error, with file names relative to the working directory, or nil.
func Refused(result *compile.Result) error {
	wd, err := os.Getwd()
	if err != nil {
		return result.Diagnostics.Err()
	}
	return result.Diagnostics.Relative(wd).Err()
}

// Short returns a file name relative to the working directory if that is shorter.
func Short(file string) string {
	wd, err := os.Getwd()
	if err != nil {
		return file
	}
	return diag.Shorten(file, wd)
}
