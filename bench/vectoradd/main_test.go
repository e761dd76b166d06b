package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	want := regexp.MustCompile(`^add 10000: \d+\.\d{4} ms \d+ GB/s, checked, .+\n$`)
	for _, device := range []string{"", "interp"} {
		t.Setenv("GOPHERWARP_DEVICE", device)
		var out strings.Builder
		if err := run(&out, 10_000); err != nil {
			t.Fatal(err)
		}
		if !want.MatchString(out.String()) {
			t.Errorf("run wrote %q", out.String())
		}
	}
}
