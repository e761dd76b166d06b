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

	"github.com/gopherwarp/gopherwarp/internal/mutation"
)

// hunt is a run.
type hunt struct {
	root, work string
	seed       uint64
	random     int // kernels
	most       int // of them that are tried for a mutation
	jobs       int
	limit      time.Duration // for one mutation
	reached    string        // the file that a judge notes in what it reaches, if it is to

	mu      sync.Mutex
	killers map[string]string // the part that caught a mutation, by name
	count   map[string]int    // of mutations, by their ends
}

func main() {
	h := &hunt{count: map[string]int{}}
	var part, only string
	flag.StringVar(&h.root, "root", ".", "of the repository")
	flag.StringVar(&h.work, "work", filepath.Join(os.TempDir(), "gopherwarp-mutation"), "folder for what runs share")
	flag.Uint64Var(&h.seed, "seed", 1, "of the random kernels")
	flag.IntVar(&h.random, "kernels", 1000, "how many random kernels")
	flag.IntVar(&h.most, "most", 1000, "how many of them to try for a mutation at most, of those whose compilation comes to it")
	flag.IntVar(&h.jobs, "j", 1, "how many mutations to try at once; more processors each takes by itself")
	flag.DurationVar(&h.limit, "limit", 10*time.Minute, "for one mutation, which is caught when it takes longer")
	flag.StringVar(&part, "part", "1/1", "which part of the mutations: 2/4 is every fourth from the second")
	flag.StringVar(&only, "only", "", "regular expression of the names, or numbers with commas between them, of the mutations")
	flag.Parse()
	if err := h.run(context.Background(), part, only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run tries the mutations that are chosen.
func (h *hunt) run(ctx context.Context, part, only string) (err error) {
	if h.root, err = filepath.Abs(h.root); err != nil {
		return err
	}
	if h.work, err = filepath.Abs(h.work); err != nil {
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
	stale, err := h.prepare(ctx, list)
	if err != nil {
		return err
	}
	fmt.Printf("prepared in %.0f s\n", time.Since(start).Seconds())
	h.readKillers()
	start = time.Now()
	work := make(chan mutation.Mutation)
	var running sync.WaitGroup
	for range h.jobs {
		running.Go(func() {
			for m := range work {
				h.try(ctx, m, stale[m.Number])
			}
		})
	}
	for _, m := range chosen {
		work <- m
	}
	close(work)
	running.Wait()
	fmt.Printf("of %d mutations: %v, in %.0f s\n", len(chosen), h.count, time.Since(start).Seconds())
	return h.control(ctx)
}

// choose returns a part of the mutations.
func choose(list []mutation.Mutation, part, only string) (chosen []mutation.Mutation, err error) {
	var i, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		return nil, fmt.Errorf("hunt: -part=%s: it has the form 2/4", part)
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
func (h *hunt) try(ctx context.Context, m mutation.Mutation, stale error) {
	start := time.Now()
	how := ""
	if stale != nil {
		how = "stale"
	} else {
		how = h.verdict(ctx, m)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count[end(how)]++
	if by, ok := strings.CutPrefix(how, "caught by "); ok {
		by, _, _ = strings.Cut(by, ":")
		h.killers[m.Name] = by
		h.writeKillers()
	}
	fmt.Printf("%3d %5.1f s  %-70s  %s: %s\n", m.Number, time.Since(start).Seconds(), how, strings.TrimPrefix(m.File, "internal/"), m.Name)
}

// end says in few words what became of a mutation.
func end(how string) string {
	switch {
	case strings.HasPrefix(how, "caught by a crash"):
		return "crash"
	case strings.HasPrefix(how, "caught") && strings.Contains(how, ": building: "):
		if strings.Contains(how, "internal error") {
			return "caught by the compiler's own checks"
		}
		return "not built"
	case strings.HasPrefix(how, "caught by suite/"):
		return "caught by the suite"
	case strings.HasPrefix(how, "caught by random"):
		return "caught by random kernels"
	}
	what, _, _ := strings.Cut(how, " ")
	return strings.TrimSuffix(what, ":")
}

// control has the compiler without a mutation judged like one with, behind all others: what is caught is not
// caught because a folder is full, or a module missing.
func (h *hunt) control(ctx context.Context) error {
	out, err := h.judge(ctx, 0, fmt.Sprintf("-most=%d", h.random))
	out = strings.TrimSpace(out)
	if err != nil || !strings.HasPrefix(out, "lives: ") || !strings.HasSuffix(out, " 0 have other code") {
		return fmt.Errorf("hunt: the compiler without a mutation does not live: %w: %s", err, out)
	}
	fmt.Println("without a mutation", out)
	return nil
}

// verdict runs the judge.
func (h *hunt) verdict(ctx context.Context, m mutation.Mutation) string {
	ctx, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	h.mu.Lock()
	first := h.killers[m.Name]
	h.mu.Unlock()
	out, err := h.judge(ctx, m.Number, "-first="+first, fmt.Sprintf("-most=%d", h.most))
	switch line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); {
	case ctx.Err() != nil:
		return "hangs: it took longer than " + h.limit.String()
	case strings.HasPrefix(line, "error:"):
		return line
	case err != nil:
		return fmt.Sprintf("caught by a crash: %v: %.80s", err, line)
	default:
		return line
	}
}

// judge runs the judge with the mutation of a number, or with none.
func (h *hunt) judge(ctx context.Context, number int, args ...string) (string, error) {
	env := append(os.Environ(), fmt.Sprintf("%s=%d", environment, number), environmentReached+"="+h.reached, fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/h.jobs)))
	return h.command(ctx, env, h.judgeFile(), append(args, fmt.Sprintf("-mutation=%d", number), "-root="+h.root, "-work="+h.work)...)
}

func (h *hunt) readKillers() {
	h.killers = map[string]string{}
	text, _ := os.ReadFile(filepath.Join(h.work, "killers")) // which a first run has not
	for line := range strings.Lines(string(text)) {
		if by, name, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			h.killers[name] = by
		}
	}
}

// writeKillers keeps what caught mutations. That it cannot be kept costs time only.
func (h *hunt) writeKillers() {
	var text strings.Builder
	for name, by := range h.killers {
		fmt.Fprintf(&text, "%s: %s\n", by, name)
	}
	name := filepath.Join(h.work, "killers")
	err := cmp.Or(os.WriteFile(name+"~", []byte(text.String()), 0o666), os.Rename(name+"~", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err)
	}
}
