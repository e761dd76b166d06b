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
	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/peers"
	"github.com/gopherwarp/gopherwarp/bench/public"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/bench/suite"
	"github.com/gopherwarp/gopherwarp/device"
)

// all and none are the values of -peers that name no framework.
const (
	all  = "all"
	none = "none"
)

// options is the command line.
type options struct {
	json, html, from, compare string
	add, peers                []string
	unchecked, only, commit   string
	quick, public             bool
}

// run measures or reads a report, and writes it to out.
func (o *options) run(ctx context.Context, out, progress io.Writer) error {
	earlier, err := readFile(o.compare, report.ReadJSON)
	if err != nil {
		return err
	}
	r, err := o.report(ctx, progress)
	if err != nil {
		return err
	}
	for _, name := range o.add {
		more, err := readFile(name, report.ReadJSON)
		if err != nil {
			return err
		}
		r.Join(more)
	}
	return o.write(out, r, earlier)
}

// report measures, or reads a report.
func (o *options) report(ctx context.Context, progress io.Writer) (*report.Report, error) {
	if o.from != "" {
		return readFile(o.from, report.ReadJSON)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	unchecked, err := readFile(o.unchecked, harness.ReadUnchecked)
	if err != nil {
		return nil, err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return nil, err
	}
	s := harness.Options{
		NVCC: harness.FindNVCC(), Only: only, Quick: o.quick, Commit: o.commit, Seed: rand.Uint64(),
		Unchecked: unchecked,
		Progress:  func(name string) { fmt.Fprintln(progress, "measuring", name) },
	}
	if o.public {
		r, err := public.Run(ctx, dev, s)
		return r, errors.Join(err, dev.Close())
	}
	names := o.frameworks(dev.Info(), s)
	if len(names) > 0 {
		fmt.Fprintln(progress, "starting", strings.Join(names, ", "))
	}
	s.Peers = peers.Start(ctx, peers.Options{Names: names, NVCC: s.NVCC})
	r, err := suite.Run(ctx, dev, s)
	return r, errors.Join(err, s.Peers.Close(), dev.Close())
}

// frameworks returns the names of the frameworks that take part: none without a GPU, and CUB, which takes half a
// minute to compile, only if it knows a case.
func (o *options) frameworks(i device.Info, s harness.Options) []string {
	switch {
	case i.Kind != "cuda" || slices.Equal(o.peers, []string{none}):
		return []string{}
	case !slices.Equal(o.peers, []string{all}):
		return o.peers
	}
	return slices.DeleteFunc(peers.Names(), func(name string) bool { return name == peers.CUB && !s.Measures(suite.Suite().Cases, suite.Prim) })
}

// write shows the report, and fails if a case did.
func (o *options) write(out io.Writer, r, earlier *report.Report) error {
	errs := []error{r.WriteTable(out)}
	if earlier != nil {
		errs = append(errs, r.WriteChanges(out, earlier))
	}
	errs = append(errs, toFile(o.json, r.WriteJSON), toFile(o.html, r.WritePage))
	failed := suite.Failed
	if r.Public {
		failed = public.Suite().Failed
	}
	if failed := failed(r); len(failed) > 0 {
		errs = append(errs, fmt.Errorf("bench: failed: %s", strings.Join(failed, ", ")))
	}
	return errors.Join(errs...)
}

// readFile reads the named file with read. Without a name it returns nothing.
func readFile[T any](name string, read func(io.Reader) (T, error)) (T, error) {
	var nothing T
	if name == "" {
		return nothing, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nothing, err
	}
	defer f.Close()
	got, err := read(f)
	if err != nil {
		return nothing, fmt.Errorf("%s: %w", name, err)
	}
	return got, nil
}

// toFile writes the named file with write, if there is a name.
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
