package main

import (
	"strings"
	"testing"
)

// TestRun measures on whatever device there is.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var w strings.Builder
	if err := run(t.Context(), &w, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"launch, 0 arguments: ", "launch, 16 arguments: ", "graph of 100 kernels: ", "call, Go: "} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("%q lacks %q", w.String(), want)
		}
	}
}
