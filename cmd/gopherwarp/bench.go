package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/bench/suite"
)

type benchCommand struct {
	JSON      string `name:"json" placeholder:"FILE" help:"Write the report to a file, for -compare."`
	HTML      string `name:"html" placeholder:"FILE" help:"Write the report as a page with charts."`
	Compare   string `placeholder:"FILE" help:"Compare with an earlier report."`
	Peers     string `placeholder:"FILE" help:"Add what bench/peers measured."`
	Unchecked string `placeholder:"FILE" help:"Measure beside the kernels as they are without checks, which bench/suite/unchecked wrote."`
	Only      string `placeholder:"REGEXP" help:"The cases, or groups of them, to measure."`
	Quick     bool   `help:"Measure fewer rounds: numbers to look at, not to publish."`
}

// Help is the text behind the flags.
func (benchCommand) Help() string {
	return `Measures kernels on this machine's best device: each checks its results against plain Go, then runs in turns
with the same kernels in CUDA C++ where nvcc is installed. A ratio above 1 says that Go is faster than the faster
of them. On a CPU the sizes are small and the numbers only show that it works. The exit code is 1 where a case failed.

Example:
  gopherwarp bench -only 'stream|sum' -json new.json -compare old.json`
}

// Run is called by kong.
func (c *benchCommand) Run(ctx context.Context, t terminal) error {
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return err
	}
	earlier, errEarlier := readFile(c.Compare, suite.ReadJSON)
	peers, errPeers := readFile(c.Peers, suite.ReadJSON)
	unchecked, errUnchecked := readFile(c.Unchecked, suite.ReadUnchecked)
	if err := errors.Join(errEarlier, errPeers, errUnchecked); err != nil {
		return err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	report, err := suite.Run(ctx, dev, suite.Options{
		NVCC: suite.FindNVCC(), Only: only, Quick: c.Quick, Seed: rand.Uint64(),
		Unchecked: unchecked,
		Progress:  func(name string) { fmt.Fprintln(t.err, "measuring", name) },
	})
	if err := errors.Join(err, dev.Close()); err != nil {
		return err
	}
	if peers != nil {
		report.Join(peers)
	}
	return c.write(t, report, earlier)
}

// write shows the report, and fails where a case did.
func (c *benchCommand) write(t terminal, report, earlier *suite.Report) error {
	errs := []error{report.WriteTable(t.out)}
	if earlier != nil {
		errs = append(errs, report.WriteChanges(t.out, earlier))
	}
	errs = append(errs, toFile(c.JSON, report.WriteJSON), toFile(c.HTML, report.WritePage))
	if failed := report.Failed(); len(failed) > 0 {
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
