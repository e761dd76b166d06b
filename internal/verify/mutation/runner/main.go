package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

// options are what the flags set.
type options struct {
	root, report string
	n, kernels   int
	seed         uint64
	jobs         int
	limit        time.Duration
	only, keys   string
	unchecked    bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "folder of the repository")
	flag.StringVar(&o.report, "report", "", "file for the report; default standard output")
	flag.IntVar(&o.n, "n", 80, "mutants in the sample")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the random kernels")
	flag.IntVar(&o.kernels, "kernels", 1000, "random kernels for each mutant that survives the suite")
	flag.IntVar(&o.jobs, "j", 1, "mutants at a time")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "time limit of one step; a mutant that exceeds it is killed")
	flag.StringVar(&o.only, "only", "", "run only these mutants of the sample, for example 3,17-20")
	flag.StringVar(&o.keys, "keys", "", "file with keys, one a line; run the mutations that have them instead of a sample")
	flag.BoolVar(&o.unchecked, "unchecked", false, "do not run the suite without a mutation first")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

// run draws the sample, tries all chosen mutants and writes the report.
func run(ctx context.Context, o options) (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	source, err := mutation.Load(o.root)
	if err != nil {
		return err
	}
	reasons, err := mutation.Equivalent()
	if err != nil {
		return err
	}
	sample, rejected, err := draw(source, o)
	if err != nil {
		return err
	}
	chosen, err := choose(o.only, len(sample))
	if err != nil {
		return err
	}
	t, err := newTester(ctx, o)
	if err != nil {
		return err
	}
	defer t.close()
	r := &report{options: o, steps: len(t.steps("")) + 1, commit: t.commit(ctx), enumerated: len(source.Mutations), rejected: len(rejected)}
	for i, m := range sample {
		if chosen[i+1] {
			r.trials = append(r.trials, newTrial(i+1, m, reasons[m.Key()]))
		}
	}
	if !o.unchecked {
		if err := t.control(ctx); err != nil {
			return err
		}
	}
	try(ctx, t, r)
	if o.report == "" {
		fmt.Print(r)
		return ctx.Err()
	}
	return os.WriteFile(o.report, []byte(r.String()), 0o666)
}

// draw returns the mutations that the options ask for, and those drawn that do not compile.
func draw(source *mutation.Source, o options) (sample, rejected []*mutation.Mutation, err error) {
	if o.keys == "" {
		sample, rejected = source.Sample(o.n, o.seed)
		return sample, rejected, nil
	}
	text, err := os.ReadFile(o.keys)
	if err != nil {
		return nil, nil, err
	}
	sample, err = source.WithKeys(strings.Split(strings.TrimSpace(string(text)), "\n"))
	return sample, nil, err
}

// try runs the trials of a report, step by step: each step tries all mutants that have survived the steps
// before, so that a run which is interrupted has judged most mutants.
func try(ctx context.Context, t *tester, r *report) {
	for step := range len(t.steps("")) + 1 {
		work := make(chan *trial)
		var running sync.WaitGroup
		for range t.jobs {
			running.Go(func() {
				for x := range work {
					tryStep(ctx, t, x, step)
				}
			})
		}
		for i := range r.trials {
			if x := &r.trials[i]; ctx.Err() == nil && x.verdict.outcome == survived {
				work <- x
			}
		}
		close(work)
		running.Wait()
	}
}

// tryStep runs a step of a trial and prints the verdict if it is final.
func tryStep(ctx context.Context, t *tester, x *trial, step int) {
	start := time.Now()
	v := t.step(ctx, x, step)
	if ctx.Err() != nil {
		return // a test that was interrupted is no verdict
	}
	x.verdict, x.steps = v, step+1
	x.seconds += time.Since(start).Seconds()
	if x.verdict.outcome != survived {
		fmt.Fprintf(os.Stderr, "%d: %s, step %d, %.0f s: %s:%d: %s\n", x.number, x.verdict, step+1, x.seconds, x.mutation.File, x.mutation.Line, x.mutation.Key())
	}
}

// choose returns the numbers that a text such as "3,17-20" contains, or 1 to n for "".
func choose(text string, n int) (map[int]bool, error) {
	chosen := map[int]bool{}
	if text == "" {
		text = fmt.Sprintf("1-%d", n)
	}
	for item := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from < 1 || to > n || from > to {
			return nil, fmt.Errorf("-only: %q is not a number or range from 1 to %d", item, n)
		}
		for i := from; i <= to; i++ {
			chosen[i] = true
		}
	}
	return chosen, nil
}
