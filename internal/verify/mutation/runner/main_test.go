package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

func TestChoose(t *testing.T) {
	for text, want := range map[string]map[int]bool{
		"":      {1: true, 2: true, 3: true, 4: true},
		"2":     {2: true},
		"1,3-4": {1: true, 3: true, 4: true},
	} {
		if got, err := choose(text, 4); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "5", "3-2", "x", "1,"} {
		if _, err := choose(text, 4); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestSteps(t *testing.T) {
	r := &tester{packages: []string{".", "./cmd/x", "./compile", "./compile/internal/load", "./compiler", "./internal/ir", "./internal/pass", "./internal/verify/progen", "./internal/verify/progen/compare"}}
	want := [][]string{
		{"./internal/pass"}, {"./internal/ir"}, {"./compile", "./compile/internal/load"}, nil, {"./cmd/x"}, {".", "./compiler"},
		{"./internal/verify/progen", "./internal/verify/progen/compare"},
	}
	if got := r.steps("./internal/pass"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		output string
		want   verdict
	}{
		{"ok  \tp\t0.1s\n?   \tq\t[no test files]", verdict{outcome: survived}},
		{"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0s)\nFAIL\nFAIL\tgithub.com/gopherwarp/gopherwarp/compile\t0.2s\nFAIL", verdict{bySuite, "compile TestA"}},
		{"panic: test timed out after 1m0s\nFAIL\tp\t60s", verdict{bySuite, "p time limit"}},
		{"--- FAIL: TestA (0.1s)\npanic: index out of range\nFAIL\tp\t0.2s", verdict{bySuite, "p TestA"}},
		{"FAIL\tp [build failed]", verdict{failed, "FAIL\tp [build failed]"}},
	} {
		v := verdict{outcome: survived}
		for line := range strings.Lines(test.output) {
			v = v.line(strings.TrimSuffix(line, "\n"))
		}
		if v != test.want {
			t.Errorf("%q: %v", test.output, v)
		}
	}
}

func TestJudge(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report")
	text := "native seed 1 kernels 0 to 2: 0 faulted, 2 twins, 0 on a GPU, 1 differ, 1.0 s\nDIFFERS native seed 1 kernel 1: 9.0: wrong: go test ./x\n"
	if err := os.WriteFile(report, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	other := errors.New("exit status 2")
	for _, test := range []struct {
		report string
		err    error
		want   verdict
	}{
		{report, other, verdict{byKernels, "native seed 1 kernel 1: 9.0: wrong"}},
		{report + "0", nil, verdict{outcome: survived}},
		{report + "0", context.DeadlineExceeded, verdict{byKernels, timeLimit}},
		{report + "0", other, verdict{failed, "exit status 2"}},
	} {
		if v := judge(test.report, test.err); v != test.want {
			t.Errorf("got %v, want %v", v, test.want)
		}
	}
}

func TestReport(t *testing.T) {
	m := &mutation.Mutation{File: "internal/pass/fold.go", Line: 7, Func: "fold", Rule: "jump", Before: "return", After: ""}
	r := &report{options: options{n: 5, seed: 2, kernels: 100}, commit: "abc", steps: 8, enumerated: 50, rejected: 1, trials: []trial{
		{number: 1, mutation: m, verdict: verdict{bySuite, "internal/pass TestGolden"}, seconds: 3},
		{number: 2, mutation: m, verdict: verdict{byKernels, "kernel k7: a|b"}},
		{number: 3, mutation: m, verdict: verdict{outcome: survived}, steps: 8},
		newTrial(4, m, "only speed"),
		{number: 5, mutation: m, verdict: verdict{outcome: survived}, steps: 3},
	}}
	got := r.String()
	for _, want := range []string{
		"runner -n 5 -seed 2 -kernels 100` at abc, ",
		"| run | 3 |\n| killed by `go test ./...` | 1 of 3, 33 % |\n| killed with 100 random kernels, too | 2 of 3, 67 % |\n| survived | 1 |\n| not judged | 1 |\n",
		"| internal/pass | 1 |\n",
		"Survivor 3, internal/pass/fold.go:7:\n\n```diff\n-return\n+\n```\n",
		"| 2 | pass/fold.go:7 | jump | killed by random kernels: kernel k7: a\\|b | 0 |\n",
		"| 5 | pass/fold.go:7 | jump | unfinished: survived 3 of 8 steps | 0 |\n",
		"| 4 | pass/fold.go:7 | jump | equivalent: only speed | 0 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
