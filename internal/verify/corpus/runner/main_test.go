package main

import (
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/verify/corpus"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// TestSample compiles and runs a small sample of the standard library and, where this installation of Go has them, of its
// tests.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	o := corpus.Options{Patterns: []string{"math/bits", "internal/strconv", "unicode/utf8", "hash/adler32", "internal/byteorder", "slices", "cmp", "encoding/binary"}}
	if corpus.HasTests(t.Context()) {
		o.Tests = []string{"ken"}
	}
	library, err := corpus.Load(t.Context(), "../../../..", o)
	if err != nil {
		t.Fatal(err)
	}
	list := library.Sample(30, 5).Kernels
	outcomes, err := kernels(t.Context(), order{Root: "../../../..", Imports: corpus.Imports(list), Kernels: list})
	if err != nil {
		t.Fatal(err)
	}
	count := map[kind]int{}
	for i, o := range outcomes {
		if count[o.Kind]++; o.Kind == wrong {
			t.Errorf("%s: %v", list[i].From, o)
		}
	}
	t.Log(count)
	if count[right] < 10 || count[refused] < 3 {
		t.Errorf("%d kernels are right and %d refused", count[right], count[refused])
	}
}

func TestJudged(t *testing.T) {
	at := token.Position{Filename: "/tmp/x/k1_.go", Line: 3, Column: 1}
	good := diag.New(at, diag.LangMap, "cannot use a map")
	for _, test := range []struct {
		verdict compare.Verdict
		want    string
	}{
		{compare.Verdict{}, "right []"},
		{compare.Verdict{Failure: "internal error"}, "wrong [] internal error"},
		{compare.Verdict{Diagnostics: diag.List{good, diag.New(at, diag.LangGo, "cannot use go")}}, "refused [GW0100 GW0102] k1_.go:3:1: cannot use a map (GW0100)"},
		{compare.Verdict{Diagnostics: diag.List{good, diag.New(token.Position{}, diag.LangGo, "cannot use go")}}, "wrong [] undocumented refusal: cannot use go (GW0102)"},
		{compare.Verdict{Diagnostics: diag.List{diag.New(at, diag.GoError, "undefined: x")}}, "wrong [] undocumented refusal: /tmp/x/k1_.go:3:1: undefined: x (GW0001)"},
		{compare.Verdict{Diagnostics: diag.List{diag.New(at, 199, "no")}}, "wrong [] undocumented refusal: /tmp/x/k1_.go:3:1: no (GW0199)"},
	} {
		if got := judged(test.verdict).String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestCompared(t *testing.T) {
	for _, test := range []struct {
		result trial.Result
		how    string
		want   outcome
	}{
		{trial.Result{}, "", outcome{Kind: right}},
		{trial.Result{Fault: "fault"}, "", outcome{Kind: right, Faulted: true}},
		{trial.Result{}, "twin: differs", outcome{Kind: wrong, Detail: "twin: differs"}},
		{trial.Result{Endless: true}, "", outcome{Kind: endless}},
	} {
		got := outcome{Kind: right}
		if got.compared(test.result, test.how); got.String() != test.want.String() || got.Faulted != test.want.Faulted {
			t.Errorf("%v, want %v", got, test.want)
		}
	}
}

// TestReport writes a report of results of which a part comes from a log.
func TestReport(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	options := options{n: 4, seed: 2, log: name}
	sample := corpus.Sample{Candidates: 50, Rejected: 1, Duplicates: 2, Kernels: []corpus.Kernel{
		{From: "test/a.go:f", Number: 0}, {From: "math/bits:Add (imported)", Number: 1}, {From: "strconv:x", Number: 3}, {From: "strconv:y", Number: 4},
	}}
	first := &report{options: options, commit: "abc", sample: sample}
	if err := first.resume(); err != nil {
		t.Fatal(err)
	}
	if err := first.add([]outcome{{Number: 0, Kind: refused, Codes: []string{"GW0104", "GW0100", "GW0100"}}, {Number: 1, Kind: right, Faulted: true}}); err != nil {
		t.Fatal(err)
	}
	first.log.WriteString(`{"Commit":"abc","Se`) // where it was interrupted
	first.log.Close()
	r := &report{options: options, commit: "abc", sample: sample}
	if err := r.resume(); err != nil || len(r.outcomes) != 2 {
		t.Fatalf("%d results, %v", len(r.outcomes), err)
	}
	defer r.log.Close()
	r.log.WriteString("\n")
	if err := r.add([]outcome{{Number: 3, Kind: wrong, Detail: "a|b\nc"}, {Number: 4, Kind: endless}}); err != nil {
		t.Fatal(err)
	}
	got := r.String()
	for _, want := range []string{
		"runner -n 4 -seed 2` at abc, ", "Of 50 candidates, 7 were drawn: 1 need a declaration that cannot be copied, 2 equal an earlier one, 4 became kernels.",
		"| GOROOT/test | 0 | 1 | 0 | 0 | 0 |\n| all | 1 | 1 | 1 | 0 | 1 |\n| standard library, copied | 0 | 0 | 1 | 0 | 1 |\n| standard library, imported | 1 | 0 | 0 | 0 | 0 |\n",
		"1 fault in some thread", "| GW0100 | 1 | 0 | a kernel cannot use maps |\n| GW0104 | 1 | 1 |", "| strconv:x | `-only 3` | a\\|b |\n", "| strconv:y | `-only 4` |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	other := &report{options: options, commit: "def", sample: sample}
	if err := other.resume(); err != nil || len(other.outcomes) != 0 {
		t.Errorf("%d results of another commit, %v", len(other.outcomes), err)
	}
	other.log.Close()
	if text, err := os.ReadFile(name); err != nil || strings.Count(string(text), "\n") != 5 {
		t.Errorf("%v, log:\n%s", err, text)
	}
}
