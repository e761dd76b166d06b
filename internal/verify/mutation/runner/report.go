package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

// An outcome is the category of a verdict.
type outcome string

// The outcomes of a trial.
const (
	bySuite    outcome = "killed by the suite"
	byKernels  outcome = "killed by random kernels"
	survived   outcome = "survived"
	equivalent outcome = "equivalent"
	failed     outcome = "failed"     // for reasons other than the mutation
	unfinished outcome = "unfinished" // a survivor of some steps when the run was interrupted
)

// A verdict is an outcome with its detail: the package and test that failed, or the kernel that differed.
type verdict struct {
	outcome outcome
	detail  string
}

func (v verdict) String() string {
	if v.detail == "" {
		return string(v.outcome)
	}
	return string(v.outcome) + ": " + v.detail
}

// A trial is a mutant of the sample and what became of it.
type trial struct {
	number     int // in the sample, from 1
	mutation   *mutation.Mutation
	equivalent string // why the mutant is equivalent, or ""
	verdict    verdict
	steps      int // that were run
	seconds    float64
}

// newTrial returns a trial that has not been run, of a mutant which has survived so far. The reason is "" unless
// the mutant is equivalent.
func newTrial(number int, m *mutation.Mutation, reason string) trial {
	t := trial{number: number, mutation: m, equivalent: reason, verdict: verdict{outcome: survived}}
	if reason != "" {
		t.verdict.outcome = equivalent
	}
	return t
}

// A report is the result of a run.
type report struct {
	options
	commit               string
	steps                int // of a mutant that survives
	enumerated, rejected int // mutations: all, and those drawn that do not compile
	trials               []trial
}

// outcome returns the final outcome of a trial.
func (r *report) outcome(t trial) outcome {
	if t.verdict.outcome == survived && t.steps < r.steps {
		return unfinished
	}
	return t.verdict.outcome
}

func processors() int { return runtime.NumCPU() }

// String returns the report in Markdown.
func (r *report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "`go run ./internal/verify/mutation/runner %s -seed %d -kernels %d%s` at %s, %s, %d processors.\n\n",
		r.source(), r.seed, r.kernels, only(r.options.only), r.commit, runtime.Version(), processors())
	count := map[outcome]int{}
	for _, t := range r.trials {
		count[r.outcome(t)]++
	}
	tried := count[bySuite] + count[byKernels] + count[survived]
	fmt.Fprintf(&out, "| mutations | |\n|---|---|\n| enumerated | %d |\n| drawn that do not compile | %d |\n| equivalent, not run | %d |\n| run | %d |\n",
		r.enumerated, r.rejected, count[equivalent], tried)
	fmt.Fprintf(&out, "| killed by `go test ./...` | %s |\n| killed with %d random kernels, too | %s |\n| survived | %d |\n",
		share(count[bySuite], tried), r.kernels, share(count[bySuite]+count[byKernels], tried), count[survived])
	if n := count[failed] + count[unfinished]; n > 0 {
		fmt.Fprintf(&out, "| not judged | %d |\n", n)
	}
	r.killers(&out)
	r.survivors(&out)
	r.all(&out)
	return out.String()
}

// source returns the flag that says where the mutations are from.
func (r *report) source() string {
	if r.keys != "" {
		return "-keys " + r.keys
	}
	return fmt.Sprintf("-n %d", r.n)
}

func only(numbers string) string {
	if numbers == "" {
		return ""
	}
	return " -only " + numbers
}

func share(n, of int) string {
	return fmt.Sprintf("%d of %d, %.0f %%", n, of, 100*float64(n)/float64(max(1, of)))
}

// killers writes how many mutants each package killed, those with most first.
func (r *report) killers(out *strings.Builder) {
	count := map[string]int{}
	for _, t := range r.trials {
		if t.verdict.outcome == bySuite {
			name, _, _ := strings.Cut(t.verdict.detail, " ")
			count[name]++
		}
	}
	out.WriteString("\n| first package to fail | mutants |\n|---|---|\n")
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(out, "| %s | %d |\n", name, count[name])
	}
}

// survivors writes how the source of survivors differs, with the keys for equivalent.txt.
func (r *report) survivors(out *strings.Builder) {
	for _, t := range r.trials {
		if r.outcome(t) == survived {
			m := t.mutation
			fmt.Fprintf(out, "\nSurvivor %d, %s:%d:\n\n```diff\n-%s\n+%s\n```\n\n```\n%s\n```\n", t.number, m.File, m.Line, m.Before, m.After, m.Key())
		}
	}
}

// all writes a row for each trial.
func (r *report) all(out *strings.Builder) {
	out.WriteString("\n| | place | rule | outcome | s |\n|---|---|---|---|---|\n")
	for _, t := range r.trials {
		what := t.verdict.String()
		if r.outcome(t) == unfinished {
			what = fmt.Sprintf("unfinished: survived %d of %d steps", t.steps, r.steps)
		}
		if t.equivalent != "" {
			what += ": " + t.equivalent
		}
		m := t.mutation
		fmt.Fprintf(out, "| %d | %s:%d | %s | %s | %.0f |\n", t.number, strings.TrimPrefix(m.File, "internal/"), m.Line, m.Rule, strings.ReplaceAll(what, "|", "\\|"), t.seconds)
	}
}
