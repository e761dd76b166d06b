package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

// A runner is one run over the mutations.
type runner struct {
	root, work string
	seed       uint64
	random     int // kernels
	maxKernels int // of them that are tried for a mutation
	jobs       int
	limit      time.Duration // for one mutation
	reached    string        // the file to which the oracle writes which mutations each kernel reaches; empty for none

	mu      sync.Mutex
	killers map[string]string // the part that killed a mutant, by the mutation's name
	count   map[string]int    // of mutations, by outcome
}

func main() {
	r := &runner{count: map[string]int{}}
	var part, only string
	flag.StringVar(&r.root, "root", ".", "of the repository")
	flag.StringVar(&r.work, "work", filepath.Join(os.TempDir(), "gopherwarp-mutation"), "folder for what runs share")
	flag.Uint64Var(&r.seed, "seed", 1, "of the random kernels")
	flag.IntVar(&r.random, "kernels", 1000, "how many random kernels")
	flag.IntVar(&r.maxKernels, "most", 1000, "how many of them to try for a mutation at most, of those whose compilation comes to it")
	flag.IntVar(&r.jobs, "j", 1, "how many mutations to try at once; more processors each takes by itself")
	flag.DurationVar(&r.limit, "limit", 10*time.Minute, "for one mutation, which counts as hanging when it takes longer")
	flag.StringVar(&part, "part", "1/1", "which part of the mutations: 2/4 is every fourth from the second")
	flag.StringVar(&only, "only", "", "regular expression of the names, or numbers with commas between them, of the mutations")
	flag.Parse()
	if err := r.run(context.Background(), part, only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run tries the mutations that are chosen.
func (r *runner) run(ctx context.Context, part, only string) (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.work, err = filepath.Abs(r.work); err != nil {
		return err
	}
	list, err := mutation.List()
	if err != nil {
		return err
	}
	chosen, err := choose(list, part, only)
	if err != nil {
		return err
	}
	start := time.Now()
	stale, err := r.prepare(ctx, list)
	if err != nil {
		return err
	}
	fmt.Printf("prepared in %.0f s\n", time.Since(start).Seconds())
	r.readKillers()
	start = time.Now()
	work := make(chan mutation.Mutation)
	var running sync.WaitGroup
	for range r.jobs {
		running.Go(func() {
			for m := range work {
				r.try(ctx, m, stale[m.Number])
			}
		})
	}
	for _, m := range chosen {
		work <- m
	}
	close(work)
	running.Wait()
	fmt.Printf("of %d mutations: %v, in %.0f s\n", len(chosen), r.count, time.Since(start).Seconds())
	return r.control(ctx)
}

// choose returns a part of the mutations.
func choose(list []mutation.Mutation, part, only string) (chosen []mutation.Mutation, err error) {
	var i, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		return nil, fmt.Errorf("runner: -part=%s: it has the form 2/4", part)
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for k, m := range list {
		if k%n == i-1 && (match.MatchString(m.Name) || strings.Contains(","+only+",", fmt.Sprintf(",%d,", m.Number))) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// try prints what becomes of a mutation.
func (r *runner) try(ctx context.Context, m mutation.Mutation, stale error) {
	start := time.Now()
	how := ""
	if stale != nil {
		how = "stale"
	} else {
		how = r.verdict(ctx, m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[outcome(how)]++
	if by, ok := strings.CutPrefix(how, "killed by "); ok {
		by, _, _ = strings.Cut(by, ":")
		r.killers[m.Name] = by
		r.writeKillers()
	}
	fmt.Printf("%3d %5.1f s  %-70s  %s: %s\n", m.Number, time.Since(start).Seconds(), how, strings.TrimPrefix(m.File, "internal/"), m.Name)
}

// outcome returns the category of a verdict.
func outcome(how string) string {
	switch {
	case strings.HasPrefix(how, "killed by a crash"):
		return "crash"
	case strings.HasPrefix(how, "killed") && strings.Contains(how, ": building: "):
		if strings.Contains(how, "internal error") {
			return "killed by the compiler's own checks"
		}
		return "not built"
	case strings.HasPrefix(how, "killed by suite/"):
		return "killed by the suite"
	case strings.HasPrefix(how, "killed by random"):
		return "killed by random kernels"
	}
	what, _, _ := strings.Cut(how, " ")
	return strings.TrimSuffix(what, ":")
}

// control runs the oracle without a mutation after all others, to show that mutants were not killed
// by a full folder or a missing module.
func (r *runner) control(ctx context.Context) error {
	out, err := r.runOracle(ctx, 0, fmt.Sprintf("-most=%d", r.random))
	out = strings.TrimSpace(out)
	if err != nil || !strings.HasPrefix(out, "survived: ") || !strings.HasSuffix(out, " 0 have other code") {
		return fmt.Errorf("runner: the compiler without a mutation does not survive: %w: %s", err, out)
	}
	fmt.Println("without a mutation", out)
	return nil
}

// verdict runs the oracle for m and returns the outcome.
func (r *runner) verdict(ctx context.Context, m mutation.Mutation) string {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	r.mu.Lock()
	first := r.killers[m.Name]
	r.mu.Unlock()
	out, err := r.runOracle(ctx, m.Number, "-first="+first, fmt.Sprintf("-most=%d", r.maxKernels))
	switch line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); {
	case ctx.Err() != nil:
		return "hangs: it took longer than " + r.limit.String()
	case strings.HasPrefix(line, "error:"):
		return line
	case err != nil:
		return fmt.Sprintf("killed by a crash: %v: %.80s", err, line)
	default:
		return line
	}
}

// runOracle runs the oracle with the mutation of the given number; 0 is none.
func (r *runner) runOracle(ctx context.Context, number int, args ...string) (string, error) {
	env := append(os.Environ(), fmt.Sprintf("%s=%d", environment, number), environmentReached+"="+r.reached, fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/r.jobs)))
	return r.command(ctx, env, r.oracleFile(), append(args, fmt.Sprintf("-mutation=%d", number), "-root="+r.root, "-work="+r.work)...)
}

func (r *runner) readKillers() {
	r.killers = map[string]string{}
	text, _ := os.ReadFile(filepath.Join(r.work, "killers")) // which a first run has not
	for line := range strings.Lines(string(text)) {
		if by, name, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			r.killers[name] = by
		}
	}
}

// writeKillers stores what killed mutants. A failure to do so costs only time.
func (r *runner) writeKillers() {
	var text strings.Builder
	for name, by := range r.killers {
		fmt.Fprintf(&text, "%s: %s\n", by, name)
	}
	name := filepath.Join(r.work, "killers")
	err := cmp.Or(os.WriteFile(name+"~", []byte(text.String()), 0o666), os.Rename(name+"~", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err)
	}
}
