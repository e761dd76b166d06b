package build

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// command is a parsed command line.
type command struct {
	name     string // as users call it
	check    bool
	listing  bool
	rebuild  bool
	report   report
	contract choice
	checks   choice
	packages []string
}

// option documents a flag.
type option struct{ usage, text string }

// options documents the flags, in the order of the help.
var options = [...]option{
	{"-check", "Write nothing; fail if a generated file is stale."},
	{"-rebuild, -a", "Compile everything, including packages that have not changed since they were compiled."},
	{"-S", "Write nothing; print the Go lines, IR and PTX of each kernel."},
	{"-report[=json]", "Write nothing; print a report on each kernel: remaining checks, memory accesses, registers, loops."},
	{"-contract=on|off", "Whether the compiler may fuse x*y+z, which is then rounded once. Default: the kernel's //gpu:contract directive, else on."},
	{"-checks=on|off", "Whether kernels check indices, bounds, divisors, shifts and nil pointers as Go does. Default: on. " +
		"Without checks, a mistake in a kernel corrupts data or makes the device unusable for the process."},
	{"-help, -h", "Print this help."},
}

// choice is the value of a flag that is on, off, or absent.
type choice string

// String returns the value.
func (c *choice) String() string { return string(*c) }

// Set sets the value.
func (c *choice) Set(value string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf(`must be "on" or "off"`)
	}
	*c = choice(value)
	return nil
}

// report is the value of -report: empty, "text" or "json".
type report string

// String returns the value.
func (r *report) String() string { return string(*r) }

// IsBoolFlag lets the flag stand alone.
func (r *report) IsBoolFlag() bool { return true }

// Set sets the value; package flag passes "true" for a flag that stands alone.
func (r *report) Set(value string) error {
	switch value {
	case "true":
		*r = "text"
	case "text", "json":
		*r = report(value)
	default:
		return fmt.Errorf(`must be "text" or "json"`)
	}
	return nil
}

// parse returns the command that args describe. Flags and packages may come in any order. Its error is flag.ErrHelp if
// the user wants the help.
func parse(name string, args []string) (*command, error) {
	c := &command{name: name}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&c.check, "check", false, "")
	flags.BoolVar(&c.listing, "S", false, "")
	flags.BoolVar(&c.rebuild, "rebuild", false, "")
	flags.BoolVar(&c.rebuild, "a", false, "")
	flags.Var(&c.report, "report", "")
	flags.Var(&c.contract, "contract", "")
	flags.Var(&c.checks, "checks", "")
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if parsed := args[:len(args)-len(rest)]; len(rest) == 0 || slices.Contains(parsed, "--") {
			c.packages = append(c.packages, rest...)
			break
		}
		c.packages, args = append(c.packages, rest[0]), rest[1:]
	}
	if len(c.packages) == 0 {
		c.packages = []string{"."}
	}
	c.packages = Patterns(c.packages)
	return c, c.exclusive()
}

// exclusive returns an error if several flags each replace what the command does.
func (c *command) exclusive() error {
	var set []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"-check", c.check}, {"-S", c.listing}, {"-report", c.report != ""}} {
		if f.set {
			set = append(set, f.name)
		}
	}
	if len(set) > 1 {
		return fmt.Errorf("%s can't be used together", strings.Join(set, " and "))
	}
	return nil
}

// patterns returns the packages as one string.
func (c *command) patterns() string { return strings.Join(c.packages, " ") }

// help writes the help text of the command with a name to w.
func help(w io.Writer, name string) {
	width := console.PageWidth(w)
	fmt.Fprintf(w, "Usage: %s [flags] [packages]\n\n", name)
	fmt.Fprint(w, console.Wrap("Compiles kernels, the functions with a //gpu:kernel directive, and writes their launchers and code to zkernels*.go files "+
		"in their packages. Commit these files, so that programs can be built without the kernel compiler. "+
		"Packages are named as for the go command; a Go file names the package in its folder. The default is the package in the working directory.\n\n"+
		"A package is compiled only if its source, a package that it imports, the flags or the compiler have changed. "+
		"Results are cached in the user's cache directory.\n\n"+
		"Example:\n  "+name+" ./...\n\n"+
		"In a source file:\n  //go:generate go tool kernelgen .\n\nFlags:\n", width, 0))
	for _, o := range options {
		fmt.Fprintf(w, "  %s\n%s\n", o.usage, console.Wrap("      "+o.text, width, 0))
	}
}
