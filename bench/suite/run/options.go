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
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// all and none are the values of -peers that name no framework.
const (
	all  = "all"
	none = "none"
)

// options is the command line.
type options struct {
	report.Files
	from                    string
	peers                   []string
	unchecked, only, commit string
	quick, public           bool
}

// run measures or reads a report, and writes it to out.
func (o *options) run(ctx context.Context, out, progress io.Writer) error {
	return o.Present(out, func() (*report.Report, error) { return o.report(ctx, progress) })
}

// report measures, or reads a report.
func (o *options) report(ctx context.Context, progress io.Writer) (*report.Report, error) {
	if o.from != "" {
		return report.ReadFile(o.from)
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	unchecked, err := o.readUnchecked()
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

// readUnchecked reads the file of kernels without checks, if there is one.
func (o *options) readUnchecked() (map[string]*driver.Kernel, error) {
	if o.unchecked == "" {
		return nil, nil
	}
	f, err := os.Open(o.unchecked)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	kernels, err := harness.ReadUnchecked(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.unchecked, err)
	}
	return kernels, nil
}
