package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, 1, []string{"github.com/gopherwarp/gopherwarp/examples/multiply"}); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^\d+ processors, .*\n1 kernels, nothing kept: +\d+\.\d+ s\nnothing changed: +\d+\.\d+ s\none kernel from IR to PTX: +\d+\.\d+ ms .* 1 of 1 in 5 ms, .* for multiply\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("run wrote\n%s", out.String())
	}
}
