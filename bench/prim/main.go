// Command prim measures package prim beside NVIDIA's CUB, on a GPU: random inputs, results compared
// with plain Go, runs of both in turns, medians of the device's time.
//
//	go run ./bench/prim            # all cases; needs nvcc for CUB's part
//	go run ./bench/prim scan sort  # those whose names hold one of these words
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/bench/suite"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	samples := flag.Int("samples", 15, "runs of each, of which the median counts")
	n := flag.Int("n", 0, "number of elements; 0 is that of the case")
	program := flag.String("cub", "", "CUB's part, compiled; built by nvcc where it is empty")
	flag.Parse()
	err := run(context.Background(), os.Stdout, options{*samples, *n, *program, flag.Args()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "prim:", err)
		os.Exit(1)
	}
}

type options struct {
	samples, n int
	program    string
	words      []string
}

// wants reports whether a case was asked for.
func (o options) wants(name string) bool {
	return len(o.words) == 0 || slices.ContainsFunc(o.words, func(w string) bool { return strings.Contains(name, w) })
}

func run(ctx context.Context, w io.Writer, o options) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	cub, errCUB := start(ctx, o.program)
	if errCUB != nil {
		fmt.Fprintln(w, "without CUB:", errCUB)
	}
	defer cub.close()
	fmt.Fprintf(w, "%v\n%-20s %10s %9s %8s %9s %8s %6s\n", dev.Info(), "case", "elements", "ours ms", "G/s", "CUB ms", "G/s", "ratio")
	for _, c := range cases() {
		if o.wants(c.name) {
			err = errors.Join(err, (&arena{s, cub, o.samples, w}).compete(ctx, c, cmp.Or(o.n, c.n)))
		}
	}
	return err
}

// arena is where ours and CUB's run in turns.
type arena struct {
	s       *device.Stream
	cub     *peer
	samples int
	w       io.Writer
}

func (a *arena) compete(ctx context.Context, c benchmark, n int) error {
	h := &hall{s: a.s}
	defer h.close()
	work, check := c.make(h, n)
	if h.err != nil {
		return fmt.Errorf("%s: %w", c.name, h.err)
	}
	if _, err := a.time(ctx, work); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err := check(ctx); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	var ours, theirs []float64
	for range a.samples {
		ms, err := a.time(ctx, work)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		ours = append(ours, ms)
		if a.cub != nil && c.cub {
			if ms, err = a.cub.time(c.name, n); err != nil {
				return err
			}
			theirs = append(theirs, ms)
		}
	}
	rate := func(ms float64) float64 { return float64(n) / ms / 1e6 }
	fmt.Fprintf(a.w, "%-20s %10d %9.4f %8.2f", c.name, n, median(ours), rate(median(ours)))
	if theirs != nil {
		fmt.Fprintf(a.w, " %9.4f %8.2f %6.3f", median(theirs), rate(median(theirs)), median(theirs)/median(ours))
	}
	fmt.Fprintln(a.w)
	return nil
}

// time runs a piece of work once behind its preparation and returns the milliseconds of the device.
func (a *arena) time(ctx context.Context, w work) (float64, error) {
	if err := w.prepare(); err != nil {
		return 0, err
	}
	begin, err := a.s.Record()
	if err != nil {
		return 0, err
	}
	defer begin.Close()
	err = w.run()
	end, errEnd := a.s.Record()
	if err = errors.Join(err, errEnd, a.s.Synchronize(ctx)); err != nil {
		return 0, err
	}
	defer end.Close()
	d, err := end.Since(begin)
	return float64(d) / float64(time.Millisecond), err
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// peer is CUB's part, a program that runs a case for each line that it is given.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
}

// start starts a program, which it builds where it has no name.
func start(ctx context.Context, program string) (*peer, error) {
	if program == "" {
		dir, err := os.MkdirTemp("", "cub")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // the program that runs stays
		if program, err = compile(ctx, dir); err != nil {
			return nil, err
		}
	}
	p := &peer{cmd: exec.CommandContext(ctx, program)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, out
	return p, p.cmd.Start()
}

// compile has nvcc compile CUB's part in a folder, which takes half a minute, for the GPU that is there.
func compile(ctx context.Context, dir string) (program string, err error) {
	nvcc := suite.FindNVCC()
	if nvcc == "" {
		return "", errors.New("there is no nvcc")
	}
	source, program := filepath.Join(dir, "cub.cu"), filepath.Join(dir, "cub")
	if err := os.WriteFile(source, []byte(cubSource), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, nvcc, "-O3", "-arch=native", "-o", program, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("nvcc: %w\n%s", err, out)
	}
	return program, nil
}

//go:embed cub.cu
var cubSource string

// time returns the milliseconds of one run.
func (p *peer) time(name string, n int) (ms float64, err error) {
	if _, err := fmt.Fprintf(p.in, "%s %d\n", name, n); err != nil {
		return 0, err
	}
	_, err = fmt.Fscanln(p.out, &ms)
	if err == nil && ms < 0 {
		err = errors.New("it has no such case")
	}
	if err != nil {
		return 0, fmt.Errorf("CUB's %s of %d: %w", name, n, err)
	}
	return ms, nil
}

func (p *peer) close() {
	if p != nil {
		p.in.Close()
		p.cmd.Wait()
	}
}
