package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/verify/corpus"
)

// A report is a run and its results.
type report struct {
	options
	commit string
	sample corpus.Sample

	mu       sync.Mutex
	outcomes map[int]outcome // by number
	log      *os.File        // or nil
}

// try tries all kernels of the sample that the log has no results of.
func (r *report) try(ctx context.Context) error {
	if err := r.resume(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(r.sample.Kernels), func(k corpus.Kernel) bool { return r.outcomes[k.Number].Kind != "" })
	o := order{Root: r.root, Imports: corpus.Imports(r.sample.Kernels)}
	batches := make(chan []corpus.Kernel)
	failures := make(chan error, r.jobs)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range r.jobs {
		go func() {
			w := newWorker(self)
			defer w.Stop()
			failures <- r.batches(ctx, cancel, batches, func(list []corpus.Kernel) ([]outcome, error) {
				part := o
				part.Kernels = list
				return do(ctx, w, part)
			})
		}()
	}
	for list := range slices.Chunk(left, r.batch) {
		select {
		case batches <- list:
		case <-ctx.Done():
		}
	}
	close(batches)
	for range r.jobs {
		err = cmp.Or(err, <-failures)
	}
	return err
}

// batches has a worker do batches until there are no more. An error cancels those of the other workers.
func (r *report) batches(ctx context.Context, cancel func(), batches <-chan []corpus.Kernel, do func([]corpus.Kernel) ([]outcome, error)) error {
	for list := range batches {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		outcomes, err := do(list)
		if err == nil {
			err = r.add(outcomes)
		}
		if err != nil {
			cancel()
			return err
		}
	}
	return nil
}

// entry is a line of the log.
type entry struct {
	Commit string
	Seed   uint64
	outcome
}

// resume reads the results of the same commit and seed from the log, and opens it for those that follow.
func (r *report) resume() (err error) {
	r.outcomes = map[int]outcome{}
	if r.options.log == "" {
		return nil
	}
	text, err := os.ReadFile(r.options.log)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		var e entry
		if json.Unmarshal([]byte(line), &e) == nil && e.Commit == r.commit && e.Seed == r.seed { // else it was cut off, or is of another run
			r.outcomes[e.Number] = e.outcome
		}
	}
	r.log, err = os.OpenFile(r.options.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	return err
}

// add adds results, and prints those that are wrong.
func (r *report) add(outcomes []outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range outcomes {
		r.outcomes[o.Number] = o
		if o.Kind == wrong {
			fmt.Fprintf(os.Stderr, "%d %.500s\n", o.Number, o)
		}
		if r.log == nil {
			continue
		}
		text, err := json.Marshal(entry{r.commit, r.seed, o})
		if err != nil {
			return err
		}
		if _, err := r.log.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d of %d\n", len(r.outcomes), len(r.sample.Kernels))
	return nil
}

// count returns how many kernels have an outcome of a kind.
func (r *report) count(k kind) (n int) {
	for _, o := range r.outcomes {
		if o.Kind == k {
			n++
		}
	}
	return n
}

// String returns the report in Markdown.
func (r *report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "`go run ./internal/verify/corpus/runner -n %d -seed %d` at %s, %s, %s/%s.\n\n", r.n, r.seed, r.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(&out, "Of %d candidates, %d were drawn: %d need a declaration that cannot be copied, %d equal an earlier one, %d became kernels.\n\n",
		r.sample.Candidates, r.sample.Rejected+r.sample.Duplicates+len(r.sample.Kernels), r.sample.Rejected, r.sample.Duplicates, len(r.sample.Kernels))
	r.sources(&out)
	r.codes(&out)
	for _, k := range [...]kind{wrong, invalid, endless} {
		r.list(&out, k)
	}
	return out.String()
}

// origin returns the row of a kernel in the table of sources.
func origin(from string) string {
	switch {
	case strings.HasPrefix(from, "test/"):
		return "GOROOT/test"
	case strings.HasPrefix(from, "gonum.org/"):
		return "gonum"
	case strings.HasSuffix(from, "(imported)"):
		return "standard library, imported"
	}
	return "standard library, copied"
}

// sources writes how many kernels of each source have which outcome.
func (r *report) sources(out *strings.Builder) {
	kinds := [...]kind{right, refused, endless, invalid, wrong}
	counts := map[string]map[kind]int{"all": {}}
	faulted := 0
	for _, k := range r.sample.Kernels {
		o := r.outcomes[k.Number]
		from := origin(k.From)
		if counts[from] == nil {
			counts[from] = map[kind]int{}
		}
		counts[from][o.Kind]++
		counts["all"][o.Kind]++
		if o.Faulted {
			faulted++
		}
	}
	out.WriteString("| kernels from | right | refused | endless | invalid | wrong |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "| %s |", name)
		for _, k := range kinds {
			fmt.Fprintf(out, " %d |", counts[name][k])
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(out, "\nOf those that are right, %d fault in some thread.\n", faulted)
}

// codes writes how many kernels were refused for each code.
func (r *report) codes(out *strings.Builder) {
	first, any := map[string]int{}, map[string]int{}
	for _, o := range r.outcomes {
		for i, code := range o.Codes {
			if i == 0 {
				first[code]++
			}
			if slices.Index(o.Codes, code) == i {
				any[code]++
			}
		}
	}
	out.WriteString("\n| code | refused kernels | with it first | |\n|---|---|---|---|\n")
	for _, c := range diag.All() {
		if name := c.String(); any[name] > 0 {
			fmt.Fprintf(out, "| %s | %d | %d | %s |\n", name, any[name], first[name], c.Summary())
		}
	}
}

// list writes the kernels with outcomes of a kind, and how to try each again.
func (r *report) list(out *strings.Builder, which kind) {
	n := 0
	for _, k := range r.sample.Kernels {
		o := r.outcomes[k.Number]
		if o.Kind != which {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(out, "\n| %s | `runner -seed %d` | |\n|---|---|---|\n", which, r.seed)
		}
		detail, _, _ := strings.Cut(o.Detail, "\n")
		fmt.Fprintf(out, "| %s | `-only %d` | %.300s |\n", k.From, k.Number, strings.ReplaceAll(detail, "|", "\\|"))
	}
}
