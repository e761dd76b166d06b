package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	r := &report.Report{}
	if err := run(t.Context(), &out, r, options{1, []string{"github.com/gopherwarp/gopherwarp/examples/multiply"}}); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^\d+ processors, .*\n1 kernels, nothing kept: +\d+\.\d+ s\nnothing changed: +\d+\.\d+ s\none kernel from IR to PTX: +\d+\.\d+ ms .* [01] of 1 in 5 ms, .* for multiply\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("run wrote\n%s", out.String())
	}
	for _, name := range []string{report.CompileCold, report.CompileUnchanged, report.CompileKernel} {
		if c := r.Case(name); c == nil || c.By(report.Ours) == nil {
			t.Errorf("the report lacks %s", name)
		}
	}
}
