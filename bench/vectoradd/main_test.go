package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 10_000); err != nil {
		t.Fatal(err)
	}
	if ok := regexp.MustCompile(`^add 10000: \d+\.\d{4} ms \d+ GB/s, checked, .+\n$`).MatchString(out.String()); !ok {
		t.Errorf("run wrote %q", out.String())
	}
}
