package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/bench/peers"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/bench/suite"
	"github.com/gopherwarp/gopherwarp/device"
)

type benchCommand struct {
	JSON      string   `name:"json" placeholder:"FILE" help:"Write the report to a file, for -compare and -from."`
	HTML      string   `name:"html" placeholder:"FILE" help:"Write the report as a page with charts."`
	From      string   `placeholder:"FILE" help:"Show an earlier report, measure nothing."`
	Compare   string   `placeholder:"FILE" help:"Compare with an earlier report."`
	Add       []string `placeholder:"FILE" help:"Add what bench/launch, bench/start and bench/compile measured."`
	Peers     []string `default:"all" placeholder:"NAME" help:"Frameworks to run beside on a GPU: torch, triton, cupy, numba, CUB; all that are there, or none."`
	Unchecked string   `placeholder:"FILE" help:"Measure beside the kernels as they are without checks, which bench/suite/unchecked wrote."`
	Only      string   `placeholder:"REGEXP" help:"The cases, or groups of them, to measure."`
	Commit    string   `placeholder:"HASH" help:"What this program was built from, where it does not know."`
	Quick     bool     `help:"Measure fewer rounds: numbers to look at, not to publish."`
}

// Help is the text behind the flags.
func (benchCommand) Help() string {
	return `Measures kernels on this machine's best device: each checks its results against plain Go, then runs in turns
with the same kernels in CUDA C++ where nvcc is installed, and with what PyTorch, Triton, CuPy, Numba, CUB and cuBLAS
have for the same work where they are. A ratio above 1 says that Go is faster. Bars, at the end, are what the project
demands of itself. On a CPU the sizes are small and the numbers only show that it works. The exit code is 1 where a case failed.

Example:
  gopherwarp bench -only 'stream|sum' -peers torch,triton -json new.json -compare old.json`
}

// Run is called by kong.
func (c *benchCommand) Run(ctx context.Context, t terminal) error {
	earlier, err := readFile(c.Compare, report.ReadJSON)
	if err != nil {
		return err
	}
	r, err := c.report(ctx, t)
	if err != nil {
		return err
	}
	for _, name := range c.Add {
		more, err := readFile(name, report.ReadJSON)
		if err != nil {
			return err
		}
		r.Join(more)
	}
	return c.write(t, r, earlier)
}

// report measures, or reads a report.
func (c *benchCommand) report(ctx context.Context, t terminal) (*report.Report, error) {
	if c.From != "" {
		return readFile(c.From, report.ReadJSON)
	}
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return nil, err
	}
	unchecked, err := readFile(c.Unchecked, suite.ReadUnchecked)
	if err != nil {
		return nil, err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return nil, err
	}
	o := suite.Options{
		NVCC: suite.FindNVCC(), Only: only, Quick: c.Quick, Commit: c.Commit, Seed: rand.Uint64(),
		Unchecked: unchecked,
		Progress:  func(name string) { fmt.Fprintln(t.err, "measuring", name) },
	}
	names := c.peers(dev.Info(), o)
	if len(names) > 0 {
		fmt.Fprintln(t.err, "starting", strings.Join(names, ", "))
	}
	o.Peers = peers.Start(ctx, peers.Options{Names: names, NVCC: o.NVCC})
	r, err := suite.Run(ctx, dev, o)
	return r, errors.Join(err, o.Peers.Close(), dev.Close())
}

// peers returns the names of the frameworks that take part: none where there is no GPU, and CUB, which takes half a
// minute to compile, only where it knows a case.
func (c *benchCommand) peers(i device.Info, o suite.Options) []string {
	switch {
	case i.Kind != "cuda" || slices.Equal(c.Peers, []string{"none"}):
		return []string{}
	case !slices.Equal(c.Peers, []string{"all"}):
		return c.Peers
	}
	return slices.DeleteFunc(peers.Names(), func(name string) bool { return name == peers.CUB && !o.Measures(suite.Prim) })
}

// write shows the report, and fails where a case did.
func (c *benchCommand) write(t terminal, r, earlier *report.Report) error {
	errs := []error{r.WriteTable(t.out)}
	if earlier != nil {
		errs = append(errs, r.WriteChanges(t.out, earlier))
	}
	errs = append(errs, toFile(c.JSON, r.WriteJSON), toFile(c.HTML, r.WritePage))
	if failed := suite.Failed(r); len(failed) > 0 {
		errs = append(errs, fmt.Errorf("bench: failed: %s", strings.Join(failed, ", ")))
	}
	return errors.Join(errs...)
}

// readFile has the file of a name read, or returns nothing where there is no name.
func readFile[T any](name string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	if name == "" {
		return none, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	got, err := read(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return got, nil
}

// toFile has a file of a name written, where there is one.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
