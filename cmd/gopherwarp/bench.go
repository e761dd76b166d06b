package main

import (
	"context"
	"regexp"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

type benchCommand struct {
	JSON      string   `name:"json" placeholder:"FILE" help:"Write the report to a file, for -compare and -from."`
	HTML      string   `name:"html" placeholder:"FILE" help:"Write the report to an HTML file with charts."`
	From      string   `placeholder:"FILE" help:"Print the report in a file instead of measuring."`
	Compare   string   `placeholder:"FILE" help:"Compare the results with an earlier report."`
	Add       []string `placeholder:"FILE" help:"Add measurements of bench/launch, bench/start or bench/compile to the report. May be repeated."`
	Peers     []string `default:"all" placeholder:"NAME" help:"The frameworks to compare with on a GPU: torch, triton, cupy, numba or CUB, separated by commas; all (those that are installed); or none. Default: all."`
	Unchecked string   `placeholder:"FILE" help:"Also measure kernels without checks, from a file that bench/suite/unchecked wrote."`
	Only      string   `placeholder:"REGEXP" help:"Measure only the cases and groups whose names match."`
	Commit    string   `placeholder:"HASH" help:"The commit that the report names, for a program that was built without this information."`
	Output    string   `name:"output" short:"o" placeholder:"FILE" help:"Write the benchmark program, which accepts the other flags, to a file instead of running it, for a machine without Go."`
	Public    bool     `help:"Measure the 30 programs of bench/public, from public benchmark suites, and compare them only with CUDA C++."`
	Quick     bool     `help:"Measure fewer iterations, for a quick look. Do not publish these numbers."`
}

// Help is the text before the flags.
func (benchCommand) Help() string {
	return `Compiles the benchmark suite of Gopherwarp and measures its kernels on this machine's best device. It first compares the
results of each kernel with plain Go. It then runs the kernel alternately with the same kernel in CUDA C++, if nvcc is
installed, and with equivalent functions of PyTorch, Triton, CuPy, Numba, CUB and cuBLAS, if these are installed. A
ratio above 1 means that Go is faster. The bars at the end are the project's own requirements. On a CPU, the sizes are
small, and the numbers show only that the suite works. The exit code is 1 if a case failed.

Example:
  gopherwarp bench -only 'stream|sum' -peers torch,triton -json new.json -compare old.json`
}

// Run runs the command.
func (c *benchCommand) Run(ctx context.Context, t terminal) error {
	if _, err := regexp.Compile(c.Only); err != nil {
		return exit{exitUsage, err}
	}
	if c.From != "" && c.Output == "" {
		files := report.Files{Compare: c.Compare, Add: c.Add, JSON: c.JSON, HTML: c.HTML}
		return files.Present(t.out, func() (*report.Report, error) { return report.ReadFile(c.From) })
	}
	return own{command: "gopherwarp bench", pkg: "bench/suite/run", output: c.Output, args: c.args()}.run(ctx, t)
}

// args returns the command line for the program.
func (c *benchCommand) args() []string {
	args := []string{"-peers=" + strings.Join(c.Peers, ",")}
	for _, f := range []struct{ name, value string }{
		{"json", c.JSON}, {"html", c.HTML}, {"from", c.From}, {"compare", c.Compare},
		{"unchecked", c.Unchecked}, {"only", c.Only}, {"commit", c.Commit},
	} {
		if f.value != "" {
			args = append(args, "-"+f.name+"="+f.value)
		}
	}
	for _, name := range c.Add {
		args = append(args, "-add="+name)
	}
	if c.Public {
		args = append(args, "-public")
	}
	if c.Quick {
		args = append(args, "-quick")
	}
	return args
}
