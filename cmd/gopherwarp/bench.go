package main

import (
	"context"
	"regexp"
	"strings"
)

type benchCommand struct {
	JSON      string   `name:"json" placeholder:"FILE" help:"Write the report to a file, for -compare and -from."`
	HTML      string   `name:"html" placeholder:"FILE" help:"Write the report as a page with charts."`
	From      string   `placeholder:"FILE" help:"Show the earlier report in a file and measure nothing."`
	Compare   string   `placeholder:"FILE" help:"Compare with an earlier report."`
	Add       []string `placeholder:"FILE" help:"Add the measurements of bench/launch, bench/start or bench/compile. May be repeated."`
	Peers     []string `default:"all" placeholder:"NAME" help:"Frameworks to compare with on a GPU: torch, triton, cupy, numba, CUB; all that are installed, or none."`
	Unchecked string   `placeholder:"FILE" help:"Also measure the kernels without checks that bench/suite/unchecked wrote to a file."`
	Only      string   `placeholder:"REGEXP" help:"Measure the cases and groups whose names match."`
	Commit    string   `placeholder:"HASH" help:"Report this commit if the program does not know which it was built from."`
	Output    string   `name:"output" short:"o" placeholder:"FILE" help:"Write the program that measures to a file and run nothing: for a machine without Go. It takes the other flags."`
	Quick     bool     `help:"Measure fewer iterations: numbers to look at, not to publish."`
}

// Help is the text before the flags.
func (benchCommand) Help() string {
	return `Compiles the project's benchmark suite and measures its kernels on this machine's best device. Each checks its results
against plain Go and then runs in turns with the same kernel in CUDA C++, if nvcc is installed, and with the functions of
PyTorch, Triton, CuPy, Numba, CUB and cuBLAS for the same work, if they are. A ratio above 1 says that Go is faster. The
bars at the end are the project's own requirements. On a CPU the sizes are small and the numbers only show that it works. The
exit code is 1 if a case failed.

Example:
  gopherwarp bench -only 'stream|sum' -peers torch,triton -json new.json -compare old.json`
}

// Run is called by kong.
func (c *benchCommand) Run(ctx context.Context, t terminal) error {
	if _, err := regexp.Compile(c.Only); err != nil {
		return exit{exitUsage, err}
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
	if c.Quick {
		args = append(args, "-quick")
	}
	return args
}
