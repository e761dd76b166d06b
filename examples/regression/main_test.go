package main

import (
	"strings"
	"testing"
)

// TestRun compares the line with that of least squares: the sums of x, y, x*x and x*y are 3, 0, 19 and 35.7.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "y = 2.040 x -1.020\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
